#!/bin/sh
# Builds everything, installing what is missing, and runs all tests. Arguments go to ctest.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
sh "$root/.ci/install-packages" test
cd "$root"
sh tests/support/ggml/fixtures.sh 3.1.1 3.14.2 3.22.1 # of all: sh tests/support/ggml/fixtures.sh
cmake --preset release -DSCHEDSCOPE_TESTS=ON -DSCHEDSCOPE_BENCH=ON
cmake --build build/release
# One more than there are processors: many tests wait for a program or a browser.
exec ctest --test-dir build/release --output-on-failure -j $(($(nproc) + 1)) "$@"
