#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/host_memory.h"
#include "runtime/error.h"
#include "runtime/planner/recorder.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"
#include "tests/support/random/random_graph.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>

// What the scheduler makes of backends' optimise steps: orders that are wrong, groups in planned memory.
namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

/// The CPU with an optimise step that is up to no good.
class Meddling final : public Backend {
public:
    Meddling(std::unique_ptr<Backend> inner, std::function<void(std::vector<Tensor*>&)> meddle)
        : inner_(std::move(inner)), meddle_(std::move(meddle)) {}
    std::string_view name() const noexcept override { return inner_->name(); }
    Device& device() const noexcept override { return inner_->device(); }
    void optimise(SplitGraph& split) override { meddle_(split.nodes); }
    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override {
        inner_->compute(split, first, count, log);
    }

private:
    std::unique_ptr<Backend> inner_;
    std::function<void(std::vector<Tensor*>&)> meddle_;
};

class WrongOrder : public ::testing::Test {
protected:
    /// What the scheduler says of the order; empty: nothing.
    std::string plan(const std::function<void(std::vector<Tensor*>&)>& meddle) {
        std::vector<std::unique_ptr<Backend>> backends;
        backends.push_back(std::make_unique<Meddling>(device_->make_backend({1, false, {}}), meddle));
        Scheduler scheduler(backends, {});
        try {
            scheduler.plan(graph_);
        } catch (const Error& e) {
            return e.what();
        }
        scheduler.reset(); // the graph is planned again by another one
        return "";
    }
    Tensor* named(Tensor* t, const char* name) {
        t->name = name;
        graph_.expand(t);
        return t;
    }
    static void put_last(std::vector<Tensor*>& nodes, const Tensor* t) {
        const auto at = std::find(nodes.begin(), nodes.end(), t);
        std::rotate(at, at + 1, nodes.end());
    }

    std::unique_ptr<Device> device_ = make_cpu_device();
    Graph graph_;
    Tensor* cache_ = graph_.input(Type::F32, {64, 32, 1, 1}, "cache");
    Tensor* write_ = named(
        ops::set_rows(graph_, cache_, graph_.input(Type::F32, {64, 4, 1, 1}), graph_.input(Type::I64, {4, 1, 1, 1})), "write");
    Tensor* read_ = named(ops::cont(graph_, ops::view_2d(graph_, cache_, 64, 4, cache_->nb[1], 0)), "read");
    Tensor* more_ = named(ops::sqr(graph_, read_), "more");
    Tensor* alone_ = named(ops::sqr(graph_, graph_.input(Type::F32, {64, 1, 1, 1})), "alone");
};

TEST_F(WrongOrder, IsSeenWhereASourceComesBehind) {
    EXPECT_THAT(plan([&](auto& nodes) { put_last(nodes, read_); }), HasSubstr("put 'more' before its source 'read'"));
}
TEST_F(WrongOrder, IsSeenWhereACacheIsReadBeforeItIsWritten) {
    EXPECT_THAT(plan([&](auto& nodes) { put_last(nodes, write_); }),
                HasSubstr("put 'read' before a node that uses the same memory, 'write'"));
}
TEST_F(WrongOrder, IsSeenWhereANodeIsMissing) {
    EXPECT_THAT(plan([&](auto& nodes) { nodes.pop_back(); }), HasSubstr("left out nodes"));
    EXPECT_THAT(plan([&](auto& nodes) { nodes.back() = nodes.front(); }), HasSubstr("left out nodes"));
}
TEST_F(WrongOrder, IsNotSeenWhereNothingIsWrong) {
    EXPECT_EQ(plan([&](auto& nodes) { std::rotate(nodes.begin(), nodes.end() - 1, nodes.end()); }), "");
    EXPECT_EQ(plan([](auto&) {}), "");
}

/// Keeps what ran and what was found.
class FactsRecorder final : public Recorder {
public:
    std::map<std::string, int> found, ran;

    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override {
        texts_.emplace_back(text);
        return static_cast<StringId>(texts_.size());
    }
    void keep(const Record& record) override {
        if (const auto* fusion = std::get_if<record::Fusion>(&record.fact)) {
            ++found[texts_[static_cast<size_t>(fusion->kernel - 1)]];
        } else if (const auto* run = std::get_if<record::Execute>(&record.fact); run != nullptr && run->count > 1) {
            // A group whose weights are multiplied in whole numbers says so in its kernel's name.
            const std::string& kernel = texts_[static_cast<size_t>(run->kernel - 1)];
            ++ran[kernel.substr(0, kernel.find("_int8"))];
        }
    }

private:
    std::vector<std::string> texts_;
};

/// Outputs and caches of the graph, computed in memory as the scheduler plans it. Numbers, not bytes: zero has two signs.
std::vector<std::vector<float>> results(uint32_t seed, bool fusion, FactsRecorder& facts) {
    RandomGraph random(fusable_chains(), {seed, 30, 1 + seed % 7});
    const std::unique_ptr<Device> device = make_cpu_device();
    random.model.give_memory([&]() -> const BufferType& { return device->buffer_type(); });
    std::vector<std::unique_ptr<Backend>> backends;
    backends.push_back(device->make_backend({2, fusion, {}}));
    Scheduler scheduler(backends, {});
    scheduler.set_recorder(&facts);
    scheduler.plan(random.graph);
    for (const Tensor* leaf : random.graph.leafs()) {
        fill(*leaf, seed);
    }
    scheduler.compute();
    std::vector<std::vector<float>> all;
    for (const Tensor* t : random.results()) {
        std::vector<std::byte> bytes(n_bytes(*t));
        tensor_read(*t, bytes.data(), 0, bytes.size());
        std::vector<float>& values = all.emplace_back(static_cast<size_t>(n_elements(*t)));
        for (int64_t r = 0; r < n_rows(*t); ++r) {
            row_to_float(t->type, bytes.data() + static_cast<size_t>(r) * t->nb[1], values.data() + r * t->ne[0], t->ne[0]);
        }
    }
    return all;
}

TEST(PlannedMemory, IsMadeSoThatGroupsRunAndGiveTheSameNumbers) {
    std::map<std::string, int> kernels;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        FactsRecorder apart, fused;
        const auto expected = results(seed, false, apart);
        EXPECT_TRUE(results(seed, true, fused) == expected) << "seed " << seed;
        EXPECT_TRUE(apart.found.empty());
        EXPECT_EQ(fused.ran, fused.found) << "seed " << seed;
        for (const auto& [kernel, n] : fused.ran) {
            kernels[kernel] += n;
        }
    }
    EXPECT_EQ(kernels.size(), 9U);
    EXPECT_GT(kernels["gate_up"], 50);
}

} // namespace
} // namespace schedscope::test
