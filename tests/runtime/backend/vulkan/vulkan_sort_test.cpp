// Rows that are too long to sort at once, up to a vocabulary.

#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/vulkan_devices.h"

namespace schedscope::test {
namespace {

class VulkanSort : public OnVulkan<::testing::TestWithParam<bool>> {
protected:
    void expect_right(const OpCase& c) {
        const std::unique_ptr<Backend> backend = vulkan_devices(GetParam()).front()->make_backend({});
        const Outcome outcome = check_case(*backend, c);
        EXPECT_EQ(outcome.verdict, Verdict::right) << c.name << ": " << outcome.why;
    }
};

TEST_P(VulkanSort, OrdersRowsOfAnyLength) {
    for (const int64_t n : {1, 2, 3, 1023, 1024, 1025, 2048, 2049, 5000, 32000}) {
        for (const bool falling : {false, true}) {
            expect_right({Op::ARGSORT, "rows of " + std::to_string(n) + (falling ? ", falling" : ""), [=](Graph& g, Leafs& l) {
                              return ops::argsort(g, l.f32({n, 2, 1, 1}), falling);
                          }});
        }
    }
}

TEST_P(VulkanSort, KeepsEqualValuesInTheirOrder) {
    for (const int64_t n : {100, 3000}) {
        expect_right({Op::ARGSORT, "few values", [=](Graph& g, Leafs& l) { // half of them are clamped to one value
                          return ops::argsort(g, ops::clamp(g, l.f32({n, 3, 1, 1}), -0.25F, 0.25F), true);
                      }});
    }
}

TEST_P(VulkanSort, ChoosesTheLargestOfAnyNumber) {
    for (const int64_t n : {40, 1024, 1025, 32000}) {
        for (const int k : {1, 40, 1024, 1500, 32000}) {
            if (k <= n) {
                expect_right({Op::TOP_K, std::to_string(k) + " of " + std::to_string(n), [=](Graph& g, Leafs& l) {
                                  return ops::top_k(g, l.f32({n, 2, 1, 1}), k);
                              }});
            }
        }
    }
}

TEST_P(VulkanSort, ChoosesTheFirstOfEqualValues) {
    for (const int k : {10, 300, 2000}) {
        expect_right({Op::TOP_K, std::to_string(k) + " of clamped values", [=](Graph& g, Leafs& l) {
                          return ops::top_k(g, ops::clamp(g, l.f32({5000, 2, 1, 1}), -0.25F, 0.25F), k);
                      }});
    }
}

TEST_P(VulkanSort, ReportsTheLargestFirst) {
    Graph g;
    constexpr int64_t n = 5000;
    Tensor* values = g.input(Type::F32, {n, 1, 1, 1});
    Tensor* top = ops::top_k(g, values, 100);
    g.expand(top);
    Device& device = *vulkan_devices(GetParam()).front();
    const std::unique_ptr<Buffer> a = device.buffer_type().allocate(n_bytes(*values));
    const std::unique_ptr<Buffer> b = device.buffer_type().allocate(n_bytes(*top));
    values->buffer = a.get();
    top->buffer = b.get();
    std::vector<float> rising(n);
    for (size_t i = 0; i < rising.size(); ++i) {
        rising[i] = static_cast<float>(i);
    }
    tensor_write(*values, rising.data(), 0, n_bytes(*values));
    const std::unique_ptr<Backend> backend = device.make_backend({});
    SplitGraph split;
    split.nodes = {top};
    backend->compute(split, 0, 1, nullptr);
    backend->synchronize();
    std::vector<int32_t> ids(100);
    tensor_read(*top, ids.data(), 0, n_bytes(*top));
    for (int32_t i = 0; i < 100; ++i) {
        EXPECT_EQ(ids[static_cast<size_t>(i)], 4999 - i);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, VulkanSort, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "OfHardware" : "OfSoftware"; });

} // namespace
} // namespace schedscope::test
