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
says() { # WHAT in what the command says, where lines are filled
    printf '%s' "$2" | tr -s '\n ' '  ' | grep -qF -- "$1" || { echo "no '$1' in: $2"; exit 1; }
}
help=$("$prefix/bin/schedscope" help)
says "$prefix/share/schedscope/samples" "$help"
says "man -M $prefix/share/man schedscope" "$help"
for name in traces/samples/partial-offload.trace partial-offload.trace partial-offload; do
    code=0
    said=$(cd "$prefix" && bin/schedscope show "$name" 2>&1) || code=$?
    [ "$code" = 3 ] || { echo "$name: exit code $code"; exit 1; }
    says "there is no such file; the sample of that name is $prefix/share/schedscope/samples/partial-offload.trace" "$said"
done
said=$(cd "$prefix" && bin/schedscope show other/partial-offload.trace 2>&1) || true
says "other/partial-offload.trace: there is no such file" "$said"
case $said in *sample*) echo "a sample for a file of another folder: $said"; exit 1 ;; esac
