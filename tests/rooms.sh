#!/bin/sh
# rooms.sh SOURCE BUILD: fails if an object of the product was compiled from a room that rooms.txt does not let it include from,
# as the compiler itself noted, or if a folder has more entries than one looks through.
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
for room in runtime shaders traces viz inspector tests bench; do
    find "$source/$room" -type d | while read -r folder; do
        n=$(find "$folder" -mindepth 1 -maxdepth 1 | wc -l)
        [ "$n" -le 32 ] || echo "$folder has $n entries"
    done
done | if grep .; then exit 1; fi
ninja -C "$build" -t deps | awk -v source="$source" -v build="$build" -v rooms="$(dirname "$0")/rooms.txt" '
function room_of(path, r) { # the longest that it lies in; "" outside of all
    for (r = path; sub(/\/[^\/]*$/, "", r);) {
        if (r in uses) return r
    }
    return ""
}
function allow(from, room, n, i, parts) {
    if ((from, room) in allowed) return
    allowed[from, room] = 1
    n = split(uses[room], parts, " ")
    for (i = 1; i <= n; i++) allow(from, parts[i])
}
BEGIN {
    while ((getline line < rooms) > 0) {
        if (line ~ /^#/) continue
        split(line, half, ":")
        uses[half[1]] = half[2]
    }
    for (room in uses) { allow(room, room); allow(room, "runtime/system") }
}
/^[^ ]/ { of = "" }
/^ / {
    path = $1
    if (path !~ /^\//) path = build "/" path
    while (sub(/\/[^\/]+\/\.\.\//, "/", path)) {}
    if (substr(path, 1, length(source) + 1) != source "/") next
    path = substr(path, length(source) + 2)
    if (path ~ /\/Unity\/unity_/) next # a group of sources of one folder: the first of them stands for all
    room = room_of(path)
    if (of == "") {
        of = path
        room_of_object = room
        n_objects += room != ""
    } else if (room_of_object != "" && room != "" && !((room_of_object, room) in allowed) && !((of, path) in told)) {
        told[of, path] = 1
        print of " includes " path ", directly or through others"
        failed = 1
    }
}
END {
    if (n_objects < 60) { print "only " n_objects + 0 " objects of the product were found"; failed = 1 }
    exit failed
}'
