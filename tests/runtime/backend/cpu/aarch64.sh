#!/bin/sh
# aarch64.sh SOURCES [OPTION…]: compiles the CPU backend's inner loops for aarch64 and runs their tests in an emulator: each
# instruction set on a processor that has none of the later ones. The options are the compiler's, e.g. -O3, which takes minutes; without
# them nothing is optimised, so that the tools take longer than the tests. Exits with 77, which is a test that was skipped, where
# a tool is missing.
set -eu
cd "$1"
shift
compiler=aarch64-linux-gnu-g++
googletest=/usr/src/googletest/googletest
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || { echo "no qemu-aarch64 is here"; exit 77; }
command -v $compiler >/dev/null || { echo "no $compiler is here"; exit 77; }
[ -d $googletest ] || { echo "no $googletest is here"; exit 77; }
launcher=$(command -v ccache || true)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

room=runtime/backend/cpu
common="$launcher $compiler -std=c++20 -I. -Wall -Wextra -Werror -ffunction-sections $*"
foreign="$launcher $compiler -std=c++20 -I$googletest -I$googletest/include $*"
# The instruction sets and what each is compiled with, as CMake knows them.
sed -n 's/^ *vector_ops(\(portable\|neon[a-z0-9_]*\)\(.*\))$/\1 \2/p' $room/CMakeLists.txt >"$folder/sets"
{
    while read -r isa flags; do
        for file in vector_ops_isa block_ops_isa; do
            echo "$common -Wno-psabi -Wno-maybe-uninitialized -ffp-contract=fast -fno-math-errno -fno-trapping-math" \
                "-DSCHEDSCOPE_ISA=$isa $flags -c $room/vectors/$file.cpp -o $folder/$isa.$file.o"
        done
    done <"$folder/sets"
    # What has sections for this machine, and what the tests need: types and their blocks.
    for file in $(grep -rl --include='*.cpp' __aarch64__ runtime) runtime/ops/type.cpp \
        $(ls runtime/tensor/*.cpp | grep -v /ops_); do
        echo "$common -c $file -o $folder/$(basename "$file").o"
    done
    for file in tests/$room/vector_ops_test.cpp tests/$room/block_ops_test.cpp tests/runtime/backend/ops/op_cases.cpp; do
        echo "$common -c $file -o $folder/$(basename "$file").o"
    done
    for file in gtest-all gtest_main; do
        echo "$foreign -c $googletest/src/$file.cc -o $folder/$file.o"
    done
} | xargs -P 2 -I '{}' sh -c '{}'
sh tests/runtime/backend/no_shared_code.sh aarch64-linux-gnu-nm "$folder"/*_isa.o
# Of some of these files a little is needed, and what that leads to: the sections that nothing leads to are left out.
$compiler -static -Wl,--gc-sections "$folder"/*.o -o "$folder/tests"

# on PROCESSOR FILTER SETS…: it can run exactly these sets, and the tests are right.
on() {
    processor=$1 filter=$2
    shift 2
    found=$("$emulator" -cpu "$processor" "$folder/tests" --gtest_list_tests | sed -n 's,^  DotProducts/\([a-z0-9_]*\).*,\1,p' |
        tr '\n' ' ')
    [ "$found" = "$* " ] || { echo "$processor can run $*, but chosen from were $found"; exit 1; }
    "$emulator" -cpu "$processor" "$folder/tests" --gtest_brief=1 --gtest_filter="$filter"
}
on cortex-a72 '*' portable neon
on cortex-a76 '*/neon_dot' portable neon neon_dot
on max '*/neon_i8mm' portable neon neon_dot neon_i8mm
