#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/order/fusion.h"
#include "tests/support/graphs/small_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

constexpr int64_t norm_row = 65;
constexpr int64_t n_tokens = 5;

/// x → RMS_NORM → × weight, on the CPU.
class NormFusion : public ::testing::Test {
protected:
    NormFusion() : device_(make_cpu_device()), backend_(device_->make_backend({2, true, {}})) {
        x_ = g_.graph.input(Type::F32, {norm_row, n_tokens, 1, 1}, "x");
        weight_ = g_.graph.input(Type::F32, {norm_row, 1, 1, 1}, "weight");
        norm_ = ops::rms_norm(g_.graph, x_, 1e-5F);
    }
    void product_with(Tensor* other, bool weight_first = false) {
        product_ = weight_first ? ops::mul(g_.graph, other, norm_) : ops::mul(g_.graph, norm_, other);
    }
    void place(std::vector<Tensor*> wanted = {}) {
        wanted.insert(wanted.begin(), {product_, weight_}); // the weight gets a place even where another factor stands for it
        split_ = g_.place(*device_, wanted);
        set_floats(*x_, some_floats(norm_row * n_tokens));
        set_floats(*weight_, some_floats(norm_row));
    }
    std::vector<float> result(KernelLog* log = nullptr) {
        compute_all(*backend_, split_, log);
        return floats_of(*product_);
    }
    /// Why the two were not fused; "fused" if they were.
    std::string reason() {
        backend_->optimise(split_);
        if (!split_.groups.empty()) {
            EXPECT_TRUE(split_.not_fused.empty());
            return "fused";
        }
        return split_.not_fused.empty() ? "" : std::string(split_.not_fused.front().why);
    }

    SmallGraph g_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Backend> backend_;
    Tensor *x_, *weight_, *norm_, *product_ = nullptr;
    SplitGraph split_;
};

TEST_F(NormFusion, GivesTheSameAsTheTwoNodes) {
    product_with(weight_);
    place();
    const std::vector<float> apart = result();
    backend_->optimise(split_);
    ASSERT_EQ(split_.groups.size(), 1U);
    EXPECT_EQ(split_.groups[0].first, 0);
    EXPECT_EQ(split_.groups[0].count, 2);
    KernelLog log;
    EXPECT_THAT(result(&log), ::testing::Pointwise(::testing::FloatNear(1e-6F), apart));
    ASSERT_EQ(log.kernels.size(), 1U);
    EXPECT_EQ(log.kernels[0].kernel, "rms_norm_mul");
    EXPECT_EQ(log.kernels[0].first, 0);
    EXPECT_EQ(log.kernels[0].count, 2);
    EXPECT_LE(log.kernels[0].start_ns, log.kernels[0].end_ns);
}

TEST_F(NormFusion, DoesNotWriteTheNormItself) {
    product_with(weight_);
    place();
    backend_->optimise(split_);
    set_floats(*norm_, std::vector<float>(norm_row * n_tokens, 42.0F));
    result();
    EXPECT_THAT(floats_of(*norm_), ::testing::Each(42.0F));
}

TEST_F(NormFusion, WorksInPlaceOfTheSource) {
    product_with(weight_);
    place();
    const std::vector<float> apart = result();
    backend_->optimise(split_);
    product_->offset = x_->offset;
    EXPECT_TRUE(group_is_safe(split_.nodes));
    EXPECT_THAT(result(), ::testing::Pointwise(::testing::FloatNear(1e-6F), apart));
}

TEST_F(NormFusion, RunsApartWhereTheResultWouldOverwriteRowsStillToBeRead) {
    product_with(weight_);
    place();
    const std::vector<float> apart = result();
    backend_->optimise(split_);
    // Row i of the result goes where norm_row i + 1 of the source is read.
    constexpr size_t kib = 1024;
    const auto larger = device_->buffer_type().allocate(8 * kib);
    const auto move = [&](Tensor* t, size_t offset) {
        t->buffer = larger.get();
        t->offset = offset;
    };
    move(x_, 0);
    move(product_, norm_row * sizeof(float));
    move(norm_, 4 * kib);
    move(weight_, 6 * kib);
    set_floats(*x_, some_floats(norm_row * n_tokens));
    set_floats(*weight_, some_floats(norm_row));
    EXPECT_FALSE(group_is_safe(split_.nodes));
    KernelLog log;
    EXPECT_THAT(result(&log), ::testing::Pointwise(::testing::FloatNear(1e-6F), apart));
    EXPECT_EQ(log.kernels.size(), 2U);
    x_->buffer = weight_->buffer = norm_->buffer = product_->buffer = nullptr;
}

TEST_F(NormFusion, IsNotSafeWhereTheResultWouldOverwriteTheWeight) {
    product_with(weight_);
    place();
    EXPECT_TRUE(group_is_safe(split_.nodes));
    weight_->offset = product_->offset + sizeof(float);
    EXPECT_FALSE(group_is_safe(split_.nodes));
}

TEST_F(NormFusion, RunsApartWhenOnlyOneOfTheNodesIsAskedFor) {
    product_with(weight_);
    place();
    backend_->optimise(split_);
    KernelLog log;
    backend_->compute(split_, 0, 1, &log);
    backend_->compute(split_, 1, 1, &log);
    ASSERT_EQ(log.kernels.size(), 2U);
    EXPECT_EQ(log.kernels[0].kernel, "rms_norm");
    EXPECT_EQ(log.kernels[1].kernel, "mul");
}

TEST_F(NormFusion, TakesTheWeightAsEitherFactor) {
    Tensor* whole = g_.graph.input(Type::F32, {norm_row, n_tokens, 1, 1}, "whole");
    product_with(whole, true);
    place();
    set_floats(*whole, some_floats(norm_row * n_tokens));
    const std::vector<float> apart = result();
    EXPECT_EQ(reason(), "fused");
    EXPECT_THAT(result(), ::testing::Pointwise(::testing::FloatNear(1e-6F), apart));
}

TEST_F(NormFusion, FindsNothingWithoutFusion) {
    product_with(weight_);
    place();
    device_->make_backend({1, false, {}})->optimise(split_);
    EXPECT_TRUE(split_.groups.empty());
    EXPECT_TRUE(split_.not_fused.empty());
}

TEST_F(NormFusion, SaysWhenTheNormIsUsedElsewhere) {
    product_with(weight_);
    place({ops::scale(g_.graph, norm_, 2.0F)});
    EXPECT_EQ(reason(), "used elsewhere");
}

TEST_F(NormFusion, SaysWhenTheNormIsMultipliedWithItself) {
    product_with(norm_);
    place();
    EXPECT_EQ(reason(), "used elsewhere");
}

TEST_F(NormFusion, SaysWhenTheNormIsAnOutput) {
    norm_->flags |= flag_output;
    product_with(weight_);
    place();
    EXPECT_EQ(reason(), "output");
}

TEST_F(NormFusion, SaysWhenSomebodyWatchesTheNorm) {
    norm_->flags |= flag_watched;
    product_with(weight_);
    place();
    EXPECT_EQ(reason(), "watched");
}

TEST_F(NormFusion, TakesAWatchedProductAtItsEnd) {
    product_with(weight_);
    product_->flags |= flag_watched;
    place();
    EXPECT_EQ(reason(), "fused");
}

TEST_F(NormFusion, SaysWhenTheShapesDoNotFit) {
    product_with(g_.graph.input(Type::F32, {1, n_tokens, 1, 1}));
    place();
    EXPECT_EQ(reason(), "shapes");
}

TEST_F(NormFusion, SaysWhenTheTypesDoNotFit) {
    product_with(g_.graph.input(Type::F16, {norm_row, 1, 1, 1}));
    place();
    EXPECT_EQ(reason(), "types");
}

TEST_F(NormFusion, SaysWhenTheRowsAreScattered) {
    Tensor* columns = g_.graph.input(Type::F32, {n_tokens, norm_row, 1, 1});
    product_with(ops::transpose(g_.graph, columns));
    place();
    EXPECT_EQ(reason(), "layout");
}

TEST_F(NormFusion, IsFoundWhereAnotherNodeStandsBetween) {
    product_with(ops::scale(g_.graph, weight_, 2.0F));
    place();
    ASSERT_EQ(split_.nodes.size(), 3U);
    EXPECT_EQ(reason(), "fused");
    EXPECT_EQ(split_.nodes[0]->op, Op::SCALE);
    EXPECT_EQ(split_.groups[0].first, 1);
}

} // namespace
} // namespace schedscope::test
