// Token after token of the same shape: the graph is used again, nothing is planned, and nothing is taken from the heap.
#include "tests/runtime/context/steady/heap_count.h"

#include "runtime/sampling/make_chain.h"
#include "tests/support/models/made_model.h"
#include "tests/support/models/reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>

using namespace schedscope;
using namespace schedscope::test;

namespace {

/// Numbers texts, counts records and drops them.
class Dropping final : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override { ++n_graphs; }
    StringId intern(std::string_view text) override {
        const auto found = numbers_.find(text);
        return found != numbers_.end() ? found->second
                                       : numbers_.emplace(text, static_cast<StringId>(numbers_.size())).first->second;
    }
    void keep(const Record&) override { ++n_records; }

    int64_t n_graphs = 0;
    int64_t n_records = 0;

private:
    std::map<std::string, StringId, std::less<>> numbers_;
};

struct Loop {
    std::string devices;
    FlashAttention flash;
    bool recorded;
    bool experts = false; ///< and their products are offered to the device
};

void PrintTo(const Loop& loop, std::ostream* out) {
    *out << loop.devices << (loop.recorded ? " recorded" : "") << (loop.experts ? " experts" : "");
}

class SteadyDecode : public ::testing::TestWithParam<Loop> {
protected:
    static constexpr int32_t n_warm = 20, n_counted = 100; // with the prompt less than the 256 cells of a graph

    /// The validation layer is C++, too, so that its allocations would look like ours.
    static void SetUpTestSuite() { setenv("SCHEDSCOPE_VULKAN_VALIDATION", "0", 1); }

    SteadyDecode() {
        SynthShape shape = small_shape();
        shape.n_embd = 512; // wide enough that a node is worth more than one thread
        shape.n_ff = 1024;
        if (GetParam().experts) {
            shape.n_expert = 4;
            shape.n_expert_used = 2;
            options_.offload_min_batch = 1;
        }
        options_.devices = GetParam().devices;
        options_.n_gpu_layers = 2; // and the first block on the CPU: splits, copies and waits
        options_.flash_attention = GetParam().flash;
        options_.n_threads = 2;
        options_.sampling.temperature = 0.0F;
        options_.sampling.ignore_eos = true;
        file_ = made_model(shape);
    }

    static void decode(Session& session, SamplerChain& chain, Batch& batch, int32_t position) {
        const int32_t token = chain.choose(session.context().logits(0));
        chain.accept(token);
        batch.clear();
        batch.kind = GraphKind::decode;
        batch.add(token, position, only_sequence(0), true);
        session.context().decode(batch);
    }

    Registry registry_;
    RunOptions options_;
    std::shared_ptr<gguf::File> file_;
    Dropping dropping_;
};

TEST_P(SteadyDecode, BuildsPlansAndAllocatesNothing) {
    NEEDS_DEVICES(registry_, GetParam().devices);
    Session session(registry_, file_, options_, GetParam().recorded ? &dropping_ : nullptr);
    SamplerChain chain = make_chain(session.sampling(), 1);
    Batch batch;
    batch.add(1, 0, only_sequence(0), true);
    session.context().decode(batch);
    for (int32_t position = 1; position < n_warm; ++position) {
        decode(session, chain, batch, position);
    }
    const Whose whose = GetParam().devices == "cpu" ? Whose::everybodys : Whose::ours;
    const Graph* graph = session.context().graph();
    const int32_t n_reused = session.context().n_reused();
    const int64_t n_graphs = dropping_.n_graphs, n_records = dropping_.n_records;
    const long before = heap_allocations(whose);
    watch_allocations(true);
    for (int32_t position = n_warm; position < n_warm + n_counted; ++position) {
        decode(session, chain, batch, position);
    }
    watch_allocations(false);
    EXPECT_EQ(heap_allocations(whose), before);
    EXPECT_EQ(session.context().graph(), graph);
    EXPECT_EQ(session.context().n_reused(), n_reused + n_counted);
    EXPECT_EQ(dropping_.n_graphs, n_graphs);
    EXPECT_EQ(dropping_.n_records > n_records, GetParam().recorded);
}

TEST_P(SteadyDecode, NorDoesItWhenItSamplesInTheGraph) {
    NEEDS_DEVICES(registry_, GetParam().devices);
    Session session(registry_, file_, options_, GetParam().recorded ? &dropping_ : nullptr);
    InferenceContext& context = session.context();
    const auto chain = std::make_shared<SamplerChain>(parse_chain("top_k=9;top_p=0.9;temp=0.8;dist", session.sampling(), 1));
    context.set_sampler(0, chain);
    Batch batch;
    const auto decode_next = [&](int32_t token, int32_t position) {
        batch.clear();
        batch.kind = GraphKind::decode;
        batch.add(token, position, only_sequence(0), true);
        context.decode(batch);
        return chain->choose(context.sampling().sampled(0));
    };
    int32_t token = 1;
    for (int32_t position = 0; position < n_warm; ++position) {
        token = decode_next(token, position);
    }
    const Whose whose = GetParam().devices == "cpu" ? Whose::everybodys : Whose::ours;
    const int32_t n_reused = context.n_reused();
    const long before = heap_allocations(whose);
    watch_allocations(true);
    for (int32_t position = n_warm; position < n_warm + n_counted; ++position) {
        token = decode_next(token, position);
    }
    watch_allocations(false);
    EXPECT_EQ(heap_allocations(whose), before);
    EXPECT_EQ(context.n_reused(), n_reused + n_counted);
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, SteadyDecode,
    ::testing::Values(Loop{"cpu", FlashAttention::on, false}, Loop{"cpu", FlashAttention::on, true},
                      Loop{"cpu", FlashAttention::off, false}, Loop{"cpu", FlashAttention::off, true},
                      Loop{"vulkan0,cpu", FlashAttention::on, false}, Loop{"vulkan0,cpu", FlashAttention::on, true},
                      Loop{"vulkan0,cpu", FlashAttention::off, false}, Loop{"vulkan0,cpu", FlashAttention::off, true},
                      Loop{"cpu", FlashAttention::on, true, true}, Loop{"vulkan0,cpu", FlashAttention::on, true, true}));

TEST(HeapCount, SeesWhatIsTakenByNewAndByMalloc) {
    for (const Whose whose : {Whose::everybodys, Whose::ours}) {
        const long before = heap_allocations(whose);
        const auto made = std::make_unique<std::string>(100, 'x');
        EXPECT_EQ(heap_allocations(whose), before + 2);
        void* memory = std::aligned_alloc(64, 64);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(heap_allocations(whose), before + 3);
        std::free(memory);
    }
}

} // namespace
