// Random graphs on random machines, really run, against plain execution on one CPU. The long set is in full/.
#include "tests/support/random/check_runs.h"

TEST(RandomRuns, GiveWhatOneCpuGives) { schedscope::test::check_runs(0, 300); }
