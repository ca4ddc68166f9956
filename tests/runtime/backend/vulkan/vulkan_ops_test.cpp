#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/sample.h"
#include "tests/support/vulkan_devices.h"

#include <algorithm>
#include <set>

namespace schedscope::test {
namespace {

class VulkanOps : public OnVulkan<::testing::TestWithParam<Op>> {};

TEST_P(VulkanOps, AgreeWithTheReference) {
    for (const bool like_hardware : {false, true}) {
        const std::unique_ptr<Backend> backend = vulkan_devices(like_hardware).front()->make_backend({});
        Sample sample;
        for (const OpCase& c : op_cases(GetParam())) {
            if (!sample.takes()) {
                continue;
            }
            const Outcome outcome = check_case(*backend, c);
            EXPECT_NE(outcome.verdict, Verdict::wrong)
                << op_name(c.op) << " " << c.name << (like_hardware ? ", as on hardware: " : ": ") << outcome.why;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, VulkanOps, ::testing::ValuesIn(ops_with_cases()),
                         [](const auto& info) { return std::string(op_name(info.param)); });

class VulkanSupport : public OnVulkan<::testing::Test> {};

// A refusal is no error, so a device that refused everything would pass the test above.
TEST_F(VulkanSupport, EveryOperatorOfATransformerRunsInF32) {
    const std::unique_ptr<Backend> backend = device().make_backend({});
    std::set<Op> run;
    for (const OpCase& c : op_cases()) {
        if (!run.contains(c.op) && check_case(*backend, c).verdict == Verdict::right) {
            run.insert(c.op);
        }
    }
    for (const Op op : ops_with_cases()) {
        EXPECT_TRUE(run.contains(op)) << op_name(op);
    }
}

} // namespace
} // namespace schedscope::test
