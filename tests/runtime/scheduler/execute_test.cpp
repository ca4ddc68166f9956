// Orders of queues, copies and waits that random runs found wrong, each as small as it gets. Devices work only when they are
// waited for.
#include "runtime/error.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/tensor/ops.h"
#include "tests/support/random/random_graph.h"
#include "tests/support/random/simulated_device.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

/// A lazy GPU, twice if wanted, over a CPU.
class Pair {
public:
    explicit Pair(DeviceTraits traits = {}, bool twice = false) {
        traits.name = "GPU";
        gpu_ = std::make_unique<SimulatedDevice>(traits, gpu_memory, std::set<const BufferType*>{&gpu_memory}, watch, 1);
        DeviceTraits cpu;
        cpu.name = "CPU";
        cpu.kind = DeviceKind::cpu;
        cpu_ = std::make_unique<SimulatedDevice>(cpu, host, std::set<const BufferType*>{&host}, watch, 1);
        backends.push_back(gpu_->make_backend({}));
        if (twice) {
            BackendOptions second;
            second.name = "GPU.1";
            backends.push_back(gpu_->make_backend(second));
        }
        backends.push_back(cpu_->make_backend({}));
    }
    Tensor* weight(const Shape& ne, const BufferType& memory, const std::string& name) {
        Tensor* t = weights_.make(Type::F32, ne, name);
        buffers_.push_back(memory.allocate(n_bytes(*t)));
        t->buffer = buffers_.back().get();
        t->buffer->usage = BufferUsage::weights;
        std::vector<float> values(static_cast<size_t>(n_elements(*t)));
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i);
        }
        tensor_write(*t, values.data(), 0, n_bytes(*t));
        return t;
    }

    Watch watch;
    SimulatedMemory gpu_memory{"GPU", false, SIZE_MAX, watch}, host{"Host", true, SIZE_MAX, watch};

private:
    std::unique_ptr<SimulatedDevice> gpu_, cpu_;
    TensorStore weights_;
    std::vector<std::unique_ptr<Buffer>> buffers_;

public:
    std::vector<std::unique_ptr<Backend>> backends;
};

std::vector<float> values_of(const Tensor& t) {
    std::vector<float> values(static_cast<size_t>(n_elements(t)));
    tensor_read(t, values.data(), 0, n_bytes(t));
    return values;
}

template <typename T> void write(const Tensor& t, const std::vector<T>& values) {
    tensor_write(t, values.data(), 0, values.size() * sizeof(T));
}

Tensor* output(Graph& g, Tensor* t) {
    t->flags |= flag_output;
    g.expand(t);
    return t;
}

class Transfers final : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override { kernels_before_graph.push_back(n_kernels); }
    StringId intern(std::string_view) override { return 0; }
    void keep(const Record& r) override {
        if (const auto* transfer = std::get_if<record::Transfer>(&r.fact); transfer != nullptr && transfer->experts >= 0) {
            experts.push_back(transfer->experts);
        }
        if (const auto* plan = std::get_if<record::PlanBegin>(&r.fact)) {
            stages.push_back(*plan->current_stage);
        }
        n_kernels += std::holds_alternative<record::Execute>(r.fact) ? 1 : 0;
    }
    std::vector<int> experts, kernels_before_graph, stages;
    int n_kernels = 0;
};

/// What ran of each split, as the executor tells it.
class Parts final : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view) override { return 0; }
    void keep(const Record& r) override {
        if (const auto* wait = std::get_if<record::Wait>(&r.fact)) {
            waits.push_back(*wait);
        }
    }
    void keep_part(const PartRecord& r) override {
        parts.push_back(r.part);
        parts.back().times = {};
        n_times.push_back(r.part.times.size());
    }
    std::vector<SplitPart> parts;
    std::vector<size_t> n_times; ///< [parts]
    std::vector<record::Wait> waits;
};

} // namespace

TEST(Execute, ExpertsAreChosenByIdsThatAreThemselvesCopiedIntoTheSplit) {
    DeviceTraits traits;
    traits.offloads = true;
    Pair devices(traits);
    Tensor* experts = devices.weight({2, 1, 4, 1}, devices.host, "experts"); // (0 1) (2 3) (4 5) (6 7)
    Graph g;
    Tensor* x = g.input(Type::F32, {2, 1, 2, 1}, "x");
    Tensor* ids = g.input(Type::I32, {1, 2, 1, 1}, "ids");
    Tensor* y = output(g, ops::mul_mat_id(g, experts, x, ids));
    SchedulerOptions options;
    options.offload_min_batch = 1;
    Scheduler scheduler(devices.backends, options);
    Transfers transfers;
    scheduler.set_recorder(&transfers);
    for (const int other : {1, 3}) { // the second time the copy of the ids still holds the first ones
        scheduler.plan(g);
        write<float>(*x, {1, 1, 1, 1});
        write<int32_t>(*ids, {0, other});
        scheduler.compute();
        EXPECT_THAT(values_of(*y), ElementsAre(1, static_cast<float>(4 * other + 1))) << other;
        scheduler.reset();
    }
    EXPECT_THAT(transfers.experts, ElementsAre(2, 2));
    EXPECT_EQ(devices.watch.first(), "");
}

TEST(Execute, ExpertsThatTwoProductsReadAreCopiedWhole) {
    DeviceTraits traits;
    traits.offloads = true;
    Pair devices(traits);
    Tensor* experts = devices.weight({2, 1, 4, 1}, devices.host, "experts");
    Graph g;
    Tensor* x = g.input(Type::F32, {2, 1, 1, 1}, "x");
    Tensor* ids = g.input(Type::I32, {1, 1, 1, 1}, "ids");
    Tensor* others = g.input(Type::I32, {1, 1, 1, 1}, "others");
    Tensor* y = output(g, ops::mul_mat_id(g, experts, x, ids));
    Tensor* z = output(g, ops::mul_mat_id(g, experts, x, others));
    SchedulerOptions options;
    options.offload_min_batch = 1;
    Scheduler scheduler(devices.backends, options);
    scheduler.plan(g);
    write<float>(*x, {1, 1});
    write<int32_t>(*ids, {0});
    write<int32_t>(*others, {3});
    scheduler.compute();
    EXPECT_THAT(values_of(*y), ElementsAre(1));
    EXPECT_THAT(values_of(*z), ElementsAre(13));
}

TEST(Execute, ACopyWaitsForOtherQueuesOfTheSameMemory) {
    // GPU still has to read `far` when GPU.1's copy of `host` is to take its place, in the one memory of both.
    Pair devices({}, true);
    Graph g;
    Tensor* x = g.input(Type::F32, {2, 1, 1, 1}, "x");
    Tensor* host = ops::scale(g, x, 3.0F);
    host->pinned = 2;
    g.expand(host);
    Tensor* far = ops::sqr(g, x);
    far->pinned = 1;
    Tensor* near = ops::cont(g, far);
    near->pinned = 0;
    g.expand(near);
    Tensor* sum = ops::sqr(g, host);
    sum->pinned = 1;
    g.expand(sum);
    Tensor* y = ops::add(g, sum, near);
    y->pinned = 0;
    output(g, y);
    Scheduler scheduler(devices.backends, {});
    scheduler.plan(g);
    write<float>(*x, {1, 2});
    scheduler.compute();
    EXPECT_THAT(values_of(*y), ElementsAre(10, 40));
    EXPECT_EQ(devices.watch.first(), "");
}

TEST(Execute, StagesGoRoundAndBeginAtZeroAfterASynchronise) {
    Pair devices;
    SchedulerOptions options;
    options.n_stages = 4;
    Scheduler scheduler(devices.backends, options);
    Transfers records;
    scheduler.set_recorder(&records);
    Graph g;
    Tensor* x = g.input(Type::F32, {4, 1, 1, 1}, "x");
    output(g, ops::sqr(g, x));
    const auto plan_and_run = [&](int times) {
        for (int i = 0; i < times; ++i) {
            scheduler.plan(g);
            write<float>(*x, {1, 2, 3, 4});
            scheduler.compute_async();
        }
    };
    plan_and_run(6);
    scheduler.synchronize(); // with a plan that may run again: the next one goes on
    plan_and_run(1);
    scheduler.reset();
    scheduler.synchronize();
    plan_and_run(2);
    scheduler.reset();
    EXPECT_THAT(records.stages, ElementsAre(0, 1, 2, 3, 0, 1, 2, 0, 1));
}

TEST(Execute, RecordsOfAnEvaluationAreCompleteBeforeTheNextIsPlanned) {
    Pair devices;
    SchedulerOptions options;
    options.n_stages = 4;
    options.kernel_times = KernelTimes::kernels;
    Scheduler scheduler(devices.backends, options);
    Transfers records;
    scheduler.set_recorder(&records);
    Tensor* factor = devices.weight({4, 2, 1, 1}, devices.gpu_memory, "factor");
    std::unique_ptr<Graph> before;
    for (int i = 1; i <= 3; ++i) {
        auto g = std::make_unique<Graph>();
        Tensor* x = g->input(Type::F32, {4, 1, 1, 1}, "x");
        Tensor* y = ops::mul_mat(*g, factor, x);
        for (int n = 0; n < 5 - i; ++n) { // each graph is shorter than the last
            y = ops::scale(*g, y, 2.0F);
        }
        output(*g, y);
        scheduler.plan(*g);
        before = std::move(g); // the graph before may go away
        write<float>(*x, {1, 1, 1, 1});
        scheduler.compute_async();
    }
    scheduler.synchronize();
    EXPECT_THAT(records.kernels_before_graph, ElementsAre(0, 5, 9));
    EXPECT_EQ(records.n_kernels, 12);
    scheduler.reset();
}

TEST(Execute, EachLevelOfTimesTakesThoseItNames) {
    using Level = std::optional<KernelTimes>;
    for (const Level level : {Level(), Level(KernelTimes::none), Level(KernelTimes::splits), Level(KernelTimes::kernels)}) {
        Pair devices;
        Graph g;
        Tensor* x = g.input(Type::F32, {2, 1, 1, 1}, "x");
        Tensor* far = ops::scale(g, ops::sqr(g, x), 3.0F);
        far->pinned = far->src[0]->pinned = 0;
        Tensor* near = output(g, ops::sqr(g, far));
        near->pinned = 1;
        SchedulerOptions options;
        options.kernel_times = level;
        Scheduler scheduler(devices.backends, options);
        Parts records;
        scheduler.set_recorder(&records);
        scheduler.plan(g);
        for (int i = 0; i < 2; ++i) {
            write<float>(*x, {1, 2});
            scheduler.compute();
        }
        ASSERT_EQ(records.parts.size(), 4U) << "two splits, twice";
        for (size_t i = 0; i < records.parts.size(); ++i) {
            const SplitPart& part = records.parts[i];
            const bool on_gpu = i % 2 == 0;
            const KernelTimes taken = level.value_or(on_gpu ? KernelTimes::splits : KernelTimes::kernels);
            EXPECT_EQ(part.backend, on_gpu ? 0 : 1);
            EXPECT_EQ(part.count, on_gpu ? 2 : 1) << "what ran is known at every level";
            EXPECT_EQ(part.kernels, records.parts[i % 2].kernels) << "a plan that runs again names the same list";
            EXPECT_EQ(part.start_ns && part.end_ns, taken != KernelTimes::none);
            EXPECT_EQ(part.end_ns > 0, taken != KernelTimes::none);
            EXPECT_LE(part.start_ns, part.end_ns);
            EXPECT_EQ(records.n_times[i], taken == KernelTimes::kernels ? static_cast<size_t>(part.count) : 0U);
        }
        ASSERT_NE(records.parts[0].kernels, nullptr);
        EXPECT_EQ(records.parts[0].kernels->back().last, far->id);
        EXPECT_EQ(records.parts[1].kernels->back().last, near->id);
    }
}

/// Weights in the host's memory are copied on the device's queue, each in front of a split of its own.
TEST(Execute, SplitsThatAreQueuedOneBehindTheOtherAreTimedEachByItself) {
    for (const KernelTimes level : {KernelTimes::splits, KernelTimes::kernels}) {
        Pair devices;
        Graph g;
        Tensor* x = g.input(Type::F32, {64, 64, 1, 1}, "x");
        for (int i = 0; i < 3; ++i) {
            x = ops::mul_mat(g, devices.weight({64, 64, 1, 1}, devices.host, "w" + std::to_string(i)), x);
            x->pinned = 0;
        }
        output(g, x);
        SchedulerOptions options;
        options.kernel_times = level;
        Scheduler scheduler(devices.backends, options);
        Parts records;
        scheduler.set_recorder(&records);
        scheduler.plan(g);
        scheduler.compute();
        ASSERT_EQ(records.parts.size(), 3U);
        for (size_t i = 0; i + 1 < 3; ++i) {
            EXPECT_LT(records.parts[i].start_ns, records.parts[i].end_ns);
            EXPECT_LE(records.parts[i].end_ns, records.parts[i + 1].start_ns) << "the queue does one after the other";
        }
    }
}

TEST(Execute, ThatACopyWaitsForItsStageIsRecorded) {
    Pair devices;
    Graph g;
    Tensor* x = g.input(Type::F32, {4, 1, 1, 1}, "x");
    Tensor* z = g.input(Type::F32, {4, 1, 1, 1}, "z");
    Tensor* y = ops::mul_mat(g, devices.weight({4, 4, 1, 1}, devices.host, "first"), x);
    Tensor* w = ops::mul_mat(g, devices.weight({4, 4, 1, 1}, devices.host, "second"), y);
    Tensor* sum = output(g, ops::add(g, w, z));
    y->pinned = w->pinned = sum->pinned = 0;
    SchedulerOptions options;
    options.n_stages = 4;
    Scheduler scheduler(devices.backends, options);
    Parts records;
    scheduler.set_recorder(&records);
    scheduler.plan(g);
    scheduler.compute();
    ASSERT_FALSE(records.waits.empty());
    EXPECT_EQ(records.waits.front().split, 1) << "its input from the user overwrites what the queue may read";
    EXPECT_EQ(records.waits.front().backend, 0);
}

TEST(Execute, AnOperatorInPlaceOutOfReachOfItsMemoryIsRefused) {
    Pair devices;
    Graph g;
    Tensor* x = g.input(Type::F32, {4, 1, 1, 1}, "x");
    Tensor* y = ops::sqr(g, x);
    y->name = "y";
    y->pinned = 1;
    Tensor* clamped = ops::clamp(g, y, 0, 1);
    clamped->name = "clamped";
    clamped->pinned = 0;
    output(g, clamped);
    Scheduler scheduler(devices.backends, {});
    try {
        scheduler.plan(g);
        FAIL() << "must be refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
        EXPECT_THAT(error.what(), HasSubstr("'clamped' (CLAMP) would run on GPU and write into 'y' in memory of Host"));
    }
}
