// Work under way on a device: several submissions, copies among them, events, staged memory.

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/host_memory.h"
#include "runtime/clock.h"
#include "runtime/tensor/ops.h"
#include "tests/support/vulkan_devices.h"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

namespace schedscope::test {
namespace {

std::vector<float> counting(size_t n, float step = 1) {
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
        values[i] = step * static_cast<float>(i % 250 + 1);
    }
    return values;
}

/// A tensor alone in a buffer.
class Held {
public:
    Held(Graph& graph, Device& device, int64_t n)
        : tensor(graph.make(Type::F32, {n, 1, 1, 1})), buffer_(device.buffer_type().allocate(n_bytes(*tensor))) {
        tensor->buffer = buffer_.get();
    }
    Held(Graph& graph, std::vector<float>& host)
        : tensor(graph.make(Type::F32, {static_cast<int64_t>(host.size()), 1, 1, 1})),
          buffer_(wrap_host_memory(host.data(), host.size() * sizeof(float))) {
        tensor->buffer = buffer_.get();
    }
    void set(const std::vector<float>& values) const { tensor_write(*tensor, values.data(), 0, values.size() * sizeof(float)); }
    std::vector<float> get() const {
        std::vector<float> values(static_cast<size_t>(n_elements(*tensor)));
        tensor_read(*tensor, values.data(), 0, values.size() * sizeof(float));
        return values;
    }
    Tensor* tensor;

private:
    std::unique_ptr<Buffer> buffer_;
};

/// target = factor × source, as a split.
struct Scaling {
    Scaling(Graph& graph, const Held& source, const Held& target, float factor) {
        Tensor* node = ops::scale(graph, source.tensor, factor);
        node->buffer = target.tensor->buffer;
        split.nodes = {node};
    }
    void start(Backend& backend, KernelLog* log = nullptr) const { backend.compute(split, 0, 1, log); }
    SplitGraph split;
};

/// As the device is, and as a discrete one: with memory that the host does not address.
class VulkanQueue : public OnVulkan<::testing::TestWithParam<bool>> {
protected:
    Device& device() const { return *vulkan_devices(GetParam()).front(); }
    std::unique_ptr<Backend> backend() const { return device().make_backend({}); }
    static constexpr int64_t n = 10000;
};

TEST_P(VulkanQueue, SubmissionsRunInTheOrderInWhichTheyWereStarted) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n);
    const Scaling there(g, a, b, 2.0F), back(g, b, a, 1.5F);
    a.set(counting(n));
    const std::unique_ptr<Backend> queue = backend();
    for (int i = 0; i < 9; ++i) { // more than are under way at a time
        there.start(*queue);
        back.start(*queue);
    }
    queue->synchronize();
    EXPECT_EQ(a.get(), counting(n, 19683)); // 3^9
}

TEST_P(VulkanQueue, EachStartedComputationReportsItsOwnKernels) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n);
    const Scaling scaling(g, a, b, 2.0F);
    const std::unique_ptr<Backend> queue = backend();
    scaling.start(*queue); // compiles the shader
    queue->synchronize();
    std::vector<KernelLog> logs(6);
    const int64_t before = now_ns();
    for (KernelLog& log : logs) {
        scaling.start(*queue, &log);
    }
    queue->synchronize();
    const int64_t after = now_ns();
    int64_t last = before;
    for (const KernelLog& log : logs) {
        ASSERT_EQ(log.kernels.size(), 1U);
        EXPECT_EQ(log.kernels[0].kernel, "unary_f32");
        EXPECT_GE(log.kernels[0].start_ns, before);
        EXPECT_LE(log.kernels[0].start_ns, log.kernels[0].end_ns);
        EXPECT_LE(log.kernels[0].end_ns, after);
        EXPECT_GE(log.kernels[0].end_ns, last);
        last = log.kernels[0].end_ns;
    }
}

TEST_P(VulkanQueue, OfAComputationThatIsSpannedTheDeviceSaysHowLongItRan) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n);
    const Scaling scaling(g, a, b, 2.0F);
    const std::unique_ptr<Backend> queue = backend();
    std::vector<KernelLog> logs(6);
    const int64_t before = now_ns();
    for (KernelLog& log : logs) {
        log.timed = false;
        log.spanned = true;
        scaling.start(*queue, &log);
    }
    queue->synchronize();
    const int64_t after = now_ns();
    int64_t last = before, sum = 0;
    for (const KernelLog& log : logs) {
        ASSERT_EQ(log.kernels.size(), 1U);
        EXPECT_EQ(log.kernels[0].end_ns, 0) << "of the whole, not of each";
        EXPECT_LE(before, log.start_ns);
        EXPECT_LT(log.start_ns, log.end_ns);
        EXPECT_LE(log.end_ns, after);
        EXPECT_GE(log.end_ns, last);
        last = log.end_ns;
        sum += log.end_ns - log.start_ns;
    }
    EXPECT_LE(sum, after - before) << "one after the other";
}

TEST_P(VulkanQueue, CopiesTakeTheirTurnAmongComputations) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n), c(g, device(), n);
    const Scaling first(g, a, b, 2.0F), second(g, c, a, 5.0F);
    a.set(counting(n));
    const std::unique_ptr<Backend> queue = backend();
    first.start(*queue);
    ASSERT_TRUE(queue->copy_async(*b.tensor, *c.tensor)); // reads what is being computed
    second.start(*queue);                                 // reads what is being copied
    ASSERT_TRUE(queue->copy_async(*a.tensor, *b.tensor)); // overwrites what was read
    queue->synchronize();
    EXPECT_EQ(c.get(), counting(n, 2));
    EXPECT_EQ(a.get(), counting(n, 10));
    EXPECT_EQ(b.get(), counting(n, 10));
}

TEST_P(VulkanQueue, HostMemoryIsTakenAlongWhereItMustBeStaged) {
    constexpr int64_t large = 5 << 20; // 20 MiB: more than a submission stages
    Graph g;
    std::vector<float> host = counting(large);
    const std::vector<float> sent = host;
    const Held source(g, host), target(g, device(), large), result(g, device(), large);
    const Scaling scaling(g, target, result, 1.0F);
    target.set(std::vector<float>(large, 7));
    const std::unique_ptr<Backend> queue = backend();
    scaling.start(*queue); // still reads what the copy overwrites
    const bool staged = queue->copy_async(*source.tensor, *target.tensor);
    EXPECT_EQ(staged, GetParam());
    if (staged) {
        std::fill(host.begin(), host.end(), 0.0F); // the bytes were taken
        queue->synchronize();
        EXPECT_TRUE(target.get() == sent);
        EXPECT_THAT(result.get().front(), 7);
        EXPECT_THAT(result.get().back(), 7);
    }
    queue->synchronize();
}

TEST_P(VulkanQueue, OnlyItsOwnDevicesMemoryIsCopiedTo) {
    Graph g;
    std::vector<float> host(64);
    const Held source(g, device(), 64), target(g, host);
    EXPECT_FALSE(backend()->copy_async(*source.tensor, *target.tensor));
}

TEST_P(VulkanQueue, AnEventIsReachedWhenWhatWasStartedBeforeItIsDone) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n);
    const Scaling scaling(g, a, b, 3.0F);
    a.set(counting(n));
    const std::unique_ptr<Backend> queue = backend();
    const std::unique_ptr<Event> event = queue->make_event();
    ASSERT_NE(event, nullptr);
    queue->synchronize(*event); // never recorded: nothing to wait for
    scaling.start(*queue);
    ASSERT_TRUE(queue->copy_async(*b.tensor, *a.tensor));
    queue->record(*event);
    queue->synchronize(*event);
    EXPECT_EQ(a.get(), counting(n, 3));
    queue->synchronize(*event); // reached already
}

TEST_P(VulkanQueue, AnotherBackendOfTheDeviceWaitsForAnEvent) {
    Graph g;
    const Held a(g, device(), n), b(g, device(), n), c(g, device(), n);
    const Scaling first(g, a, b, 2.0F), second(g, b, c, 2.0F);
    a.set(counting(n));
    const std::unique_ptr<Backend> one = backend(), other = backend();
    const std::unique_ptr<Event> done = one->make_event();
    for (int i = 0; i < 20; ++i) {
        b.set(std::vector<float>(n, 0));
        first.start(*one);
        one->record(*done);
        other->wait(*done);
        second.start(*other);
        other->synchronize();
        ASSERT_EQ(c.get(), counting(n, 4));
    }
}

TEST_P(VulkanQueue, BuffersLargerThanTheStagingRingComeBackWhole) {
    constexpr size_t bytes = (size_t{17} << 20U) + 3;
    std::vector<uint8_t> written(bytes);
    for (size_t i = 0; i < bytes; ++i) {
        written[i] = static_cast<uint8_t>(i * 2654435761U >> 13U);
    }
    const std::unique_ptr<Buffer> buffer = device().buffer_type().allocate(bytes + 5);
    buffer->clear(0xA5);
    buffer->write(4, written.data(), bytes);
    std::vector<uint8_t> read(bytes + 5);
    buffer->read(0, read.data(), read.size());
    EXPECT_THAT(std::vector<uint8_t>(read.begin(), read.begin() + 4), ::testing::Each(0xA5));
    EXPECT_TRUE(std::equal(written.begin(), written.end(), read.begin() + 4));
    EXPECT_EQ(read.back(), 0xA5) << "the last byte, which is no whole word's";
}

TEST_P(VulkanQueue, BuffersOfOneDeviceObjectAreNotAnothers) {
    Graph g;
    const Held mine(g, device(), 64), others(g, *vulkan_devices(!GetParam()).front(), 64);
    EXPECT_FALSE(backend()->copy_async(*mine.tensor, *others.tensor));
    EXPECT_FALSE(mine.tensor->buffer->copy_from(0, *others.tensor->buffer, 0, 64));
}

INSTANTIATE_TEST_SUITE_P(Memory, VulkanQueue, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Staged" : "AsItIs"; });

} // namespace
} // namespace schedscope::test
