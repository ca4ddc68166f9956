// Another program's trace says neither settings nor parts of a model: llama.cpp's names do. Against our own runs, whose tensors
// are named so, without both.
#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/error.h"
#include "runtime/planner/device_profile.h"
#include "tests/support/paths.h"
#include "traces/replay/foreign/llama_age.h"
#include "traces/replay/foreign/named_parts.h"
#include "traces/replay/levers.h"
#include "traces/replay/no_change.h"
#include "traces/replay/plan_change.h"
#include "traces/store/reading/reader.h"

#include <gmock/gmock.h>

#include <map>

namespace schedscope {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class OtherProgram : public ForwardedSource {
public:
    using ForwardedSource::ForwardedSource;
    SessionInfo session() const override {
        SessionInfo session = ForwardedSource::session();
        session.settings.reset();
        return session;
    }
    /// A scheduler asks who takes work over only of what reads a weight in host memory.
    const CapabilityTable& answers(GraphId id) const override {
        const auto [at, is_new] = answers_.try_emplace(id, ForwardedSource::answers(id));
        if (is_new) {
            const SessionInfo session = this->session();
            for (TensorId t = 0; t < n_of(graph(id).tensors); ++t) {
                const bool asked = OpQuestion::about(graph(id).view(), t, session.buffer_types).reads_host_weight;
                for (BackendId b = 0; b < n_of(session.backends) && !asked; ++b) {
                    at->second.set_offload(b, t, false);
                }
            }
        }
        return at->second;
    }

protected:
    void change(OwnedGraph& graph) const override {
        for (TensorInfo& t : graph.tensors) {
            t.role = Role::none;
            t.layer = -1;
        }
    }

private:
    mutable std::map<GraphId, CapabilityTable> answers_;
};

/// One that leaves the norms of its prompts to the scheduler, whatever it was given.
class UnpinnedPrompts final : public OtherProgram {
public:
    UnpinnedPrompts(const RecordSource& source, GraphKind kind) : OtherProgram(source), kind_(kind) {}
    EvaluationSpan evaluation(EvaluationId id) const override {
        EvaluationSpan span = OtherProgram::evaluation(id);
        span.begin.kind = span.begin.kind == GraphKind::prefill ? kind_ : span.begin.kind;
        return span;
    }

private:
    const GraphKind kind_;
    void change(OwnedGraph& graph) const override {
        OtherProgram::change(graph);
        const bool is_prompt = (*graph.tensors[graph.nodes.front()].ne)[1] > 1;
        for (TensorInfo& t : graph.tensors) {
            t.user_backend = is_prompt ? no_backend : t.user_backend;
        }
    }
};

const std::vector<std::string> named_models{"tiny",       "tied",          "stretched",  "qwen3/tiny",
                                            "gemma/tiny", "qwen3moe/tiny", "falcon/tiny"};

class NamedParts : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(WhatIf, NamedParts, ::testing::ValuesIn(each_on_each(named_models, {"vulkan0,cpu"})), name_of);

TEST_P(NamedParts, AnswerNumbersOfLayersAndTheCachesPlace) {
    for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
        for (const int n_prompt : {8, 40}) {
            for (const auto& [from, from_on_host, to, to_on_host] : {std::tuple{0, false, 3, false},
                                                                     {3, false, 99, false},
                                                                     {99, false, 0, false},
                                                                     {2, true, 4, false},
                                                                     {3, false, 3, true},
                                                                     {99, true, 1, true}}) {
                Planned before = planned(from, n_prompt), after = planned(to, n_prompt);
                before.flash = after.flash = flash;
                before.cache_on_host = from_on_host;
                after.cache_on_host = to_on_host;
                SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
                const auto own = recorded(before);
                std::vector<std::string> settings{"ngl=" + std::to_string(to)};
                if (from_on_host != to_on_host) {
                    settings.emplace_back(to_on_host ? "nkvo=on" : "nkvo=off");
                }
                expect_equal(OtherProgram(*own), settings, *recorded(after));
            }
        }
    }
}

TEST_P(NamedParts, AnswerOverrides) {
    Planned before = planned(3, 40), after = before;
    before.flash = after.flash = FlashAttention::on;
    after.overrides = {"blk\\.3\\.ffn_(up|down).*=cpu", "token_embd=vulkan0"};
    const auto own = recorded(before);
    expect_equal(OtherProgram(*own), {"ot=" + after.overrides[0], "ot=" + after.overrides[1]}, *recorded(after));
}

std::string refusal(const RecordSource& source, const std::string& setting) {
    try {
        answer(source, {setting});
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.what();
    }
    return "understood";
}

Planned on_described(int32_t n_gpu_layers) {
    Planned s;
    s.devices = "big=vulkan:1GiB,cpu";
    s.n_gpu_layers = n_gpu_layers;
    s.flash = FlashAttention::on;
    return s;
}

/// A number in a name is somebody else's text.
TEST(NamedBlocks, AreNoMoreThanThereAreTensors) {
    OwnedGraph graph;
    for (const char* name : {"blk.0.a", "blk.1.a", "blk.2147483647.a", "blk.2000000000.a"}) {
        TensorInfo t;
        t.name = graph.keep(name);
        t.usage = BufferUsage::weights;
        t.buffer_type = 0;
        graph.tensors.push_back(t);
    }
    EXPECT_EQ(n_named_blocks(graph), 2);
    name_parts(graph);
    SessionInfo session;
    session.backends.emplace_back().kind = "cpu";
    session.buffer_types.emplace_back().is_host = true;
    EXPECT_EQ(asked_placement(graph, session)->n_gpu_layers, 0);
}

/// What llama.cpp's builds do otherwise, by what a program says of its own.
TEST(LlamaAge, IsThatOfTheBuild) {
    const auto age = [](const std::string& builds, const std::string& min_batch) {
        SessionInfo session;
        session.facts = {{"build", builds}, {"GGML_OP_OFFLOAD_MIN_BATCH", min_batch}};
        return llama_age_of(session);
    };
    EXPECT_EQ(age("b4754..b6300", "").output_first, false);
    EXPECT_EQ(age("b6302..b8178", "").output_first, std::nullopt);
    EXPECT_EQ(age("b8180..", "").output_first, true);
    EXPECT_EQ(age("", "").output_first, std::nullopt);
    EXPECT_EQ(age("b8180..", "41").offload_min_batch, 41);
    EXPECT_EQ(age("b4754..b6300", "41").offload_min_batch, std::nullopt) << "which does not read it";
    for (const char* no_number : {"", "-1", "64x", "-9223372036854775808", "99999999999"}) {
        EXPECT_EQ(age("b8180..", no_number).offload_min_batch, std::nullopt) << no_number;
    }
    EXPECT_FALSE(age("b4754..b6300", "").reads_min_batch);
}

TEST(NamedPartsThatDoNotSayIt, AreRefusedWithWhatCanBeSet) {
    Planned elsewhere = on_described(99);
    elsewhere.overrides = {"ffn_up=cpu"};
    const auto own = recorded(elsewhere);
    EXPECT_THAT(refusal(OtherProgram(*own), "ngl=3"),
                AllOf(HasSubstr("do not lie as -ngl and -nkvo alone put them"),
                      HasSubstr("what can be set: device-order, refuse, stages, op-offload, offload-min-batch")));
    const TensorId embedding = first_graph(*own).nodes.front();
    EXPECT_THAT(levers_in_words(levers_of(OtherProgram(*own), 0, embedding)),
                ::testing::ElementsAre("on big with token_embd.weight in big memory"))
        << "no number of layers moves it";
}

TEST(NamedPartsThatDoNotSayIt, LeaveThatPlanAsItWas) {
    const auto own = recorded(on_described(99));
    const ReplayResult result = answer(UnpinnedPrompts(*own, GraphKind::prefill), {"ngl=2"});
    ASSERT_EQ(result.comparisons.size(), 2U);
    const PlanComparison &prompt = result.comparisons[0], &token = result.comparisons[1];
    EXPECT_THAT(prompt.stays_as_recorded, HasSubstr("ngl=2: weights, caches and pinned nodes do not lie as"));
    for (const TensorChange& change : prompt.changes) { // as other rules put it there: the records are of pinned ones
        EXPECT_EQ(change.now_backend, change.recorded_backend) << change.name;
    }
    EXPECT_EQ(prompt.now.nodes, prompt.recorded.nodes);
    EXPECT_EQ(token.stays_as_recorded, "");
    EXPECT_FALSE(token.changes.empty());
}

/// llama.cpp with -fa auto looks where flash attention would run; what it asked for is not known.
TEST(NamedPartsWithFlashAttention, AreToldOfWhatAutoDoes) {
    Planned s = on_described(3);
    s.n_prompt = 1;
    const auto own = recorded(s);
    const PlanComparison token = answer(OtherProgram(*own), {"offload-min-batch=1"}).comparisons.front();
    EXPECT_THAT(token.flash_caveat,
                HasSubstr(" would run on big, and its layer's weights lie in CPU: with -fa auto llama.cpp does without"));
    EXPECT_EQ(answer(OtherProgram(*own), {"ngl=2"}).comparisons.front().flash_caveat, "") << "each runs where its cache lies";
    EXPECT_EQ(answer(*own, {"offload-min-batch=1"}).comparisons.front().flash_caveat, "") << "a run of ours says what it does";
    s.n_prompt = 8;
    const auto prompt = recorded(s);
    EXPECT_NE(answer(OtherProgram(*prompt), {"offload-min-batch=1"}).comparisons.front().flash_caveat, "");
    EXPECT_EQ(answer(OtherProgram(*prompt), {"offload-min-batch=5"}).comparisons.front().flash_caveat, "")
        << "llama.cpp looks at a graph of one token, from which nothing is offloaded then";
}

/// It looks once, and does without flash attention in all graphs: also in those that run as they did.
TEST(NamedPartsWithFlashAttention, AreToldOfItInEachGraph) {
    const auto own = recorded(on_described(3));
    const OtherProgram other(*own);
    const ReplayResult result = answer(other, {"offload-min-batch=1"});
    ASSERT_EQ(result.comparisons.size(), 2U);
    EXPECT_TRUE(result.comparisons[0].changes.empty()) << "40 tokens were offloaded before";
    const std::string told = "with -fa auto llama.cpp does without flash attention then, as evaluation 1 tells";
    EXPECT_THAT(result.comparisons[0].flash_caveat, HasSubstr(told));
    EXPECT_THAT(result.comparisons[1].flash_caveat, HasSubstr(" would run on big"));

    WhatIf what_if;
    what_if.set("offload-min-batch=1");
    ReplayOptions options = options_for(what_if, other);
    options.only = 0;
    EXPECT_THAT(replay(other, options).comparisons.at(0).flash_caveat, HasSubstr(told)) << "of this one alone";
    EXPECT_EQ(answer(other, {"offload-min-batch=5"}).comparisons[0].flash_caveat, "");
}

/// ggml forgets what was pinned where a graph is planned for its size alone (ggml_backend_sched_reserve_size).
TEST(NamedPartsThatAreNotPinned, AreKnownOfReserves) {
    const auto own = recorded(on_described(99));
    const UnpinnedPrompts other(*own, GraphKind::reserve);
    EXPECT_EQ(answer(other, {"ngl=99"}).comparisons.front().now.nodes, answer(other, {}).comparisons.front().recorded.nodes);
    const PlanComparison reserve = answer(other, {"ngl=2"}).comparisons.front();
    EXPECT_EQ(reserve.stays_as_recorded, "");
    EXPECT_GT(reserve.now.nodes.at("CPU"), reserve.recorded.nodes.at("CPU"));
}

/// What a device's memory comes to is as exact as the compute buffer in it.
TEST(NamedPartsAndMemory, AreAboutWhereAComputeBufferIs) {
    const TraceReader source(paths::sample("llama-cpp"));
    int n_about = 0, n_exact = 0;
    for (const char* setting : {"nkvo=on", "ngl=0", "ngl=2"}) {
        for (const PlanComparison& plan : answer(source, {setting}).comparisons) {
            std::map<std::string, bool> differs;
            for (const Measure& m : measures_of(plan)) {
                differs[m.name] = m.a != m.b;
            }
            for (const MemoryFit& fit : memory_fits(plan, source.session())) {
                if (fit.backend != "CPU") { // in whose memory others allocate, too
                    EXPECT_EQ(fit.is_about, plan.now.about && differs["compute buffer of " + fit.backend]) << setting;
                    ++(fit.is_about ? n_about : n_exact);
                }
            }
        }
    }
    EXPECT_GT(n_about, 0);
    EXPECT_GT(n_exact, 0);
}

/// llama.cpp with all layers on a device keeps nothing in the host's plain memory, and none of that is recorded; a change may put
/// the KV cache there.
TEST(NamedPartsAndMemory, TheHostsPlainMemoryIsTheHostsThoughNothingLayInIt) {
    SessionInfo session;
    session.backends.resize(2);
    session.backends[0].name = "Vulkan0";
    session.backends[0].kind = "gpu";
    session.backends[0].default_buffer_type = 0;
    session.backends[1].name = "CPU";
    session.backends[1].kind = "cpu";
    session.buffer_types.resize(2);
    session.buffer_types[0].name = "Vulkan0";
    session.buffer_types[1].name = "CPU_Mapped";
    session.buffer_types[1].is_host = true;
    PlanComparison plan;
    plan.recorded.by_buffer_type = {{"CPU_Mapped", 7}, {"Vulkan0", 200}};
    plan.now.by_buffer_type = {{"CPU", 100}, {"CPU_Mapped", 7}, {"Vulkan0", 100}};
    const std::vector<MemoryFit> fits = memory_fits(plan, session);
    ASSERT_EQ(fits.size(), 2U);
    EXPECT_EQ(fits[0].now, 100);
    EXPECT_EQ(fits[1].recorded, 7);
    EXPECT_EQ(fits[1].now, 107);
}

TEST(NamedPartsOfLevers, CountLayersAsLlamaCppDoes) {
    const auto own = recorded(on_described(3));
    const OtherProgram other(*own);
    const OwnedGraph& graph = first_graph(*own);
    EXPECT_THAT(levers_in_words(levers_of(other, 0, graph.nodes.front())),
                ::testing::ElementsAre("on big with -ot 'token_embd\\.weight=big'"));
    bool is_said = false, is_batch_said = false;
    for (const TensorId node : graph.nodes) {
        const FoundLevers levers = levers_of(other, 0, node), known = levers_of(*own, 0, node);
        const auto of_layers = [](const FoundLevers& of) {
            std::vector<std::vector<std::string>> settings;
            for (const Lever& lever : of.found) {
                if (lever.settings.size() == 1 && lever.settings[0].starts_with("ngl=")) {
                    settings.push_back(lever.settings);
                }
            }
            return settings;
        };
        EXPECT_EQ(of_layers(levers), of_layers(known)) << graph.tensors[node].name;
        for (const Lever& lever : levers.found) {
            is_said |= lever.words == "-ngl 5 or more (3 now: block 0 of 4 is not offloaded)";
            is_batch_said |= lever.words == "GGML_OP_OFFLOAD_MIN_BATCH=41"; // llama.cpp has no option for it
            EXPECT_THAT(lever.words, Not(HasSubstr("--offload-min-batch")));
        }
    }
    EXPECT_TRUE(is_said && is_batch_said);
}

TEST(NamedPartsOfLevers, WhyNothingChangesIsSaid) {
    const auto own = recorded(on_described(3));
    const auto other = std::make_shared<OtherProgram>(*own);
    for (const auto& [setting, why] :
         {std::pair{"ngl=3", "ngl=3: each layer stays on the device where it was"},
          {"nkvo=off", "nkvo=off: it lies with its layers already"},
          {"ot=token_embd=cpu", "ot=token_embd=cpu: the weights that it places lie there already"}}) {
        EXPECT_EQ(answer(*other, {setting}).n_differences, 0);
        WhatIf what_if;
        what_if.set(setting);
        EXPECT_THAT(why_nothing_changed(what_if, other), ::testing::ElementsAre(HasSubstr(why)));
    }
}

/// A recording of llama.cpp itself: with the layers that it has nothing changes.
TEST(NamedPartsOfLlamaCpp, SayWhatItWasGiven) {
    const TraceReader source(paths::sample("llama-cpp"));
    bool is_said = false;
    for (int32_t n = 0; n <= 6; ++n) {
        const ReplayResult result = answer(source, {"ngl=" + std::to_string(n)});
        is_said |= result.n_differences == 0;
        EXPECT_GT(result.compared, 100);
        for (const PlanComparison& plan : result.comparisons) {
            for (const auto* figures : {&plan.recorded, &plan.now}) {
                EXPECT_THAT(figures->memory, Contains(::testing::Key(::testing::StartsWith("KV cache in "))));
            }
        }
    }
    EXPECT_TRUE(is_said);
}

} // namespace
} // namespace schedscope
