#!/bin/sh
# no_shared_code.sh NM OBJECT…: fails if an object exports functions or symbols that the linker keeps once for the whole program. Code for one instruction set
# would then run where a processor does not have it.
nm=$1
shift
failed=0
for object in "$@"; do
    # DW.ref.NAME is a pointer to NAME that sanitizers' code reads, the same in every object.
    shared=$("$nm" -C --defined-only "$object" | grep -E ' [TWVuiwv] ' | grep -v ' V DW\.ref\.') && {
        echo "$object: $shared"
        failed=1
    }
done
exit $failed
