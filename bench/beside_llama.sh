#!/bin/sh
# What `schedscope bench --against` does not measure: the first token from the start of the process beside llama.cpp's, what a
# busy neighbour takes from decode, and what more threads bring to prompts. On an idle machine.
#   sh bench/beside_llama.sh MODEL.gguf FOLDER [THREADS]
# FOLDER: node-llama-cpp, as tests/support/ggml/fixtures.sh VERSION installs it; THREADS: 2, or fewer where there is one processor.
set -eu
model=$1 folder=$2
here=$(dirname "$0")/..
ours=${SCHEDSCOPE:-$here/build/release/bin/schedscope}
threads=${3:-$(nproc | awk '{print ($1 < 2 ? $1 : 2)}')}
node=$folder/../node/node # fixtures.sh installs it where the system's is too old
[ -x "$node" ] || node=node
ids=$(seq -s, 5 20)

seconds_of() {
    begin=$(date +%s%N)
    "$@" > "$room/said" 2>&1 || {
        echo "failed: $*" >&2
        cat "$room/said" >&2
        exit 1
    }
    echo $((($(date +%s%N) - begin) / 1000000)) | awk '{printf "%.2f\n", $1 / 1000}'
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
# rate FIELD OPTION...: of one test on the CPU
rate() {
    field=$1
    shift
    "$ours" bench --rates -m "$model" --device cpu -r 3 "$@" | sed "s/.*\"${field}_tok_s\":\([0-9.]*\).*/\1/"
}
share() { awk "BEGIN {printf \"%.2f\\n\", $1 / $2}"; }

room=$(mktemp -d)
trap 'rm -rf "$room"; kill "$busy" 2> /dev/null || true' EXIT
busy=
# New pages may come slowly: some virtual machines give those that nobody has used for some seconds back to their host. In one of
# the two rounds each program has just run before, and the system has its pages at hand.
first_tokens() {
    rm -f "$room/ours" "$room/theirs"
    for _ in 1 2 3 4 5; do
        $1 first_of_ours >> "$room/ours"
        $1 first_of_theirs >> "$room/theirs"
    done
    echo "first token, $2: after $(median "$room/ours") s, llama.cpp's after $(median "$room/theirs") s:" \
        "$(share "$(median "$room/ours")" "$(median "$room/theirs")") of it (medians of 5, $threads threads)"
}
first_of_ours() {
    seconds_of "$ours" run -m "$model" --device cpu -t "$threads" --tokens "$ids" -n 1 -c 256 --temp 0
}
first_of_theirs() {
    seconds_of "$node" "$here/tests/support/ggml/drive.mjs" "$folder" "$model" --flash --tokens 1 --threads "$threads" \
        --prompt "$ids"
}
as_it_comes() { "$1"; }
run_before() {
    "$1" > /dev/null
    "$1"
}
cat "$model" > /dev/null
first_tokens as_it_comes "in turns"
first_tokens run_before "each right after a run of its own"

# Pairs, so that what else happens to the machine's speed meets both.
for _ in 1 2 3; do
    idle=$(rate decode -t "$threads" -p 0 -n 64)
    sh -c 'while :; do :; done' &
    busy=$!
    beside=$(rate decode -t "$threads" -p 0 -n 64)
    kill "$busy"
    busy=
    share "$beside" "$idle" >> "$room/beside"
    one=$(rate prefill -t 1 -p 512 -n 0)
    all=$(rate prefill -t "$threads" -p 512 -n 0)
    share "$all" "$one" >> "$room/all"
done
echo "decode on $threads threads beside a busy process: $(median "$room/beside") of what it is alone (median of 3)"
echo "prompts of 512 tokens on $threads threads: $(median "$room/all") times as fast as on one (median of 3)"
