#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "tests/runtime/backend/ops/check_case.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

/// The CPU with each instruction set that this machine has, on three threads; with the widest on one thread, too.
class CpuBackends {
public:
    explicit CpuBackends(Products products) : device_(make_cpu_device()) {
        for (const VectorOps* vector : usable_vector_ops()) {
            for (int n_threads = vector == &best_vector_ops() ? 1 : 3; n_threads <= 3; n_threads += 2) {
                BackendOptions options;
                options.n_threads = n_threads;
                options.products = products;
                options.name = std::string(vector->name) + " on " + std::to_string(n_threads) + " threads";
                backends_.push_back(std::make_unique<cpu::CpuBackend>(*device_, options, *vector));
            }
        }
    }

    /// The CPU is the last backend: what it refuses can't be run at all, so no case may be refused.
    void check(const OpCase& c, const Tolerances& tolerances) {
        PreparedCase prepared(c);
        for (const auto& backend : backends_) {
            const Outcome outcome = check_case(*backend, prepared, tolerances);
            EXPECT_EQ(outcome.verdict, Verdict::right)
                << op_name(c.op) << " " << c.name << ", " << backend->name() << ": " << outcome.why;
        }
    }

private:
    std::unique_ptr<Device> device_;
    std::vector<std::unique_ptr<Backend>> backends_;
};

class CpuOps : public ::testing::TestWithParam<Op> {};

TEST_P(CpuOps, AgreeWithTheReference) {
    CpuBackends cpu(Products::floats);
    for (const OpCase& c : op_cases(GetParam())) {
        // Weights are multiplied as they are: blocks cost no precision beyond their own.
        cpu.check(c, {1e-7, 1e-5, 1e-7});
    }
}

class CpuProducts : public ::testing::TestWithParam<Op> {};

TEST_P(CpuProducts, InWholeNumbersAgreeWithTheReference) {
    CpuBackends cpu(Products::int8);
    for (const OpCase& c : op_cases(GetParam())) {
        Graph graph;
        Leafs leafs(graph);
        // The terms of a sum may cancel, their errors don't: only of many results is the mean error a measure. What single sums
        // are is said exactly in block_ops_test.cpp.
        if (n_elements(*c.build(graph, leafs)) >= 32) {
            cpu.check(c, {1e-7, 1e-5, 5e-4});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CpuProducts, ::testing::Values(Op::MUL_MAT, Op::MUL_MAT_ID),
                         [](const auto& info) { return std::string(op_name(info.param)); });

INSTANTIATE_TEST_SUITE_P(All, CpuOps, ::testing::ValuesIn(ops_with_cases()),
                         [](const auto& info) { return std::string(op_name(info.param)); });

} // namespace
} // namespace schedscope::test
