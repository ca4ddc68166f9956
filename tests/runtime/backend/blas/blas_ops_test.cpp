#include "runtime/backend/blas/blas_device.h"
#include "runtime/backend/blas/blas_library.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/check_case.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <set>

namespace schedscope::test {
namespace {

class BlasOps : public ::testing::Test {
protected:
    void SetUp() override {
        device_ = make_blas_device(missing_);
        if (device_ == nullptr) {
            GTEST_SKIP() << missing_;
        }
        backend_ = device_->make_backend({2, true, {}});
    }
    std::string missing_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Backend> backend_;
};

TEST_F(BlasOps, AgreeWithTheReferenceWhereTheyAreTaken) {
    std::set<Type> taken;
    for (const OpCase& c : op_cases(Op::MUL_MAT)) {
        PreparedCase prepared(c);
        const Outcome outcome = check_case(*backend_, prepared, {1e-7, 1e-5, 1e-7});
        EXPECT_NE(outcome.verdict, Verdict::wrong) << c.name << ": " << outcome.why;
        if (outcome.verdict == Verdict::right) {
            taken.insert(prepared.graph().nodes().back()->src[0]->type);
        }
    }
    EXPECT_EQ(taken, std::set<Type>(expandable_types().begin(), expandable_types().end()));
}

TEST_F(BlasOps, TakeProductsOnly) {
    for (const Op op : ops_with_cases()) {
        for (const OpCase& c : op_cases(op)) {
            Graph g;
            Leafs leafs(g);
            const Tensor* node = c.build(g, leafs);
            while (is_view_op(node->op)) {
                node = node->src[0];
            }
            const Answer answer = device_->supports_op(*node);
            if (node->op != Op::MUL_MAT) {
                EXPECT_FALSE(answer.yes) << op_name(node->op);
                EXPECT_EQ(answer.reason, Refusal::op);
            }
            break; // the operator decides
        }
    }
}

TEST_F(BlasOps, RefuseWhatTheCpuDoesAsFast) {
    Graph g;
    const auto answer = [&](int64_t m, int64_t n, int64_t k) {
        return device_->supports_op(*ops::mul_mat(g, g.input(Type::F32, {k, m, 1, 1}), g.input(Type::F32, {k, n, 1, 1})));
    };
    EXPECT_TRUE(answer(32, 32, 32).yes);
    for (const Answer& a : {answer(31, 32, 32), answer(32, 31, 32), answer(32, 32, 31)}) {
        EXPECT_FALSE(a.yes);
        EXPECT_EQ(a.reason, Refusal::shape);
    }
}

TEST_F(BlasOps, RefuseOtherTypesAndLayouts) {
    Graph g;
    Tensor* a = g.input(Type::F32, {64, 64, 2, 1});
    const Answer type = device_->supports_op(*ops::mul_mat(g, a, g.input(Type::F16, {64, 64, 2, 1})));
    EXPECT_EQ(type.reason, Refusal::type);
    const Answer layout =
        device_->supports_op(*ops::mul_mat(g, a, ops::permute(g, g.input(Type::F32, {64, 2, 64, 1}), 0, 2, 1, 3)));
    EXPECT_EQ(layout.reason, Refusal::layout);
}

TEST_F(BlasOps, ComputeInTheCpusMemory) {
    EXPECT_EQ(device_->buffer_type().name(), "CPU");
    EXPECT_EQ(device_->kind(), DeviceKind::blas);
    EXPECT_EQ(backend_->name(), "BLAS");
    EXPECT_EQ(device_->make_backend({1, true, "BLAS.1"})->name(), "BLAS.1");
}

TEST_F(BlasOps, ComputeOnTheThreadsOfTheCpu) {
    const auto n_tasks = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
    };
    const auto library_threads = [] {
        void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
        const auto get = handle != nullptr ? reinterpret_cast<int (*)()>(dlsym(handle, "openblas_get_num_threads")) : nullptr;
        const int n = get != nullptr ? get() : -1;
        return handle != nullptr ? dlclose(handle), n : n;
    };
    const std::unique_ptr<Device> cpu = make_cpu_device();
    Device* const devices[] = {device_.get(), cpu.get()};
    const auto before = n_tasks();
    const auto backends = make_backends(devices, {.n_threads = 3, .name = {}, .n_threads_batch = 4});
    EXPECT_EQ(n_tasks(), before + 3) << "the caller is the fourth of both";
    const OpCase product{Op::MUL_MAT, "of rows that 3 and 4 threads don't share out evenly", [](Graph& g, Leafs& leafs) {
                             return ops::mul_mat(g, leafs.floats(Type::F16, {64, 130, 1, 1}), leafs.f32({64, 40, 2, 1}));
                         }};
    for (const int64_t n_tokens : {1, 40}) {
        backends[0]->expect(n_tokens);
        const Outcome outcome = check_case(*backends[0], product);
        EXPECT_EQ(outcome.verdict, Verdict::right) << outcome.why;
    }
    EXPECT_EQ(n_tasks(), before + 3);
    EXPECT_EQ(library_threads(), 1);
}

TEST_F(BlasOps, SayWhereTheCpuHasWiderVectors) {
    std::string why;
    const std::optional<int> theirs = vector_bits_of_core(BlasLibrary::load(why)->core());
    const bool wider = best_vector_ops().name.starts_with("avx512") && theirs && *theirs < 512;
    EXPECT_EQ(!device_->caveat().empty(), wider) << device_->caveat();
    EXPECT_EQ(vector_bits_of_core("SkylakeX"), 512);
    EXPECT_EQ(vector_bits_of_core("SAPPHIRERAPIDS"), 512);
    EXPECT_EQ(vector_bits_of_core("Haswell"), 256);
    EXPECT_EQ(vector_bits_of_core("Zen"), 256);
    EXPECT_EQ(vector_bits_of_core("Nehalem"), 128);
    EXPECT_EQ(vector_bits_of_core("armv8"), std::nullopt);
}

TEST_F(BlasOps, ThrowForANodeTheyRefused) {
    Graph g;
    SplitGraph split;
    split.nodes = {ops::sqr(g, g.input(Type::F32, {4, 1, 1, 1}))};
    try {
        backend_->compute(split, 0, 1, nullptr);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::device);
    }
}

} // namespace
} // namespace schedscope::test
