#!/bin/sh
# lives.sh BUILD [RUNS [MOMENTS [SEED]]]: what ctest does in short with programs on ggml, at length. 200 greedy steps in RUNS runs
# (10) each way: recorded and stepped through, from the start and joined. Then each of them, and schedscope, killed at MOMENTS (20)
# moments by the SEED (of the clock; it is printed). BUILD: the folder of the build. Prints a table; exit code 1: something differs.
set -u
tests=${1:?the folder of the build}/bin/tests_inspector_cli_attach_programs
seed=${4:-$(date +%s)}
echo "seed $seed"
SCHEDSCOPE_RUNS=${2:-10} SCHEDSCOPE_STEPS=200 SCHEDSCOPE_MOMENTS=${3:-20} SCHEDSCOPE_SEED=$seed \
    "$tests" --gtest_filter='*GreedyTokens*:*KilledAtAnyMoment*' --gtest_brief=0 |
    awk '
        /^\[ RUN / { name = $NF; sub(".*/", "", name) }
        /^    / { print substr($0, 5) " (" name ")"; next }
        /Failure|FAILED/ { bad = 1 }
        /^\[ +OK/ { print name ": done, " $(NF - 1) " ms"; n++ }
        !/^\[|^Note: |^$/ || /FAILED|SKIPPED/ { print } # what is wrong
        END { print n " ways without a difference"; exit bad || n == 0 }'
