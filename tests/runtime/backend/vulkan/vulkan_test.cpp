#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/tensor/ops.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

namespace schedscope::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A graph with its memory on a device; leafs are filled by `set`.
class Computation {
public:
    explicit Computation(const BufferType& type) : type_(type) {}

    Graph graph;

    /// After the graph is built: gives every tensor memory.
    void place(Tensor* result) {
        graph.expand(result);
        size_t size = 0;
        const size_t step = type_.alignment();
        for (Tensor* t : graph.number()) {
            if (t->view_source == nullptr) {
                t->offset = size;
                size = (size + n_bytes(*t) + step - 1) / step * step;
            }
        }
        buffer_ = type_.allocate(size);
        for (Tensor* t : graph.tensors()) {
            t->offset = t->view_source != nullptr ? t->view_source->offset + t->view_offset : t->offset;
            t->buffer = buffer_.get();
        }
        split.nodes.assign(graph.nodes().begin(), graph.nodes().end());
    }
    static void set(const Tensor& t, const std::vector<float>& values) {
        tensor_write(t, values.data(), 0, values.size() * sizeof(float));
    }
    static std::vector<float> get(const Tensor& t) {
        std::vector<float> values(static_cast<size_t>(n_elements(t)));
        tensor_read(t, values.data(), 0, values.size() * sizeof(float));
        return values;
    }
    void compute(Backend& backend, KernelLog* log = nullptr) const {
        backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), log);
        backend.synchronize();
    }

    SplitGraph split;

private:
    const BufferType& type_;
    std::unique_ptr<Buffer> buffer_;
};

std::vector<float> counting_from(size_t n, float step = 1) {
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
        values[i] = step * static_cast<float>(i + 1);
    }
    return values;
}

class Vulkan : public OnVulkan<::testing::Test> {};

TEST_F(Vulkan, DevicesAreNumberedAndDescribed) {
    EXPECT_EQ(device().name(), "Vulkan0");
    EXPECT_THAT(device().description(), ::testing::Not(IsEmpty()));
    EXPECT_GT(device().memory_bytes(), 0U);
    EXPECT_EQ(device().buffer_type().name(), "Vulkan0");
    EXPECT_EQ(device().host_buffer_type()->name(), "Vulkan0_Host");
}

TEST_F(Vulkan, OnlyHostMemoryIsAddressedByTheHost) {
    EXPECT_FALSE(device().buffer_type().is_host());
    EXPECT_TRUE(device().host_buffer_type()->is_host());
    EXPECT_EQ(device().buffer_type().allocate(64)->host_base(), nullptr);
    EXPECT_NE(device().host_buffer_type()->allocate(64)->host_base(), nullptr);
    EXPECT_TRUE(device().supports_buffer_type(device().buffer_type()));
}

TEST_F(Vulkan, BuffersGiveBackWhatWasWritten) {
    for (const BufferType* type : {&device().buffer_type(), device().host_buffer_type()}) {
        const std::unique_ptr<Buffer> buffer = type->allocate(1001);
        EXPECT_EQ(buffer->size(), 1001U);
        buffer->clear(7);
        const std::vector<uint8_t> written = {1, 2, 3};
        buffer->write(998, written.data(), 3);
        std::vector<uint8_t> read(5);
        buffer->read(996, read.data(), 5);
        EXPECT_THAT(read, ElementsAre(7, 7, 1, 2, 3)) << type->name();
    }
}

TEST_F(Vulkan, BuffersOfADeviceCopyToEachOther) {
    const std::unique_ptr<Buffer> a = device().buffer_type().allocate(256);
    const std::unique_ptr<Buffer> b = device().buffer_type().allocate(256);
    const std::vector<uint8_t> written = {5, 6, 7, 8};
    b->clear(0);
    a->write(16, written.data(), 4);
    ASSERT_TRUE(b->copy_from(32, *a, 16, 4));
    std::vector<uint8_t> read(6);
    b->read(31, read.data(), 6);
    EXPECT_THAT(read, ElementsAre(0, 5, 6, 7, 8, 0));
}

TEST_F(Vulkan, BuffersOfOthersAreNotCopied) {
    const std::unique_ptr<Device> cpu = make_cpu_device();
    const std::unique_ptr<Buffer> host = cpu->buffer_type().allocate(64);
    EXPECT_FALSE(device().buffer_type().allocate(64)->copy_from(0, *host, 0, 64));
}

TEST_F(Vulkan, TooMuchMemoryIsAnErrorThatNamesTheBytes) {
    try {
        device().buffer_type().allocate(size_t{1} << 60U);
        FAIL() << "an exbibyte was allocated";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::device);
        EXPECT_THAT(e.what(), HasSubstr("Vulkan0"));
        EXPECT_THAT(e.what(), HasSubstr("1152921504606846976"));
    }
}

TEST_F(Vulkan, DependentNodesRunInOrder) {
    Computation run(device().buffer_type());
    Tensor* a = run.graph.input(Type::F32, {1000, 1, 1, 1});
    Tensor* t = a;
    for (int i = 0; i < 600; ++i) { // more dispatches than there is room for at first
        t = ops::add(run.graph, t, a);
    }
    run.place(t);
    Computation::set(*a, counting_from(1000));
    const std::unique_ptr<Backend> backend = device().make_backend({});
    run.compute(*backend);
    EXPECT_EQ(Computation::get(*t), counting_from(1000, 601));
}

TEST_F(Vulkan, APartOfASplitIsRunAlone) {
    Computation run(device().buffer_type());
    Tensor* a = run.graph.input(Type::F32, {4, 1, 1, 1});
    Tensor* twice = ops::scale(run.graph, a, 2.0F);
    Tensor* thrice = ops::scale(run.graph, twice, 1.5F);
    run.place(thrice);
    Computation::set(*a, {1, 2, 3, 4});
    Computation::set(*thrice, {0, 0, 0, 0});
    const std::unique_ptr<Backend> backend = device().make_backend({});
    backend->compute(run.split, 0, 1, nullptr);
    backend->synchronize();
    EXPECT_THAT(Computation::get(*twice), ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(Computation::get(*thrice), ElementsAre(0, 0, 0, 0));
}

TEST_F(Vulkan, ResultsMayTakeTheirSourcesPlace) {
    Computation run(device().buffer_type());
    Tensor* a = run.graph.input(Type::F32, {300, 2, 1, 1});
    Tensor* b = run.graph.input(Type::F32, {300, 2, 1, 1});
    Tensor* sum = ops::add(run.graph, a, b);
    Tensor* soft = ops::soft_max(run.graph, sum, nullptr, 1.0F, 0.0F);
    run.place(soft);
    sum->offset = a->offset;
    soft->offset = a->offset;
    Computation::set(*a, std::vector<float>(600, 1));
    Computation::set(*b, std::vector<float>(600, 2));
    const std::unique_ptr<Backend> backend = device().make_backend({});
    run.compute(*backend);
    EXPECT_THAT(Computation::get(*soft), ::testing::Each(::testing::FloatNear(1.0F / 300, 1e-8F)));
}

TEST_F(Vulkan, TwoBackendsOfOneDeviceShareItsQueue) {
    const auto work = [this](int32_t terms, std::vector<float>& result) {
        Computation run(device().buffer_type());
        Tensor* a = run.graph.input(Type::F32, {2000, 1, 1, 1});
        Tensor* t = a;
        for (int32_t i = 1; i < terms; ++i) {
            t = ops::add(run.graph, t, a);
        }
        run.place(t);
        Computation::set(*a, counting_from(2000));
        BackendOptions options;
        options.name = "Vulkan0." + std::to_string(terms);
        const std::unique_ptr<Backend> backend = device().make_backend(options);
        for (int i = 0; i < 20; ++i) {
            run.compute(*backend);
        }
        result = Computation::get(*t);
    };
    std::vector<float> first;
    std::vector<float> second;
    std::thread other([&] { work(5, second); });
    work(3, first);
    other.join();
    EXPECT_EQ(first, counting_from(2000, 3));
    EXPECT_EQ(second, counting_from(2000, 5));
}

TEST_F(Vulkan, KernelTimesLieBetweenTheCallAndTheWait) {
    Computation run(device().buffer_type());
    Tensor* a = run.graph.input(Type::F32, {4096, 16, 1, 1});
    Tensor* flat = ops::reshape(run.graph, ops::sqr(run.graph, a), {4096 * 16, 1, 1, 1});
    Tensor* result = ops::scale(run.graph, flat, 2.0F);
    run.place(result);
    Computation::set(*a, counting_from(4096 * 16, 0.001F));
    const std::unique_ptr<Backend> backend = device().make_backend({});
    run.compute(*backend); // shaders are compiled at first use
    KernelLog log;
    const int64_t before = now_ns();
    run.compute(*backend, &log);
    const int64_t after = now_ns();
    ASSERT_EQ(log.kernels.size(), 2U) << "a view is no kernel";
    EXPECT_EQ(log.kernels[0].first, 0);
    EXPECT_EQ(log.kernels[1].first, 2);
    EXPECT_GE(log.kernels[0].start_ns, before);
    EXPECT_LE(log.kernels[0].start_ns, log.kernels[0].end_ns);
    EXPECT_LE(log.kernels[0].end_ns, log.kernels[1].end_ns);
    EXPECT_LE(log.kernels[1].end_ns, after);
}

/// RMS_NORM and MUL by a weight.
struct Normed {
    explicit Normed(Computation& run, int64_t rows_of_weight = 1) {
        a = run.graph.input(Type::F32, {200, 3, 1, 1});
        weight = run.graph.input(Type::F32, {200, rows_of_weight, 1, 1});
        norm = ops::rms_norm(run.graph, a, 1e-5F);
        product = ops::mul(run.graph, norm, weight);
    }
    Tensor *a, *weight, *norm, *product;
};

TEST_F(Vulkan, ANormAndItsWeightAreOneKernelWithTheSameResult) {
    const std::unique_ptr<Backend> backend = device().make_backend({});
    std::vector<std::vector<float>> results;
    for (const bool fused : {false, true}) {
        Computation run(device().buffer_type());
        const Normed n(run);
        run.place(n.product);
        Computation::set(*n.a, counting_from(600, 0.01F));
        Computation::set(*n.weight, counting_from(200, -0.3F));
        if (fused) {
            backend->optimise(run.split);
            ASSERT_EQ(run.split.groups.size(), 1U);
            EXPECT_EQ(run.split.groups[0].kernel, "rms_norm_mul");
        }
        KernelLog log;
        run.compute(*backend, &log);
        EXPECT_EQ(log.kernels.size(), fused ? 1U : 2U);
        EXPECT_EQ(log.kernels.front().count, fused ? 2 : 1);
        results.push_back(Computation::get(*n.product));
    }
    EXPECT_THAT(results[1], ::testing::Pointwise(::testing::FloatNear(1e-4F), results[0]));
}

TEST_F(Vulkan, AGroupThatIsOnlyPartlyWantedRunsNodeByNode) {
    const std::unique_ptr<Backend> backend = device().make_backend({});
    Computation run(device().buffer_type());
    const Normed n(run);
    run.place(n.product);
    backend->optimise(run.split);
    Computation::set(*n.a, std::vector<float>(600, 4));
    KernelLog log;
    backend->compute(run.split, 0, 1, &log);
    backend->synchronize();
    ASSERT_EQ(log.kernels.size(), 1U);
    EXPECT_EQ(log.kernels[0].kernel, "rms_norm");
    EXPECT_THAT(Computation::get(*n.norm), ::testing::Each(::testing::FloatNear(1.0F, 1e-5F)));
}

TEST_F(Vulkan, AGroupWhoseResultLiesAcrossItsSourceRunsNodeByNode) {
    const std::unique_ptr<Backend> backend = device().make_backend({});
    Computation run(device().buffer_type());
    const Normed n(run);
    run.place(n.product);
    n.product->offset = n.a->offset + 200 * sizeof(float); // rows that other workgroups still read
    n.weight->offset = n.norm->offset + 600 * sizeof(float) + 128;
    backend->optimise(run.split);
    ASSERT_EQ(run.split.groups.size(), 1U);
    KernelLog log;
    run.compute(*backend, &log);
    EXPECT_EQ(log.kernels.size(), 2U);
}

TEST_F(Vulkan, NothingIsFusedWhenItIsSwitchedOff) {
    BackendOptions unfused;
    unfused.fusion = false;
    const std::unique_ptr<Backend> backend = device().make_backend(unfused);
    Computation run(device().buffer_type());
    run.place(Normed(run).product);
    backend->optimise(run.split);
    EXPECT_THAT(run.split.groups, IsEmpty());
}

TEST_F(Vulkan, LargeBatchesAreWorthOffloading) {
    Graph graph;
    Tensor* weight = graph.make(Type::F32, {64, 64, 1, 1});
    Tensor* product = ops::mul_mat(graph, weight, graph.input(Type::F32, {64, 32, 1, 1}));
    EXPECT_TRUE(device().wants_offload(*product, 32));
    EXPECT_FALSE(device().wants_offload(*product, 33));
}

// What the shaders support depends on features alone: asked without a device.

TEST(VulkanSupports, LeafsAndViewsAlways) {
    Graph graph;
    Tensor* leaf = graph.make(Type::Q6_K, {256, 4, 1, 1});
    EXPECT_TRUE(vulkan_supports_op({}, *leaf).yes);
    EXPECT_TRUE(vulkan_supports_op({}, *ops::view_1d(graph, leaf, 256, 0)).yes);
}

TEST(VulkanSupports, HalfFloatsNeedTheFeature) {
    Graph graph;
    Tensor* product = ops::mul_mat(graph, graph.make(Type::F16, {64, 8, 1, 1}), graph.input(Type::F32, {64, 2, 1, 1}));
    const Answer answer = vulkan_supports_op({.storage_16bit = false, .max_storage_range = 1U << 27U}, *product);
    EXPECT_FALSE(answer.yes);
    EXPECT_EQ(answer.reason, Refusal::feature);
    EXPECT_TRUE(vulkan_supports_op(all_vulkan_features(), *product).yes);
}

TEST(VulkanSupports, TensorsBeyondTheStorageRangeAreTooLarge) {
    Graph graph;
    Tensor* product = ops::mul_mat(graph, graph.make(Type::F32, {1024, 1024, 1, 1}), graph.input(Type::F32, {1024, 2, 1, 1}));
    const Answer answer = vulkan_supports_op({.storage_16bit = true, .max_storage_range = 1U << 20U}, *product);
    EXPECT_EQ(answer.reason, Refusal::size_limit);
}

TEST(VulkanSupports, RefusalsSayWhatIsWrong) {
    Graph graph;
    Tensor* product = ops::mul_mat(graph, graph.make(Type::Q6_K, {256, 8, 1, 1}), graph.input(Type::F16, {256, 2, 1, 1}));
    const Answer answer = vulkan_supports_op(all_vulkan_features(), *product);
    EXPECT_EQ(answer.reason, Refusal::type);
    EXPECT_THAT(answer.detail, HasSubstr("source 1 of this type"));
}

} // namespace
} // namespace schedscope::test
