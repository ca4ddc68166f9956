// Plans let a node take over the place of a source that nothing else reads: its kernel then reads and writes the same memory.

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/sample.h"
#include "tests/support/vulkan_devices.h"

#include <gtest/gtest.h>
#include <optional>

namespace schedscope::test {
namespace {

/// Those that may take over a source (catalogue.def) and that nodes are built of: an operator without a rule of shape is known by
/// name alone, and CLAMP is built as a view of its source, which has that memory in any case (newer graphs of ggml have it bare).
std::vector<Op> operators() {
    std::vector<Op> all;
    for (int i = 0; i < ordinal(Op::count); ++i) {
        const Op op = static_cast<Op>(i);
        if (traits(op).in_place && traits(op).shape != nullptr && op != Op::CLAMP) {
            all.push_back(op);
        }
    }
    return all;
}

/// How many cases were run.
int run_in_place(Backend& backend, Op op) {
    int n = 0;
    Sample sample;
    for (const OpCase& c : op_cases(op)) {
        std::optional<PreparedCase> prepared;
        for (size_t source = 0; source < max_sources; ++source) {
            if (!prepared) {
                prepared.emplace(c);
            }
            if (!prepared->run_in_place_of(source) || !sample.takes()) {
                continue;
            }
            const Outcome outcome = check_case(backend, *prepared);
            prepared.reset();
            EXPECT_NE(outcome.verdict, Verdict::wrong)
                << op_name(c.op) << " " << c.name << " in place of source " << source << ": " << outcome.why;
            n += outcome.verdict == Verdict::right ? 1 : 0;
        }
    }
    return n;
}

class InPlaceOf : public ::testing::TestWithParam<Op> {};

TEST_P(InPlaceOf, TheSourceOnTheCpu) {
    const auto device = make_cpu_device();
    const auto backend = device->make_backend({3, true, {}});
    EXPECT_GT(run_in_place(*backend, GetParam()), 0);
}

class InPlaceOnVulkan : public OnVulkan<::testing::TestWithParam<Op>> {};

TEST_P(InPlaceOnVulkan, TheSource) {
    const auto backend = device().make_backend({});
    EXPECT_GT(run_in_place(*backend, GetParam()), 0);
}

const auto name = [](const auto& info) { return std::string(op_name(info.param)); };
INSTANTIATE_TEST_SUITE_P(All, InPlaceOf, ::testing::ValuesIn(operators()), name);
INSTANTIATE_TEST_SUITE_P(All, InPlaceOnVulkan, ::testing::ValuesIn(operators()), name);

} // namespace
} // namespace schedscope::test
