// Angles far from 0: a single float leaves three digits of a turn at a position of 100,000.

#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/vulkan_devices.h"

namespace schedscope::test {
namespace {

class VulkanAngles : public OnVulkan<::testing::Test> {
protected:
    void expect_right(const OpCase& c) {
        const std::unique_ptr<Backend> backend = device().make_backend({});
        const Outcome outcome = check_case(*backend, c);
        EXPECT_EQ(outcome.verdict, Verdict::right) << c.name << ": " << outcome.why;
    }
    void expect_rope_right(const std::string& name, const RopeParams& params, bool with_factors = false) {
        expect_right(
            {Op::ROPE, name, [=](Graph& g, Leafs& l) {
                 Tensor* factors = with_factors ? l.floats(Type::F32, {params.n_dims / 2, 1, 1, 1}, 0.5F, 4.0F) : nullptr;
                 return ops::rope(g, l.f32({params.n_dims, 2, 64, 1}), l.ids({64, 1, 1, 1}, 1 << 20), factors, params);
             }});
    }
};

TEST_F(VulkanAngles, OfAMillionPositionsAreExact) {
    for (const int mode : {0, 2}) {
        for (const float base : {500.0F, 10000.0F, 1e6F}) {
            RopeParams params;
            params.n_dims = 128;
            params.mode = mode;
            params.freq_base = base;
            expect_rope_right("base " + std::to_string(base), params);
            expect_rope_right("base " + std::to_string(base) + ", factors", params, true);
        }
    }
}

TEST_F(VulkanAngles, StretchedByYarnAreExact) {
    RopeParams params;
    params.n_dims = 128;
    params.n_ctx_original = 4096;
    params.freq_scale = 1.0F / 40;
    params.ext_factor = 1.0F;
    expect_rope_right("yarn", params);
    params.ext_factor = 0.0F;
    expect_rope_right("linear", params);
}

TEST_F(VulkanAngles, OfSinAndCosAreExactFarFromZero) {
    for (const float range : {1.0F, 100.0F, 1e5F, 1e7F}) {
        expect_right({Op::SIN, "sin to " + std::to_string(range), [=](Graph& g, Leafs& l) {
                          return ops::sin(g, l.floats(Type::F32, {1000, 1, 1, 1}, -range, range));
                      }});
        expect_right({Op::COS, "cos to " + std::to_string(range), [=](Graph& g, Leafs& l) {
                          return ops::cos(g, l.floats(Type::F32, {1000, 1, 1, 1}, -range, range));
                      }});
    }
}

} // namespace
} // namespace schedscope::test
