#include "tests/support/random/check_plans.h"

TEST(RandomPlans, KeepEveryInvariantByTheThousand) { schedscope::test::check_plans(1000, 9000); }
