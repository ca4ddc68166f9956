#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/order/fusion.h"
#include "tests/runtime/backend/ops/op_reference.h"
#include "tests/support/graphs/small_graph.h"
#include "tests/support/random/random_graph.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

// Groups give what their nodes give one after the other, to the last bit, and what their operators say within float's precision.
namespace schedscope::test {
namespace {

/// Everything in one buffer, nothing over anything else.
class Placed {
public:
    Placed(RandomGraph& random, const Device& device) : random_(random) {
        size_t size = 0;
        for (Tensor* t : random.graph.tensors()) {
            if (t->view_source == nullptr) {
                t->offset = size;
                size += (n_bytes(*t) + 63) / 64 * 64;
            }
        }
        buffer_ = device.buffer_type().allocate(size);
        for (Tensor* t : random.graph.tensors()) {
            t->buffer = buffer_.get();
            t->offset = t->view_source != nullptr ? t->view_source->offset + t->view_offset : t->offset;
        }
        size_ = size;
    }
    void fill() {
        buffer_->clear(0);
        for (const Tensor* leaf : random_.graph.leafs()) {
            test::fill(*leaf, 1);
        }
    }
    SplitGraph split() const {
        SplitGraph split;
        split.nodes.assign(random_.graph.nodes().begin(), random_.graph.nodes().end());
        return split;
    }
    /// Numbers, not bytes: zero has two signs, which a product that is rounded once may give differently.
    std::vector<std::vector<double>> results() {
        std::vector<std::vector<double>> all;
        for (const Tensor* t : random_.results()) {
            all.push_back(read_elements(*t, memory()).values);
        }
        return all;
    }
    Memory memory() { return {host_data(*random_.graph.tensors().front()) - random_.graph.tensors().front()->offset, size_}; }

private:
    RandomGraph& random_;
    std::unique_ptr<Buffer> buffer_;
    size_t size_ = 0;
};

class FusedKernels : public ::testing::TestWithParam<const VectorOps*> {
protected:
    std::unique_ptr<Device> device_ = make_cpu_device();
    cpu::CpuBackend backend_{*device_, {3, true, {}}, *GetParam()};
    cpu::CpuBackend exact_{*device_, {3, true, {}, Products::floats}, *GetParam()};
};

TEST_P(FusedKernels, GiveTheSameNumbersAsTheirNodes) {
    std::map<std::string, int> kernels;
    for (uint32_t seed = 0; seed < 150; ++seed) {
        RandomGraph random(fusable_chains(), {seed, 24, 1 + seed % 9});
        Placed placed(random, *device_);
        SplitGraph split = placed.split();
        placed.fill();
        backend_.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
        const auto apart = placed.results();

        backend_.optimise(split);
        placed.fill();
        KernelLog log;
        backend_.compute(split, 0, static_cast<int32_t>(split.nodes.size()), &log);
        EXPECT_TRUE(placed.results() == apart) << "seed " << seed;
        for (const KernelTime& k : log.kernels) {
            kernels[std::string(k.kernel)] += k.count > 1 ? 1 : 0;
        }
    }
    EXPECT_GT(kernels["gate_up_int8"], 0);
    EXPECT_GT(kernels["mul_mat_add_int8"], 0);
    for (const std::string_view kernel :
         {fused::rms_norm_mul, fused::rms_norm_mul_add, fused::norm_mul, fused::norm_mul_add, fused::add_chain,
          fused::mul_mat_add, fused::mul_mat_add_act, fused::gate_up, fused::rope_set_rows}) {
        EXPECT_GT(kernels[std::string(kernel)], 10) << kernel;
    }
}

/// Columns that are rounded for the first of a group's products are those of the second.
TEST_P(FusedKernels, OfBf16GiveTheSameNumbersAsTheirNodes) {
    const std::string in_bf16 = GetParam()->bf16.multiply != nullptr ? "_bf16" : "";
    for (const int64_t n : {1, 2, 17, 70}) {
        SmallGraph small;
        Graph& g = small.graph;
        constexpr int64_t k = 512, rows = 130;
        const auto weights = [&] { return g.input(Type::BF16, {k, rows, 1, 1}); };
        const std::vector<Tensor*> leafs{weights(), weights(), weights(), g.input(Type::F32, {k, n, 1, 1}),
                                         g.input(Type::F32, {rows, n, 1, 1})};
        Tensor* const x = leafs[3];
        Tensor* const gate = ops::mul_mat(g, leafs[0], x);
        Tensor* const gated = ops::glu(g, gate, ops::mul_mat(g, leafs[1], x), GluOp::SWIGLU);
        Tensor* const sum = ops::add(g, ops::mul_mat(g, leafs[2], x), leafs[4]);
        const std::vector<Tensor*> wanted{gated, sum};
        SplitGraph split = small.place(*device_, wanted);
        for (uint32_t i = 0; i < leafs.size(); ++i) {
            test::fill(*leafs[i], i);
        }
        compute_all(backend_, split);
        const std::vector<std::vector<float>> apart{floats_of(*gated), floats_of(*sum)};
        EXPECT_NE(apart[0], std::vector<float>(apart[0].size()));

        backend_.optimise(split);
        KernelLog log;
        compute_all(backend_, split, &log);
        EXPECT_EQ(floats_of(*gated), apart[0]) << n;
        EXPECT_EQ(floats_of(*sum), apart[1]) << n;
        std::vector<std::string> kernels;
        for (const KernelTime& kernel : log.kernels) {
            kernels.emplace_back(kernel.kernel);
        }
        const std::string way = n > 1 ? in_bf16 : "";
        EXPECT_THAT(kernels, ::testing::ElementsAre(std::string(fused::gate_up) + way, std::string(fused::mul_mat_add) + way));
    }
}

TEST_P(FusedKernels, GiveWhatTheirOperatorsSay) {
    for (uint32_t seed = 500; seed < 540; ++seed) {
        RandomGraph random(fusable_chains(), {seed, 24, 1 + seed % 6});
        Placed placed(random, *device_);
        SplitGraph split = placed.split();
        placed.fill();
        for (const Tensor* node : split.nodes) {
            evaluate(*node, placed.memory());
        }
        std::vector<Elements> expected;
        for (const Tensor* t : random.results()) {
            expected.push_back(read_elements(*t, placed.memory()));
        }
        exact_.optimise(split);
        placed.fill();
        exact_.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
        const std::vector<Tensor*> outputs = random.results();
        for (size_t o = 0; o < outputs.size(); ++o) {
            const Elements found = read_elements(*outputs[o], placed.memory());
            double wrong = 0, all = 0;
            for (size_t i = 0; i < found.values.size(); ++i) {
                wrong += std::pow(found.values[i] - expected[o].values[i], 2);
                all += std::pow(expected[o].values[i], 2);
            }
            // A number that falls on the other side of a step of F16 or Q8_0 differs by a whole step from there on.
            EXPECT_LE(wrong, 1e-5 * all) << "seed " << seed << " " << outputs[o]->name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, FusedKernels, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
} // namespace schedscope::test
