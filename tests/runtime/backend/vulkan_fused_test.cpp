// Fused kernels against the reference, which runs node by node.

#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/check_case.h"
#include "tests/runtime/backend/fused_cases.h"
#include "tests/runtime/backend/vulkan_devices.h"

#include <gmock/gmock.h>

#include <set>

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
    std::vector<KernelTime> times;
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), &times);
    backend.synchronize();
    const FusionGroup& group = split.groups.at(0);
    const bool fused = times.size() == 1;
    if (fused) {
        EXPECT_EQ(times[0].kernel, group.kernel);
        EXPECT_EQ(times[0].first, group.first);
        EXPECT_EQ(times[0].count, group.count);
    }
    return {fused, fused ? prepared.compare_last({}) : prepared.compare({})};
}

class VulkanFused : public OnVulkan<testing::TestWithParam<std::string_view>> {
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
    each([](Backend& backend, const FusedCase& c) {
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
    each([&](Backend& backend, const FusedCase& c) {
        const size_t n_leafs = PreparedCase(c.nodes).graph().leafs().size();
        for (size_t i = 0; i < n_leafs; ++i) {
            PreparedCase prepared(c.nodes);
            const Tensor& leaf = *prepared.graph().leafs()[i];
            const Tensor& last = *prepared.graph().nodes().back();
            if (last.view_source != nullptr || leaf.type != last.type || leaf.ne != last.ne) {
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
                         testing::Values("rms_norm_mul", "rms_norm_mul_add", "norm_mul", "norm_mul_add", "add_chain",
                                         "mul_mat_add", "mul_mat_add_act", "gate_up", "rope_set_rows"),
                         [](const auto& info) { return std::string(info.param); });

class VulkanNotFused : public OnVulkan<testing::Test> {};

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
    EXPECT_THAT(kernels, testing::UnorderedElementsAre("mul_mat_add", "gate_up"));
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

} // namespace
} // namespace schedscope::test
