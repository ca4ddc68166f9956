// Random graphs planned for random machines: what must hold for any plan. The long set is in full/.
#include "tests/support/random/check_plans.h"

TEST(RandomPlans, KeepEveryInvariant) { schedscope::test::check_plans(0, 500); }
