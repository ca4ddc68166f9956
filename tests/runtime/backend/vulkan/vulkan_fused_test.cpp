// Fused kernels against the reference, which runs node by node.

#include "runtime/backend/vulkan/fused.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/runtime/backend/vulkan/fused_cases.h"
#include "tests/support/sample.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace schedscope::test {
namespace {

constexpr int64_t few_columns = 8; ///< that products on hardware have at most when they go row by row

SplitGraph optimised(Backend& backend, PreparedCase& prepared) {
    SplitGraph split;
    split.nodes.assign(prepared.graph().nodes().begin(), prepared.graph().nodes().end());
    backend.optimise(split);
    return split;
}

struct Ran {
    bool fused = false;      ///< as one kernel
    std::string differences; ///< from the reference; of a fused run's results only the last one may have been written
};

Ran ran(Backend& backend, const SplitGraph& split, PreparedCase& prepared) {
    prepared.load(backend.device().buffer_type());
    KernelLog log;
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), &log);
    backend.synchronize();
    const FusionGroup& group = split.groups.at(0);
    const bool fused = log.kernels.size() == 1;
    if (fused) {
        EXPECT_EQ(log.kernels[0].kernel, group.kernel);
        EXPECT_EQ(log.kernels[0].first, group.first);
        EXPECT_EQ(log.kernels[0].count, group.count);
    }
    return {fused, fused ? prepared.compare_last({}) : prepared.compare({})};
}

class VulkanFused : public OnVulkan<::testing::TestWithParam<std::string_view>> {
protected:
    /// The kernel's cases on the device as it is and as hardware; there without what has too many columns.
    template <typename Check> void each(const Check& check) const {
        for (const bool like_hardware : {false, true}) {
            const std::unique_ptr<Backend> backend = vulkan_devices(like_hardware).front()->make_backend({});
            for (const FusedCase& c : fused_cases()) {
                if (c.kernel == GetParam() && !(like_hardware && c.columns > few_columns)) {
                    SCOPED_TRACE(c.nodes.name + (like_hardware ? ", as on hardware" : ""));
                    check(*backend, c);
                }
            }
        }
    }
};

TEST_P(VulkanFused, AgreeWithTheReferenceAndWriteNothingBetween) {
    Sample sample;
    each([&](Backend& backend, const FusedCase& c) {
        if (!sample.takes()) {
            return;
        }
        PreparedCase prepared(c.nodes);
        const SplitGraph split = optimised(backend, prepared);
        ASSERT_EQ(split.groups.size(), 1U);
        EXPECT_EQ(split.groups[0].kernel, c.kernel);
        const Ran result = ran(backend, split, prepared);
        EXPECT_TRUE(result.fused);
        EXPECT_EQ(result.differences, "");
    });
}

TEST_P(VulkanFused, AreRightWhereverTheResultTakesASourcesPlace) {
    int in_place = 0;
    int fused = 0;
    Sample sample;
    each([&](Backend& backend, const FusedCase& c) {
        const size_t n_leafs = PreparedCase(c.nodes).graph().leafs().size();
        for (size_t i = 0; i < n_leafs; ++i) {
            PreparedCase prepared(c.nodes);
            const Tensor& leaf = *prepared.graph().leafs()[i];
            const Tensor& last = *prepared.graph().nodes().back();
            if (last.view_source != nullptr || leaf.type != last.type || leaf.ne != last.ne || !sample.takes()) {
                continue;
            }
            const SplitGraph split = optimised(backend, prepared);
            prepared.run_in_place_of(leaf);
            const Ran result = ran(backend, split, prepared);
            EXPECT_EQ(result.differences, "") << "leaf " << i;
            ++in_place;
            fused += result.fused ? 1 : 0;
        }
    });
    const std::string_view kernel = GetParam();
    if (kernel == "gate_up") { // each result needs all of the products' common source
        EXPECT_GT(in_place, 0);
        EXPECT_EQ(fused, 0);
    } else if (kernel == "mul_mat_add" || kernel == "mul_mat_add_act") { // of the term, not of the columns
        EXPECT_GT(fused, 0);
        EXPECT_GE(in_place, fused);
    } else if (kernel != "rope_set_rows") { // element by element
        EXPECT_GT(in_place, 0);
        EXPECT_EQ(fused, in_place);
    }
}

INSTANTIATE_TEST_SUITE_P(All, VulkanFused,
                         ::testing::Values("rms_norm_mul", "rms_norm_mul_add", "norm_mul", "norm_mul_add", "add_chain",
                                           "mul_mat_add", "mul_mat_add_act", "gate_up", "rope_set_rows"),
                         [](const auto& info) { return std::string(info.param); });

class VulkanNotFused : public OnVulkan<::testing::Test> {};

TEST_F(VulkanNotFused, ProductsThatGoByTilesSaySo) {
    const std::unique_ptr<Backend> backend = vulkan_devices(true).front()->make_backend({});
    std::set<std::string_view> kernels;
    for (const FusedCase& c : fused_cases()) {
        if (c.columns > few_columns) {
            PreparedCase prepared(c.nodes);
            const SplitGraph split = optimised(*backend, prepared);
            EXPECT_TRUE(split.groups.empty()) << c.nodes.name;
            ASSERT_FALSE(split.not_fused.empty()) << c.nodes.name;
            EXPECT_EQ(split.not_fused[0].why, "batch too large");
            kernels.insert(c.kernel);
        }
    }
    EXPECT_THAT(kernels, ::testing::UnorderedElementsAre("mul_mat_add", "gate_up"));
}

TEST_F(VulkanNotFused, GatesOfTwoTypesOfWeightsSaySo) {
    PreparedCase prepared({Op::MUL_MAT, "", [](Graph& g, Leafs& l) {
                               Tensor* x = l.f32({64, 1, 1, 1});
                               Tensor* gate = ops::mul_mat(g, l.floats(Type::Q8_0, {64, 32, 1, 1}), x);
                               return ops::glu(g, gate, ops::mul_mat(g, l.floats(Type::F16, {64, 32, 1, 1}), x), GluOp::SWIGLU);
                           }});
    const std::unique_ptr<Backend> backend = device().make_backend({});
    const SplitGraph split = optimised(*backend, prepared);
    EXPECT_TRUE(split.groups.empty());
    ASSERT_FALSE(split.not_fused.empty());
    EXPECT_EQ(split.not_fused[0].why, "types");
}

// Asked without a device.
TEST(VulkanFusedKernels, LongChainsNeedADeviceThatBindsAsMuch) {
    const vulkan::VulkanFusedKernels few({.row_per_invocation = false, .group = 128, .groups_wanted = 128, .most_sources = 4});
    const vulkan::VulkanFusedKernels many({.row_per_invocation = false, .group = 128, .groups_wanted = 128, .most_sources = 9});
    for (const FusedCase& c : fused_cases()) {
        if (c.kernel == fused::add_chain) {
            PreparedCase prepared(c.nodes);
            std::vector<Tensor*> sums(prepared.graph().nodes().begin(), prepared.graph().nodes().end());
            std::erase_if(sums, [](const Tensor* t) { return t->op != Op::ADD; });
            EXPECT_EQ(few.why_not(c.kernel, sums), sums.size() <= 3 ? "" : "device limit");
            EXPECT_EQ(many.why_not(c.kernel, sums), "");
        }
    }
}

TEST(VulkanFusedKernels, RowsOfBlocksTakeWholeHeads) {
    const vulkan::VulkanFusedKernels kernels({});
    for (const auto& [head, why] : {std::pair(48, "shapes"), std::pair(64, ""), std::pair(512, ""), std::pair(544, "shapes")}) {
        Graph graph;
        RopeParams rope;
        rope.n_dims = head;
        Tensor* turned =
            ops::rope(graph, graph.input(Type::F32, {head, 2, 1, 1}), graph.input(Type::I32, {1, 1, 1, 1}), nullptr, rope);
        Tensor* rows = ops::view_2d(graph, turned, 2 * head, 1, turned->nb[2], 0);
        Tensor* stored =
            ops::set_rows(graph, graph.make(Type::Q8_0, {2 * head, 9, 1, 1}), rows, graph.input(Type::I64, {1, 1, 1, 1}));
        const std::vector<Tensor*> nodes = {turned, rows, stored};
        EXPECT_EQ(kernels.why_not(fused::rope_set_rows, nodes), why) << head;
    }
}

} // namespace
} // namespace schedscope::test
