#!/bin/sh
# aarch64.sh SOURCES: makes the library and what joins a process for aarch64, where a compiler for it is installed; else exits with
# 77, which is a test that was skipped.
set -eu
cd "$1"
compiler=aarch64-linux-gnu-g++
command -v $compiler >/dev/null || { echo "no $compiler is here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
options="-std=c++20 -Wall -Wextra -Werror -I."
# As traces/attach/CMakeLists.txt makes it.
for file in traces/attach/*.cpp traces/attach/joining/*.cpp; do
    $compiler $options -O2 -fPIC -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-math-errno -fvisibility=hidden \
        -ftls-model=initial-exec -fno-stack-protector -c "$file" -o "$folder/$(basename "$file").o"
done
aarch64-linux-gnu-gcc -shared -o "$folder/library.so" "$folder"/*.o -Wl,--no-undefined -Wl,-z,nodelete -Wl,-Bsymbolic \
    -Wl,--no-as-needed -l:libdl.so.2
for file in other_process safe_place stopped_thread join_process why_not_joined; do
    $compiler $options -fsyntax-only "inspector/cli/attach/joining/$file.cpp"
done
# The stub's bytes are these instructions.
printf 'blr x16\nmov x19, x0\nmov x8, #178\nsvc #0\n' | aarch64-linux-gnu-as -o "$folder/stub.o" -
aarch64-linux-gnu-objcopy -O binary -j .text "$folder/stub.o" "$folder/stub"
bytes=$(od -An -v -tu1 "$folder/stub" | tr -s ' \n' ',' | sed 's/^,//; s/,$//')
cat >"$folder/stub.cpp" <<END
#include "inspector/cli/attach/joining/registers.h"
constexpr unsigned char assembled[] = {$bytes};
constexpr bool same() {
    for (std::size_t i = 0; i < sizeof assembled; ++i) {
        if (schedscope::machine::stub[i] != std::byte{assembled[i]}) {
            return false;
        }
    }
    return schedscope::machine::stub.size() == sizeof assembled;
}
static_assert(same());
END
$compiler $options -fsyntax-only "$folder/stub.cpp"
