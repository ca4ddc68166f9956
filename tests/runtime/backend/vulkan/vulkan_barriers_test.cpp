// Where barriers stand within a submission.

#include "runtime/backend/order/node_order.h"
#include "runtime/backend/vulkan/vulkan_backend.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>

#include <functional>
#include <vector>

namespace schedscope::test {
namespace {

SplitGraph in_order(PreparedCase& prepared) {
    SplitGraph split;
    split.nodes.assign(prepared.graph().nodes().begin(), prepared.graph().nodes().end());
    return split;
}

class VulkanBarriers : public OnVulkan<::testing::Test> {
protected:
    std::unique_ptr<Backend> make_backend(bool fusion = true) const {
        BackendOptions options;
        options.fusion = fusion;
        return device().make_backend(options);
    }
    int32_t barriers(Backend& backend, PreparedCase& prepared, const SplitGraph& split) const {
        prepared.load(device().buffer_type());
        backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
        backend.synchronize();
        return dynamic_cast<vulkan::VulkanBackend&>(backend).barriers();
    }
    /// Of the nodes as they are built, one after the other.
    int32_t barriers(const std::function<Tensor*(Graph&, Leafs&)>& build) const {
        PreparedCase prepared({Op::NONE, "", build});
        const std::unique_ptr<Backend> backend = make_backend();
        const int32_t n = barriers(*backend, prepared, in_order(prepared));
        EXPECT_EQ(prepared.compare({}), "");
        return n;
    }
};

TEST_F(VulkanBarriers, NoneBetweenNodesThatHaveNothingToDoWithEachOther) {
    EXPECT_EQ(barriers([](Graph& g, Leafs& l) {
                  Tensor* a = l.f32({100, 1, 1, 1});
                  g.expand(ops::scale(g, a, 2.0F));
                  g.expand(ops::sqr(g, a));
                  return ops::scale(g, l.f32({100, 1, 1, 1}), 3.0F);
              }),
              0);
}

TEST_F(VulkanBarriers, OneBeforeWhatIsReadThatWasJustWritten) {
    EXPECT_EQ(barriers([](Graph& g, Leafs& l) { return ops::sqr(g, ops::scale(g, l.f32({100, 1, 1, 1}), 2.0F)); }), 1);
}

TEST_F(VulkanBarriers, OneForAllThatWaitForTheSame) {
    EXPECT_EQ(barriers([](Graph& g, Leafs& l) {
                  Tensor* a = ops::scale(g, l.f32({100, 1, 1, 1}), 2.0F);
                  Tensor* b = ops::scale(g, l.f32({100, 1, 1, 1}), 3.0F);
                  g.expand(b);
                  g.expand(ops::sqr(g, a));
                  return ops::sqr(g, b);
              }),
              1);
}

TEST_F(VulkanBarriers, OneBeforeWhatIsReadIsOverwritten) {
    EXPECT_EQ(barriers([](Graph& g, Leafs& l) {
                  Tensor* cache = l.f32({64, 4, 1, 1});
                  g.expand(ops::scale(g, cache, 2.0F));
                  return ops::set_rows(g, cache, l.f32({64, 2, 1, 1}), l.distinct_ids({2, 1, 1, 1}, 4));
              }),
              1);
}

TEST_F(VulkanBarriers, NoneBetweenPartsOfATensorThatDoNotOverlap) {
    EXPECT_EQ(barriers([](Graph& g, Leafs& l) {
                  Tensor* t = l.f32({64, 4, 1, 1});
                  g.expand(ops::cpy(g, l.f32({64, 1, 1, 1}), ops::view_1d(g, t, 64, 0)));
                  return ops::cpy(g, l.f32({64, 1, 1, 1}), ops::view_1d(g, t, 64, t->nb[1]));
              }),
              0);
}

/// A layer of a llama with the operators in the order in which its graph is built.
Tensor* layer(Graph& g, Leafs& l) {
    constexpr int64_t width = 64, head = 16, heads = 4, tokens = 2, n_ctx = 32, hidden = 96;
    RopeParams rope;
    rope.n_dims = head;
    Tensor* x = l.f32({width, tokens, 1, 1});
    Tensor* positions = l.ids({tokens, 1, 1, 1}, n_ctx);
    Tensor* rows = l.distinct_ids({tokens, 1, 1, 1}, n_ctx, Type::I64);
    const auto product = [&](int64_t to, Tensor* of) { return ops::mul_mat(g, l.floats(Type::Q8_0, {of->ne[0], to, 1, 1}), of); };
    const auto normed = [&](Tensor* of) { return ops::mul(g, ops::rms_norm(g, of, 1e-5F), l.f32({width, 1, 1, 1})); };
    const auto heads_of = [&](Tensor* of) { return ops::reshape(g, of, {head, heads, tokens, 1}); };
    const auto cached = [&](Tensor* cache) {
        return ops::permute(g, ops::view_3d(g, cache, head, heads, n_ctx, head * 2, width * 2, 0), 0, 2, 1, 3);
    };
    Tensor* in = normed(x);
    Tensor* q = ops::rope(g, heads_of(product(width, in)), positions, nullptr, rope);
    Tensor* k = ops::rope(g, heads_of(product(width, in)), positions, nullptr, rope);
    Tensor* v = product(width, in);
    for (Tensor* t : {q, k, v}) {
        g.expand(t);
    }
    Tensor* k_cache = l.floats(Type::F16, {width, n_ctx, 1, 1});
    Tensor* v_cache = l.floats(Type::F16, {width, n_ctx, 1, 1});
    g.expand(ops::set_rows(g, k_cache, ops::view_2d(g, k, width, tokens, k->nb[2], 0), rows));
    g.expand(ops::set_rows(g, v_cache, v, rows));
    Tensor* attended = ops::flash_attn(g, ops::permute(g, q, 0, 2, 1, 3), cached(k_cache), cached(v_cache),
                                       l.mask(Type::F16, {n_ctx, tokens, 1, 1}), 0.25F, 0.0F, 0.0F);
    Tensor* sum = ops::add(g, product(width, ops::reshape(g, attended, {width, tokens, 1, 1})), x);
    Tensor* between = normed(sum);
    Tensor* gate = product(hidden, between);
    Tensor* gated = ops::glu(g, gate, product(hidden, between), GluOp::SWIGLU);
    return ops::add(g, product(width, gated), sum);
}

class VulkanLayer : public VulkanBarriers {
protected:
    struct Result {
        int32_t barriers = 0;
        std::vector<float> values;
    };
    enum class Order { as_built, optimised };
    Result run(Order order, bool fusion) const {
        PreparedCase prepared({Op::NONE, "", layer});
        const std::unique_ptr<Backend> backend = make_backend(fusion);
        SplitGraph split = in_order(prepared);
        if (order == Order::optimised && fusion) {
            backend->optimise(split);
        } else if (order == Order::optimised) {
            spread_waits(split);
        }
        Result result;
        result.barriers = barriers(*backend, prepared, split);
        if (split.groups.empty()) {
            EXPECT_EQ(prepared.compare({}), "");
        }
        const Tensor& last = *prepared.graph().nodes().back();
        result.values.resize(static_cast<size_t>(n_elements(last)));
        tensor_read(last, result.values.data(), 0, n_bytes(last));
        return result;
    }
};

TEST_F(VulkanLayer, InTheRightOrderHasABarrierForEachStepOfItsLongestChainOnly) {
    // norm; weight; products; ropes and V's rows; K's rows; attention; product; sum; norm; weight; gate and up; function;
    // product; sum
    constexpr int32_t steps = 14;
    const Result as_built = run(Order::as_built, false);
    const Result reordered = run(Order::optimised, false);
    EXPECT_EQ(reordered.barriers, steps - 1);
    EXPECT_LT(reordered.barriers, as_built.barriers);
    EXPECT_EQ(reordered.values, as_built.values);
}

TEST_F(VulkanLayer, FusedHasFewerSteps) {
    // norm; products; ropes and rows; attention; product with sum; norm; gate and up; product with sum
    constexpr int32_t steps = 8;
    const Result fused = run(Order::optimised, true);
    EXPECT_EQ(fused.barriers, steps - 1);
    EXPECT_THAT(fused.values, ::testing::Pointwise(::testing::FloatNear(1e-5F), run(Order::as_built, false).values));
}

} // namespace
} // namespace schedscope::test
