#include "tests/runtime/scheduler/random/check_plans.h"

TEST(RandomPlans, KeepEveryInvariantByTheThousand) { schedscope::chance::check_plans(1000, 9000); }
