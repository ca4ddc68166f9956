#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "tests/runtime/backend/ops/check_case.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

/// The CPU with each instruction set that this machine has, on one thread and on three.
class CpuBackends {
public:
    CpuBackends() : device_(make_cpu_device()) {
        for (const VectorOps* vector : usable_vector_ops()) {
            for (const int n_threads : {1, 3}) {
                BackendOptions options;
                options.n_threads = n_threads;
                options.name = std::string(vector->name) + " on " + std::to_string(n_threads) + " threads";
                backends_.push_back(std::make_unique<cpu::CpuBackend>(*device_, options, *vector));
            }
        }
    }
    const std::vector<std::unique_ptr<Backend>>& all() const noexcept { return backends_; }

private:
    std::unique_ptr<Device> device_;
    std::vector<std::unique_ptr<Backend>> backends_;
};

class CpuOps : public ::testing::TestWithParam<Op> {};

// The CPU is the last backend: what it refuses can't be run at all, so no case may be refused.
TEST_P(CpuOps, AgreeWithTheReference) {
    const CpuBackends cpu;
    for (const OpCase& c : op_cases(GetParam())) {
        PreparedCase prepared(c);
        for (const auto& backend : cpu.all()) {
            // Weights are multiplied as they are: blocks cost no precision beyond their own.
            const Outcome outcome = check_case(*backend, prepared, {1e-7, 1e-5, 1e-7});
            EXPECT_EQ(outcome.verdict, Verdict::right)
                << op_name(c.op) << " " << c.name << ", " << backend->name() << ": " << outcome.why;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CpuOps, ::testing::ValuesIn(ops_with_cases()),
                         [](const auto& info) { return std::string(op_name(info.param)); });

} // namespace
} // namespace schedscope::test
