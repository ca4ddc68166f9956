#!/bin/sh
# no_shared_code.sh NM OBJECT…: fails if an object exports functions or symbols that the linker keeps once for the whole program.
# Code for one instruction set would then run where a processor does not have it.
nm=$1
shift
failed=0
for object in "$@"; do
    # Sanitizers' code reads data that is the same in every object: DW.ref.NAME, a pointer to NAME, and types of functions and
    # their names.
    shared=$("$nm" -C --defined-only "$object" | grep -E ' [TWVuiwv] ' | grep -vE ' V (DW\.ref\.|typeinfo (name )?for )') && {
        echo "$object: $shared"
        failed=1
    }
done
exit $failed
