#include "tests/support/random/check_runs.h"

TEST(RandomRuns, GiveWhatOneCpuGivesByTheThousand) { schedscope::test::check_runs(1000, 5000); }
