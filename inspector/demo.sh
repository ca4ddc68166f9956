#!/bin/sh
# Builds schedscope, installing what is missing, and opens the demo in the inspector.
# Without a terminal it prints the report and writes the trace and the pictures to the current folder.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
sh "$root/.ci/install-packages" build
if [ ! -f "$root/build/release/build.ninja" ]; then
    (cd "$root" && cmake --preset release -DSCHEDSCOPE_TESTS=OFF -DSCHEDSCOPE_BENCH=OFF) >&2
fi
cmake --build "$root/build/release" --target schedscope >&2
exec "$root/build/release/bin/schedscope" demo "$@"
