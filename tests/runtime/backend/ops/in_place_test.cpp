// Plans let a node take over the place of a source that nothing else reads: its kernel then reads and writes the same memory.

#include "runtime/backend/cpu/cpu_device.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/vulkan_devices.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

/// An operator, and how many of its sources it may take over (memory_layout.cpp).
struct InPlace {
    Op op;
    size_t n_sources;
};
constexpr InPlace operators[] = {
    {Op::FILL, 1}, {Op::SCALE, 1}, {Op::ADD, 2}, {Op::ADD_ID, 1}, {Op::SUB, 2},      {Op::MUL, 2},      {Op::DIV, 2},
    {Op::SQR, 1},  {Op::SQRT, 1},  {Op::LOG, 1}, {Op::UNARY, 1},  {Op::RMS_NORM, 1}, {Op::SOFT_MAX, 2}, {Op::ROPE, 1},
};

/// How many cases were run.
int run_in_place(Backend& backend, const InPlace& o) {
    int n = 0;
    for (const OpCase& c : op_cases(o.op)) {
        for (size_t source = 0; source < o.n_sources; ++source) {
            PreparedCase prepared(c);
            if (!prepared.run_in_place_of(source)) {
                continue;
            }
            const Outcome outcome = check_case(backend, prepared);
            EXPECT_NE(outcome.verdict, Verdict::wrong)
                << op_name(c.op) << " " << c.name << " in place of source " << source << ": " << outcome.why;
            n += outcome.verdict == Verdict::right ? 1 : 0;
        }
    }
    return n;
}

class InPlaceOf : public ::testing::TestWithParam<InPlace> {};

TEST_P(InPlaceOf, TheSourceOnTheCpu) {
    const auto device = make_cpu_device();
    const auto backend = device->make_backend({3, true, {}});
    EXPECT_GT(run_in_place(*backend, GetParam()), 0);
}

class InPlaceOnVulkan : public OnVulkan<::testing::TestWithParam<InPlace>> {};

TEST_P(InPlaceOnVulkan, TheSource) {
    const auto backend = device().make_backend({});
    EXPECT_GT(run_in_place(*backend, GetParam()), 0);
}

const auto name = [](const auto& info) { return std::string(op_name(info.param.op)); };
INSTANTIATE_TEST_SUITE_P(All, InPlaceOf, ::testing::ValuesIn(operators), name);
INSTANTIATE_TEST_SUITE_P(All, InPlaceOnVulkan, ::testing::ValuesIn(operators), name);

} // namespace
} // namespace schedscope::test
