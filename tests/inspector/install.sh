#!/bin/sh
# install.sh BUILD: installs from a build in which, of what is installed, inspector/demo.sh made its part: the program alone.
set -eu
build=$1
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
rm -rf "$build"/inspector/*.gz "$build"/inspector/man "$build"/inspector/man.made # what only the target `manual` makes
cmake --install "$build" --prefix "$prefix" >"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
for file in bin/schedscope share/man/man1/schedscope.1.gz share/doc/schedscope/changelog.gz share/doc/schedscope/README.md \
    share/schedscope/samples/partial-offload.trace; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
gzip -dc "$prefix/share/man/man1/schedscope.1.gz" | grep -q explain
"$prefix/bin/schedscope" --version
