// What differs between two traces: each kind of difference is found, and nothing else; equal ones are identical.
#include "runtime/error.h"
#include "tests/support/paths.h"
#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/corpus_run.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/sample_run.h"
#include "traces/diff/diff.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/time.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>

#include <bit>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

namespace schedscope {
namespace {

using namespace test;
using diff::What;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::set<std::string>;

/// Changes what a run writes on its way into the trace.
class Changing final : public Recorder {
public:
    LiveStore& store;
    std::function<bool(Record&, Recorder&)> record = [](Record&, Recorder&) { return true; }; ///< false: it is left out
    std::function<void(OwnedGraph&)> change_graph = [](OwnedGraph&) {};

    explicit Changing(LiveStore& store) : store(store) {}
    void session(const SessionInfo& info) override { store.session(info); }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override {
        OwnedGraph copy = OwnedGraph::copy_of(graph);
        change_graph(copy);
        store.graph(id, copy.view(), answers);
    }
    StringId intern(std::string_view text) override { return store.intern(text); }
    void keep(const Record& r) override {
        Record copy = r;
        if (record(copy, *this)) {
            copy.step = store.n_steps();
            store.keep(copy);
        }
    }
};

using Store = std::shared_ptr<LiveStore>;

/// A prompt, its repetition, and a decode, on two backends.
void run_on(Recorder& recorder, int n_stages = 1) {
    SampleRun run(recorder, session({"Vulkan0", "CPU"}), n_stages);
    run.evaluate(blocks(3, 40, 2));
    run.evaluate_again();
    run.evaluate(blocks(3, 1, 2), GraphKind::decode);
    run.evaluate_again();
}

Store plain(int n_stages = 1) {
    auto store = std::make_shared<LiveStore>();
    run_on(*store, n_stages);
    return store;
}

/// The run with the first record of a kind that fits changed.
template <typename T>
Store with(const std::function<void(T&, Recorder&)>& change, const std::function<bool(const T&)>& fits = {}) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    bool done = false;
    changing.record = [&](Record& r, Recorder& recorder) {
        if (auto* f = std::get_if<T>(&r.fact); f != nullptr && !done && (!fits || fits(*f))) {
            change(*f, recorder);
            done = true;
        }
        return true;
    };
    run_on(changing);
    EXPECT_TRUE(done);
    return store;
}

/// The run without the first record of a kind.
template <typename T> Store without() {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    bool done = false;
    changing.record = [&](Record& r, Recorder&) { return !std::holds_alternative<T>(r.fact) || std::exchange(done, true); };
    run_on(changing);
    EXPECT_TRUE(done);
    return store;
}

/// The run with a tensor of the first graph changed.
Store with_tensor(const std::string& name, const std::function<void(TensorInfo&, OwnedGraph&)>& change) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    bool done = false;
    changing.change_graph = [&](OwnedGraph& graph) {
        for (TensorInfo& t : graph.tensors) {
            if (t.name == name && !done) {
                change(t, graph);
                done = true;
            }
        }
    };
    run_on(changing);
    EXPECT_TRUE(done);
    return store;
}

diff::Result compared(const Store& a, const Store& b, const diff::DiffOptions& options = {}) {
    History history_a(a), history_b(b);
    return diff::compare(history_a, history_b, options);
}

Measure measured(const Store& a, const Store& b, const std::string& name) {
    const diff::Result result = compared(a, b);
    for (const Measure& m : result.summaries.at(0).measures) {
        if (m.name == name) {
            return m;
        }
    }
    ADD_FAILURE() << "no " << name;
    return {};
}

/// "assignment of Qcur-0" of each difference.
Names found(const diff::Result& result) {
    Names names;
    for (const diff::TraceDifference& d : result.differences) {
        names.insert(std::string(diff::what_name(d.what)) + " of " + d.subject);
    }
    return names;
}
Names found_in(const Store& changed) { return found(compared(plain(), changed)); }

TEST(Diff, ARunAgainIsIdentical) {
    for (const int n_stages : {1, 4}) {
        const diff::Result result = compared(plain(n_stages), plain(n_stages));
        EXPECT_THAT(found(result), IsEmpty());
        EXPECT_TRUE(result.identical());
        EXPECT_EQ(result.evaluations, 4);
        EXPECT_GT(result.decisions, 300);
        EXPECT_THAT(result.settings, IsEmpty());
    }
}

TEST(Diff, AnyRunAgainIsIdentical) {
    const auto any = [] {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "Vulkan1", "CPU"}), 2);
        for (uint32_t seed = 0; seed < 30; ++seed) {
            run.evaluate(test::random_sketch({seed, 60, 1 + seed % 8}, run.session()));
        }
        return store;
    };
    EXPECT_THAT(found(compared(any(), any())), IsEmpty());
}

TEST(Diff, EveryCaseOfTheCorpusIsIdenticalToItself) {
    for_each_corpus_case(5, [&](const corpus::Case& c) {
        const auto recorded = [&] {
            auto store = std::make_shared<LiveStore>();
            record_case(c, *store);
            return store;
        };
        const diff::Result result = compared(recorded(), recorded());
        ASSERT_THAT(found(result), IsEmpty()) << c.name;
        ASSERT_GT(result.decisions, 0) << c.name;
    });
}

TEST(Diff, TimesMakeNoDifference) {
    const auto slower = with<record::SplitRun>([](record::SplitRun& f, Recorder&) { *f.start_ns -= 3600 * int64_t{1000000000}; });
    const diff::Result result = compared(plain(), slower);
    EXPECT_TRUE(result.identical());
    ASSERT_FALSE(result.times.empty());
    EXPECT_EQ(result.times.front().what, "total");
    EXPECT_GT(result.times.front().b_ns, result.times.front().a_ns);
}

/// The times of splits, in order.
std::vector<diff::Time> times_of_splits(const diff::Result& result) {
    std::vector<diff::Time> times = result.times;
    std::erase_if(times, [](const diff::Time& t) { return t.what != "split"; });
    return times;
}

TEST(Diff, ATotalIsTheTimeOfItsEvaluationsFromBeginToEnd) {
    const Store store = plain();
    History history(store);
    int64_t ns = 0, tokens = 0;
    for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
        const record::EvaluationBegin begin = history.evaluation(id).begin;
        if (begin.kind == GraphKind::prefill) {
            ns += accounts::time_extent(history, history.plan(id)).time_ns();
            tokens += begin.n_tokens.value();
        }
    }
    const diff::Result result = compared(store, store);
    EXPECT_EQ(result.times.at(0).name, "prefill");
    EXPECT_EQ(result.times.at(0).a_ns, ns);
    const std::vector<Measure>& measures = result.summaries.at(0).measures;
    EXPECT_EQ(measures.back().name, "time per token, mean of all pairs");
    EXPECT_EQ(measures.back().a, Amount(ns / tokens));
}

TEST(Diff, WhatRanWithoutATimeIsNotTimedAndItsEvaluationIs) {
    auto untimed = std::make_shared<LiveStore>();
    SampleRun run(*untimed, session({"Vulkan0", "CPU"}));
    run.kernel_times = KernelTimes::none;
    run.evaluate(blocks(3, 40, 2));
    const diff::Result result = compared(plain(), untimed);
    EXPECT_GT(result.times.at(0).b_ns, 0);
    const std::vector<diff::Time> splits = times_of_splits(result);
    ASSERT_FALSE(splits.empty());
    EXPECT_TRUE(splits[0].a_ns && !splits[0].b_ns && splits[0].b_runs == 1);
    EXPECT_EQ(compared(untimed, untimed).times.at(1).what, "split") << "that neither of them timed";
}

TEST(Diff, TimesOfSplitsAreCalledByTheNodeThatTheyBeginAt) {
    const auto moved = with<record::SplitBegin>([](record::SplitBegin& f, Recorder&) { ++*f.first_node, ++*f.node; },
                                                [](const record::SplitBegin& f) { return f.index == 1; });
    std::vector<diff::Time> times = times_of_splits(compared(plain(), moved));
    std::erase_if(times, [](const diff::Time& t) { return t.eval_a != 0 || (t.a_index && t.b_index); });
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].a_index, 1);
    EXPECT_EQ(times[1].b_index, 1);
    EXPECT_TRUE(times[0].name.starts_with("split at ") && times[1].name.starts_with("split at "));
    EXPECT_NE(times[0].name, times[1].name);
    EXPECT_TRUE(times[0].a_ns && !times[0].b_ns && !times[1].a_ns && times[1].b_ns);
}

TEST(Diff, SettingsMakeNoDifferenceAndAreSaid) {
    const auto on = [](const std::string& architecture) {
        auto store = std::make_shared<LiveStore>();
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.facts.back().second = architecture;
        info.facts.emplace_back(architecture, "yes");
        SampleRun run(*store, info);
        run.evaluate(blocks(2, 4, 2));
        return store;
    };
    const diff::Result result = compared(on("llama"), on("qwen3"));
    EXPECT_TRUE(result.identical());
    ASSERT_EQ(result.settings.size(), 3U);
    EXPECT_EQ(result.settings[0].name, "architecture");
    EXPECT_EQ(result.settings[0].a, "llama");
    EXPECT_EQ(result.settings[0].b, "qwen3");
    EXPECT_EQ(result.settings[1].b, std::nullopt);
    EXPECT_EQ(result.settings[2].a, std::nullopt);
}

TEST(Diff, ASeedThatNoSamplerUsedIsNoSetting) {
    const auto seeded = [](const char* seed, const char* sampler) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [sampler](Record& r, Recorder& recorder) {
            if (auto* f = std::get_if<record::Sample>(&r.fact); f != nullptr && f->backend == no_backend) {
                f->sampler = recorder.intern(sampler);
            }
            return true;
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.facts.emplace_back("seed", seed);
        SampleRun(changing, info).evaluate(blocks(1, 4, 2));
        return store;
    };
    EXPECT_THAT(compared(seeded("1", "greedy"), seeded("2", "greedy")).settings, IsEmpty());
    for (const char* random : {"dist", "mirostat", "mirostat_v2", "xtc"}) {
        const diff::Result result = compared(seeded("1", "greedy"), seeded("2", random));
        ASSERT_EQ(result.settings.size(), 1U) << random;
        EXPECT_EQ(result.settings[0].name, "seed");
    }
}

TEST(Diff, Assignments) {
    const auto of_norm = [](const record::Assign& f) { return f.cause == Cause::supported; };
    const diff::Result result =
        compared(plain(), with<record::Assign>([](record::Assign& f, Recorder&) { f.after = f.after == 0 ? 1 : 0; }, of_norm));
    ASSERT_EQ(result.differences.size(), 1U);
    const diff::TraceDifference& d = result.differences.front();
    EXPECT_EQ(d.what, What::assignment);
    EXPECT_EQ(d.a, diff::DiffValue("Vulkan0"));
    EXPECT_EQ(d.b, diff::DiffValue("CPU"));
    EXPECT_EQ(d.note, "by 2.sup");
    EXPECT_EQ(d.eval_a, 0);
    EXPECT_EQ(d.eval_b, 0);
    EXPECT_EQ(d.id_a, d.id_b);

    const auto cause = with<record::Assign>([](record::Assign& f, Recorder&) { f.cause = Cause::best; }, of_norm);
    EXPECT_EQ(found_in(cause), Names{"cause of " + d.subject});
    const auto pass = with<record::Assign>([](record::Assign& f, Recorder&) { f.pass = Pass::refine; }, of_norm);
    EXPECT_EQ(found_in(pass), Names{"pass of " + d.subject});
}

TEST(Diff, Splits) {
    const auto second = [](const record::SplitBegin& f) { return f.index == 1; };
    const Names names =
        found_in(with<record::SplitBegin>([](record::SplitBegin& f, Recorder&) { f.why = SplitReason::full; }, second));
    ASSERT_EQ(names.size(), 1U);
    EXPECT_TRUE(names.begin()->starts_with("split of "));
    EXPECT_EQ(found_in(with<record::SplitInput>([](record::SplitInput& f, Recorder&) { f.from = f.from == 0 ? 1 : 0; })),
              Names{"input of inp_embd"});
    auto store = std::make_shared<LiveStore>(); // one input less in the first split that has any
    Changing changing(*store);
    int32_t shortened = -1;
    changing.record = [&](Record& r, Recorder&) {
        const auto* input = std::get_if<record::SplitInput>(&r.fact);
        if (auto* end = std::get_if<record::SplitEnd>(&r.fact); end != nullptr && end->index == shortened) {
            --end->n_inputs;
            shortened = INT32_MAX;
        }
        return input == nullptr || std::exchange(shortened, shortened < 0 ? input->split : shortened) >= 0;
    };
    run_on(changing);
    EXPECT_EQ(found_in(store), Names{"input of inp_embd"});
    EXPECT_THAT(found_in(without<record::SplitInput>()), IsEmpty()) << "announced, and not known";
}

/// A node in between goes to the host, and what is behind it becomes a split of its own, which reads what the first one read.
TEST(Diff, AnInputThatIsInAnotherSplitNowIsToldWithBoth) {
    const auto with_key_weight_on = [](BufferTypeId home) {
        auto store = std::make_shared<LiveStore>();
        OwnedGraph graph = blocks(3, 4, 2);
        for (TensorInfo& t : graph.tensors) {
            t.buffer_type = t.name == "blk.0.attn_k.weight" ? home : t.buffer_type;
        }
        SampleRun(*store, session({"Vulkan0", "CPU"})).evaluate(std::move(graph));
        return store;
    };
    const diff::Result result = compared(with_key_weight_on(0), with_key_weight_on(1));
    Names inputs;
    for (const diff::TraceDifference& d : result.differences) {
        if (d.what == What::input) {
            inputs.insert(d.subject);
            EXPECT_EQ(d.a, diff::DiffValue("from CPU")) << d.subject;
            EXPECT_EQ(d.b, diff::DiffValue("from CPU")) << d.subject;
            EXPECT_EQ(d.note, "of the split that begins at norm-0 in a, of the split that begins at Qcur-0 in b") << d.subject;
            EXPECT_NE(more_of(d, "split_a"), more_of(d, "split_b"));
        }
    }
    EXPECT_EQ(inputs, (Names{"inp_pos", "KQ_mask"}));
    const diff::Result turned = compared(with_key_weight_on(1), with_key_weight_on(0));
    EXPECT_EQ(std::count_if(turned.differences.begin(), turned.differences.end(),
                            [](const diff::TraceDifference& d) { return d.what == What::input && d.a == d.b; }),
              2);
}

TEST(Diff, ASplitThatBeginsElsewhereIsAnother) {
    const auto moved = with<record::SplitBegin>([](record::SplitBegin& f, Recorder&) { ++*f.first_node, ++*f.node; },
                                                [](const record::SplitBegin& f) { return f.index == 1; });
    const diff::Result result = compared(plain(), moved);
    ASSERT_EQ(result.differences.size(), 2U);
    EXPECT_EQ(result.differences[0].what, What::split);
    EXPECT_EQ(result.differences[0].b, diff::DiffValue());
    EXPECT_EQ(result.differences[1].what, What::split);
    EXPECT_EQ(result.differences[1].a, diff::DiffValue());
}

TEST(Diff, Copies) {
    EXPECT_EQ(found_in(with<record::CopyMade>([](record::CopyMade& f, Recorder&) { *f.bytes += 1; })), Names{"copy of inp_embd"});
    const diff::Result result = compared(plain(1), plain(4));
    const auto staged = [](const diff::TraceDifference& d) { return d.what == What::copy && d.a == diff::DiffValue(); };
    EXPECT_GT(std::count_if(result.differences.begin(), result.differences.end(), staged), 3);
}

TEST(Diff, FusionAndOrder) {
    const Names fused = found_in(with<record::Fusion>([](record::Fusion& f, Recorder& r) { f.kernel = r.intern("other"); }));
    EXPECT_EQ(fused, Names{"fusion of norm-0"});
    EXPECT_EQ(found_in(without<record::Fusion>()), Names{"fusion of norm-0"});
    const Names not_fused = found_in(with<record::NotFused>([](record::NotFused& f, Recorder& r) { f.why = r.intern("other"); }));
    ASSERT_EQ(not_fused.size(), 1U);
    EXPECT_TRUE(not_fused.begin()->starts_with("not_fused of "));

    // Neighbours that one backend exchanged and the other did not: one of them moved.
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    int left_out = 0;
    changing.record = [&](Record& r, Recorder&) { return !std::holds_alternative<record::Reorder>(r.fact) || ++left_out > 2; };
    run_on(changing);
    const diff::Result result = compared(plain(), store);
    const auto moved = [](const diff::TraceDifference& d) { return d.what == What::reorder; };
    EXPECT_EQ(std::count_if(result.differences.begin(), result.differences.end(), moved), 1);
}

/// A program that does not say what it fuses has no groups that the other would lack.
TEST(Diff, WhatOneTraceDoesNotKnowOfFusionAndOrderIsNoDifference) {
    auto silent = std::make_shared<LiveStore>();
    Changing changing(*silent);
    changing.record = [](Record& r, Recorder&) {
        return !std::holds_alternative<record::Fusion>(r.fact) && !std::holds_alternative<record::NotFused>(r.fact) &&
               !std::holds_alternative<record::Reorder>(r.fact);
    };
    SessionInfo info = session({"Vulkan0", "CPU"});
    info.knows.lack(Topic::fusion);
    info.knows.lack(Topic::order);
    SampleRun run(changing, info);
    run.evaluate(blocks(3, 40, 2));
    const diff::Result result = compared(silent, plain());
    for (const diff::TraceDifference& d : result.differences) {
        EXPECT_TRUE(d.what != What::fusion && d.what != What::not_fused && d.what != What::reorder) << diff::what_name(d.what);
    }
    const auto& measures = result.summaries.at(0).measures;
    const auto groups = std::find_if(measures.begin(), measures.end(), [](const Measure& m) { return m.name == "fused groups"; });
    ASSERT_NE(groups, measures.end());
    EXPECT_EQ(groups->a, std::nullopt);
    ASSERT_TRUE(groups->b);
    EXPECT_GT(groups->b->n, 0);
}

TEST(Diff, Memory) {
    EXPECT_THAT(found_in(with<record::BufferSize>([](record::BufferSize& f, Recorder&) { f.size += 64; })),
                ElementsAre("buffer of Vulkan0"));
    EXPECT_THAT(found_in(with<record::Placement>([](record::Placement& f, Recorder&) { f.chunk = 1; })),
                ::testing::Contains("placement of inp_tokens"));
    EXPECT_EQ(found_in(with<record::Placement>([](record::Placement& f, Recorder&) { f.in_place_of = no_tensor; },
                                               [](const record::Placement& f) { return f.in_place_of != no_tensor; }))
                  .size(),
              1U);
    EXPECT_EQ(found_in(with<record::Reallocation>([](record::Reallocation& f, Recorder& r) { f.reason = r.intern("so"); })),
              Names{"replan of memory"});
}

/// On the host another program computes in memory that a device can read.
TEST(Diff, TheHostsComputeBuffersAreComparedWhateverTheirMemoryIsCalled) {
    const auto in = [](const char* memory, int64_t more) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [more](Record& r, Recorder&) {
            if (auto* f = std::get_if<record::BufferSize>(&r.fact); f != nullptr && f->buffer_type == 1) {
                f->size += more;
            }
            return true;
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.buffer_types[1].name = memory;
        SampleRun(changing, info).evaluate(blocks(3, 40, 2));
        return store;
    };
    const auto buffers = [](const diff::Result& result) {
        std::vector<diff::TraceDifference> all = result.differences;
        std::erase_if(all, [](const diff::TraceDifference& d) { return d.what != What::buffer && d.what != What::peak; });
        return all;
    };
    const diff::Result same = compared(in("CPU", 0), in("Vulkan_Host", 0));
    EXPECT_THAT(buffers(same), IsEmpty());
    EXPECT_TRUE(measured(in("CPU", 0), in("Vulkan_Host", 0), "CPU compute buffer").same()) << "as the summary says";
    const std::vector<diff::TraceDifference> larger = buffers(compared(in("CPU", 0), in("Vulkan_Host", 64)));
    ASSERT_EQ(larger.size(), 1U);
    EXPECT_EQ(larger[0].what, What::buffer);
    EXPECT_EQ(larger[0].subject, "CPU");
    EXPECT_EQ(larger[0].renamed, "Vulkan_Host");

    auto without = std::make_shared<LiveStore>(); // nothing on the host
    Changing changing(*without);
    changing.record = [](Record& r, Recorder&) {
        const auto* const size = std::get_if<record::BufferSize>(&r.fact);
        const auto* const place = std::get_if<record::Placement>(&r.fact);
        return (size == nullptr || size->buffer_type != 1) && (place == nullptr || place->buffer_type != 1);
    };
    SessionInfo info = session({"Vulkan0", "CPU"});
    info.buffer_types[1].name = "Vulkan_Host";
    SampleRun(changing, info).evaluate(blocks(3, 40, 2));
    const std::vector<diff::TraceDifference> one_sided = buffers(compared(without, in("CPU", 0)));
    ASSERT_FALSE(one_sided.empty());
    EXPECT_EQ(one_sided[0].subject, "CPU") << "which has no Vulkan_Host";
}

TEST(Diff, WhatGoesInAndWhatComesOut) {
    EXPECT_EQ(found_in(with<record::UbatchToken>([](record::UbatchToken& f, Recorder&) { f.token = 1; },
                                                 [](const record::UbatchToken& f) { return f.position == 5; })),
              Names{"prompt of token 5"});
    EXPECT_EQ(found_in(with<record::NextToken>([](record::NextToken& f, Recorder&) { f.token = 1; })),
              Names{"token of token 0 of sequence 0"});
    EXPECT_EQ(found_in(with<record::Sample>([](record::Sample& f, Recorder&) { f.backend = no_backend; })),
              Names{"sampler of token 0 of sequence 0"});
    EXPECT_EQ(
        found_in(with<record::EvaluationBegin>([](record::EvaluationBegin& f, Recorder& r) { f.failed_check = r.intern("x"); })),
        Names{"reuse of graph"});
    EXPECT_EQ(found_in(with<record::EvaluationEnd>([](record::EvaluationEnd& f, Recorder& r) {
                  f = {true, r.intern("lost")};
              })),
              Names{"failure of evaluation 0"});
}

TEST(Diff, TokensLeftOutOfATraceAreNoDifference) {
    EXPECT_THAT(found_in(with<record::NextToken>([](record::NextToken& f, Recorder&) { f.token.reset(), f.text.reset(); })),
                IsEmpty());
    EXPECT_THAT(found_in(with<record::UbatchToken>([](record::UbatchToken& f, Recorder&) { f.token.reset(); })), IsEmpty());
}

TEST(Diff, TokensWhoseIdsAreUnknownAreCountedAllTheSame) {
    auto silent = std::make_shared<LiveStore>(); // as another program's: how many there are is known
    Changing changing(*silent);
    changing.record = [](Record& r, Recorder&) { return !std::holds_alternative<record::UbatchToken>(r.fact); };
    SampleRun run(changing, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 8, 2));
    const auto prompt_of = [&](const Store& other) {
        for (const diff::TraceDifference& d : compared(silent, other).differences) {
            if (d.what == What::prompt) {
                return std::pair(value_texts(d).first, value_texts(d).second);
            }
        }
        return std::pair<std::string, std::string>();
    };
    EXPECT_EQ(prompt_of(plain()), std::pair(std::string("8"), std::string("40")));
    auto alike = std::make_shared<LiveStore>();
    SampleRun(*alike, session({"Vulkan0", "CPU"})).evaluate(blocks(3, 8, 2));
    EXPECT_EQ(prompt_of(alike), (std::pair<std::string, std::string>()));
}

TEST(Diff, TensorsOfTheGraph) {
    const auto change = [](const char* name, auto&& f) {
        return found_in(with_tensor(name, [f](TensorInfo& t, OwnedGraph&) { f(t); }));
    };
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { (*t.ne)[0] = 128; }), Names{"shape of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { t.type = Type::F16; }), Names{"type of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { (*t.nb)[2] += 4; }), Names{"layout of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { (*t.params)[3] = 9; }), Names{"parameters of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { t.flags = flag_output; }), Names{"flags of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { t.user_backend = 0; }), Names{"pinned of kq-1"});
    EXPECT_EQ(change("kq-1", [](TensorInfo& t) { std::swap(t.src[0], t.src[1]); }), Names{"source of kq-1"});
    EXPECT_EQ(change("inp_pos", [](TensorInfo& t) { t.buffer_type = 1; }), Names{"memory_home of inp_pos"});
}

TEST(Diff, APrecisionIsTheSameHoweverAProgramNumbersIt) {
    const auto with_precision = [](int32_t precision) {
        return with_tensor("kq-1", [precision](TensorInfo& t, OwnedGraph&) { (*t.params)[0] = precision; });
    };
    EXPECT_THAT(found(compared(with_precision(1), with_precision(10))), IsEmpty());
    EXPECT_EQ(found(compared(with_precision(0), with_precision(10))), Names{"parameters of kq-1"});
}

TEST(Diff, ParametersAreSaidByTheirNames) {
    const auto with_eps = [](float eps) {
        return with_tensor("norm-1", [eps](TensorInfo& t, OwnedGraph&) {
            (*t.params)[0] = std::bit_cast<int32_t>(eps);
            (*t.params)[1] = 0;
        });
    };
    const diff::Result result = compared(with_eps(1e-6F), with_eps(1e-5F));
    ASSERT_FALSE(result.differences.empty());
    EXPECT_EQ(result.differences[0].what, What::parameters);
    const auto [a, b] = value_texts(result.differences[0]);
    EXPECT_EQ(a, "eps 1e-06");
    EXPECT_EQ(b, "eps 1e-05");
}

TEST(Diff, RenamedTensorsAreNoDifference) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    changing.change_graph = [](OwnedGraph& graph) {
        for (TensorInfo& t : graph.tensors) {
            t.name = graph.keep("a tensor once called " + std::string(t.name));
        }
    };
    run_on(changing);
    EXPECT_THAT(found_in(store), IsEmpty());
}

TEST(Diff, ATensorThatOnlyOneHasIsSaidAndItsNeighboursAreNot) {
    const auto changed = with_tensor("kq_soft_max-1", [](TensorInfo& t, OwnedGraph&) { t.op = Op::CLAMP; });
    EXPECT_EQ(found_in(changed), (Names{"node of kq_soft_max-1", "source of kqv_out-1"}));
}

TEST(Diff, OneMoreLayerIsAllThatIsOnlyInOne) {
    const auto layers = [](int n) {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(n, 40, 1));
        return store;
    };
    const diff::Result result = compared(layers(3), layers(4));
    int nodes = 0;
    for (const diff::TraceDifference& d : result.differences) {
        if (d.what == What::node) {
            EXPECT_EQ(d.a, diff::DiffValue()) << d.subject;
            EXPECT_THAT(d.subject, ::testing::AnyOf(::testing::HasSubstr("-3"), ::testing::HasSubstr("blk.3."))) << d.subject;
            ++nodes;
        }
        EXPECT_NE(d.what, What::shape) << d.subject;
    }
    EXPECT_EQ(nodes, 16); // twelve nodes and four weights
}

TEST(Diff, EvaluationsArePairedByKindAndShape) {
    const auto run = [](std::initializer_list<std::pair<GraphKind, int>> evaluations) {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "CPU"}));
        for (const auto& [kind, tokens] : evaluations) {
            run.evaluate(blocks(1, tokens, 2), kind);
        }
        return store;
    };
    constexpr GraphKind prefill = GraphKind::prefill, decode = GraphKind::decode;
    const auto pairs = [&](const Store& a, const Store& b) { return diff::pair_evaluations(*a, *b); };
    const Store both = run({{prefill, 4}, {decode, 1}, {decode, 1}});
    using Pair = std::pair<EvaluationId, EvaluationId>;
    EXPECT_THAT(pairs(both, both), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
    EXPECT_THAT(pairs(both, run({{prefill, 4}, {prefill, 2}, {decode, 1}})),
                ElementsAre(Pair(0, 0), Pair(-1, 1), Pair(1, 2), Pair(2, -1)));
    EXPECT_THAT(pairs(run({{prefill, 8}, {prefill, 2}}), run({{prefill, 4}, {prefill, 4}, {prefill, 2}})),
                ElementsAre(Pair(0, 0), Pair(-1, 1), Pair(1, 2)));
    EXPECT_EQ(found(compared(both, run({{prefill, 4}, {decode, 1}}))),
              (Names{"evaluation of evaluation 2", "token of token 2 of sequence 0"}));
}

/// Evaluations of these kinds and numbers of tokens; without a kind it is known of neither.
Store evaluations(const std::vector<std::pair<std::optional<GraphKind>, int>>& of, const std::vector<std::string>& backends,
                  std::optional<int32_t> n_outputs = 1) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    size_t next = 0;
    changing.record = [&](Record& r, Recorder&) {
        if (auto* f = std::get_if<record::EvaluationBegin>(&r.fact)) {
            f->kind = of[next++].first;
            f->n_tokens = f->kind ? f->n_tokens : std::nullopt;
            f->n_outputs = n_outputs;
        }
        return true;
    };
    SampleRun run(changing, session(backends));
    for (const auto& [kind, tokens] : of) {
        run.evaluate(blocks(1, tokens, 2));
    }
    return store;
}

TEST(Diff, EvaluationsArePairedByWhatTheyAreWhereverTheyCameFrom) {
    constexpr GraphKind prefill = GraphKind::prefill, decode = GraphKind::decode, reserve = GraphKind::reserve;
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const auto pairs = [](const Store& a, const Store& b) { return diff::pair_evaluations(*a, *b); };
    const std::vector<std::string> names{"Vulkan0", "CPU"};
    const Store ours = evaluations({{prefill, 40}, {decode, 1}, {decode, 1}}, names);
    // Another program reserves memory by evaluations of their own, warms up, and does not say how many outputs there are.
    const Store other =
        evaluations({{reserve, 512}, {reserve, 1}, {prefill, 2}, {prefill, 40}, {decode, 1}}, names, std::nullopt);
    EXPECT_THAT(pairs(ours, other), ElementsAre(Pair(-1, 2), Pair(0, 3), Pair(1, 4), Pair(2, -1)));
    EXPECT_THAT(pairs(other, ours), ElementsAre(Pair(2, -1), Pair(3, 0), Pair(4, 1), Pair(-1, 2)));
    EXPECT_THAT(pairs(other, other), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3), Pair(4, 4)));
    // Of equal shapes the most, in order, whatever lies between.
    const Store many = evaluations({{prefill, 8}, {prefill, 16}, {prefill, 24}, {prefill, 32}}, names),
                few = evaluations({{prefill, 5}, {prefill, 16}, {prefill, 32}, {prefill, 6}}, names);
    EXPECT_THAT(pairs(many, few), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, -1), Pair(3, 2), Pair(-1, 3)));
}

TEST(Diff, ReservesArePairedByWhatTheyReserveFor) {
    struct Reserved {
        int n_tokens;
        bool is_encoder = false;
    };
    const auto reserves = [](const std::vector<Reserved>& of) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        size_t next = 0;
        changing.change_graph = [&](OwnedGraph& graph) {
            for (const TensorId node : of[next].is_encoder ? graph.nodes : std::vector<TensorId>()) {
                graph.tensors[static_cast<size_t>(node)].op = Op::NORM;
            }
        };
        SampleRun run(changing, session({"Vulkan0", "CPU"}));
        for (; next < of.size(); ++next) {
            run.evaluate(blocks(1, of[next].n_tokens, 2), GraphKind::reserve);
        }
        return store;
    };
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const auto pairs = [&](const std::vector<Reserved>& a, const std::vector<Reserved>& b) {
        return diff::pair_evaluations(*reserves(a), *reserves(b));
    };
    constexpr Reserved prompt{512}, token{1}, image{64, true};
    EXPECT_THAT(pairs({prompt, token, image}, {token, image, prompt}), ElementsAre(Pair(0, 2), Pair(1, 0), Pair(2, 1)));
    EXPECT_THAT(pairs({prompt, token, prompt}, {token, prompt}), ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, -1)));
    EXPECT_THAT(pairs({prompt}, {token}), ElementsAre(Pair(0, -1), Pair(-1, 0)));
    EXPECT_THAT(pairs({prompt}, {{512, true}}), ElementsAre(Pair(0, -1), Pair(-1, 0))) << "an encoder's";
    EXPECT_THAT(pairs({token, {16}, prompt}, {token, {16}, {256}}), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)))
        << "the largest of each";
    EXPECT_THAT(pairs({token, {16}, prompt}, {token, {64}, prompt}),
                ElementsAre(Pair(0, 0), Pair(1, -1), Pair(-1, 1), Pair(2, 2)));
}

TEST(Diff, AReserveIsNoPlanOfALogThatSaysWhatItReserves) {
    constexpr GraphKind decode = GraphKind::decode, reserve = GraphKind::reserve;
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const std::vector<std::string> names{"Vulkan0", "CPU"};
    const Store recording = evaluations({{reserve, 1}, {reserve, 1}, {decode, 1}}, names),
                log = evaluations({{reserve, 1}, {std::nullopt, 1}}, names);
    EXPECT_THAT(diff::pair_evaluations(*recording, *log), ElementsAre(Pair(0, 0), Pair(1, -1), Pair(2, 1)));
    EXPECT_THAT(diff::pair_evaluations(*log, *recording), ElementsAre(Pair(0, 0), Pair(-1, 1), Pair(1, 2)));
}

/// Where a log lost its number of tokens.
TEST(Diff, AReserveOfUnknownSizeIsTheFirstThatIsPlannedAlike) {
    const auto reserves = [](std::initializer_list<std::optional<int>> of) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        bool said = true;
        changing.record = [&](Record& r, Recorder&) {
            if (auto* f = std::get_if<record::EvaluationBegin>(&r.fact); f != nullptr && !said) {
                f->n_tokens = f->n_sequences = f->n_outputs = std::nullopt;
            }
            return true;
        };
        SampleRun run(changing, session({"Vulkan0", "CPU"}));
        for (const std::optional<int> n_tokens : of) {
            said = n_tokens.has_value();
            run.evaluate(blocks(1, n_tokens.value_or(1), 2), GraphKind::reserve);
        }
        return store;
    };
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const Store log = reserves({std::nullopt, 512}), recording = reserves({512, 1});
    EXPECT_THAT(diff::pair_evaluations(*log, *recording), ElementsAre(Pair(0, 1), Pair(1, 0)));
    EXPECT_THAT(diff::pair_evaluations(*recording, *log), ElementsAre(Pair(0, 1), Pair(1, 0)));
}

/// A prompt and a token of it may be one graph, which is split in other places.
TEST(Diff, AGraphWhoseUseIsUnknownIsTheOneThatIsSplitAsItIs) {
    const auto run_on_backends = [&](std::initializer_list<std::pair<GraphKind, int>> of, bool said) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [&](Record& r, Recorder&) {
            if (auto* f = std::get_if<record::EvaluationBegin>(&r.fact); f != nullptr && !said) {
                f->kind.reset();
                f->n_tokens = f->n_sequences = f->n_outputs = std::nullopt;
            }
            return true;
        };
        SampleRun run(changing, session({"Vulkan0", "CPU"}));
        for (const auto& [kind, n_backends] : of) {
            run.evaluate(blocks(3, 4, n_backends), kind);
        }
        return store;
    };
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const Store recording = run_on_backends({{GraphKind::prefill, 2}, {GraphKind::decode, 1}}, true),
                of_token = run_on_backends({{GraphKind::decode, 1}}, false),
                of_prompt = run_on_backends({{GraphKind::prefill, 2}}, false);
    EXPECT_THAT(diff::pair_evaluations(*of_token, *recording), ElementsAre(Pair(-1, 0), Pair(0, 1)));
    EXPECT_THAT(diff::pair_evaluations(*recording, *of_prompt), ElementsAre(Pair(0, 0), Pair(1, -1)));
}

TEST(Diff, EvaluationsOfALogArePairedByWhatTheirPlansCompute) {
    const std::vector<std::string> names{"Vulkan0", "CPU"};
    const auto with_blocks = [&](std::initializer_list<std::pair<int, bool>> of) { // so many blocks, and is it said what it is?
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        bool said = true;
        changing.record = [&](Record& r, Recorder&) {
            if (auto* f = std::get_if<record::EvaluationBegin>(&r.fact); f != nullptr && !said) {
                f->kind.reset();
                f->n_tokens = f->n_sequences = f->n_outputs = std::nullopt;
            }
            return true;
        };
        SampleRun run(changing, session(names));
        for (const auto& [n, kind_is_said] : of) {
            said = kind_is_said;
            run.evaluate(blocks(n, 4, 2));
        }
        return store;
    };
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const Store recording = with_blocks({{1, true}, {2, true}, {3, true}}),
                log = with_blocks({{2, false}, {4, false}, {3, false}});
    EXPECT_THAT(diff::pair_evaluations(*recording, *log), ElementsAre(Pair(0, -1), Pair(1, 0), Pair(-1, 1), Pair(2, 2)));
    EXPECT_THAT(diff::pair_evaluations(*log, *recording), ElementsAre(Pair(-1, 0), Pair(0, 1), Pair(1, -1), Pair(2, 2)));
}

/// A log of level 1 shows splits alone: its plan is the one with as many, of two logs as well.
TEST(Diff, PlansWithoutNodesArePairedByTheirSplits) {
    const auto logged = [](std::initializer_list<int> blocks_of, bool with_nodes) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [](Record& r, Recorder&) {
            if (auto* f = std::get_if<record::EvaluationBegin>(&r.fact)) {
                f->kind.reset();
                f->n_tokens = f->n_sequences = f->n_outputs = std::nullopt;
            }
            return true;
        };
        changing.change_graph = [&](OwnedGraph& graph) {
            if (!with_nodes) {
                graph.nodes.clear();
            }
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.knows.lack(Topic::passes);
        SampleRun run(changing, info);
        for (const int n : blocks_of) {
            run.evaluate(blocks(n, 4, 2));
        }
        return store;
    };
    using Pair = std::pair<EvaluationId, EvaluationId>;
    const Store nodes = logged({1, 1, 2}, true), splits = logged({2}, false);
    EXPECT_THAT(diff::pair_evaluations(*nodes, *splits), ElementsAre(Pair(0, -1), Pair(1, -1), Pair(2, 0)));
    EXPECT_THAT(diff::pair_evaluations(*splits, *nodes), ElementsAre(Pair(-1, 0), Pair(-1, 1), Pair(0, 2)));
    const diff::Result result = compared(nodes, splits);
    for (const diff::TraceDifference& d : result.differences) {
        const bool of_runs = d.what == What::evaluation || d.what == What::reuse || d.what == What::token;
        EXPECT_TRUE(of_runs) << diff::what_name(d.what) << " of " << d.subject << ": the plans show no difference";
    }
    for (const Measure& m : result.summaries.at(0).measures) {
        if (m.name.starts_with("nodes on ")) {
            EXPECT_TRUE(m.a && !m.b) << m.name;
        }
    }
}

/// A prompt's plan as a log shows it: no line of a view, and none that says where one is. `named`: a model says what they are.
Store logged(int n_blocks, int n_backends, bool named) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    std::set<TensorId> views;
    changing.change_graph = [&](OwnedGraph& graph) {
        for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
            TensorInfo& t = graph.tensors[static_cast<size_t>(id)];
            if (t.op && is_view_op(*t.op)) {
                views.insert(id);
                if (!named) {
                    t.op.reset();
                    t.name = {};
                }
            }
        }
    };
    changing.record = [&](Record& r, Recorder&) {
        const auto* assign = std::get_if<record::Assign>(&r.fact);
        return assign == nullptr || !views.contains(assign->tensor);
    };
    SessionInfo info = session({"Vulkan0", "CPU"});
    info.knows.lack(Topic::passes);
    SampleRun(changing, info).evaluate(blocks(n_blocks, 40, n_backends));
    EXPECT_FALSE(views.empty());
    return store;
}

Store recorded(int n_blocks, int n_backends, int n_tokens = 40) {
    auto store = std::make_shared<LiveStore>();
    SampleRun(*store, session({"Vulkan0", "CPU"})).evaluate(blocks(n_blocks, n_tokens, n_backends));
    return store;
}

TEST(Diff, ALogHasAtLeastTheNodesThatItLists) {
    const std::string on_gpu = "nodes on Vulkan0";
    for (const bool named : {false, true}) {
        const Measure m = measured(logged(3, 2, named), recorded(3, 2), on_gpu);
        ASSERT_TRUE(m.a && m.b);
        EXPECT_TRUE(m.a->at_least && !m.b->at_least);
        EXPECT_LT(m.a->n, m.b->n) << "the views are on a backend too";
        EXPECT_EQ(m.a->n, m.b->listed);
        EXPECT_TRUE(m.same());
        EXPECT_EQ(m.text_of_same("a", "b", "-"), std::to_string(m.b->n) + " (a: at least " + std::to_string(m.a->n) + ")");
        const Measure turned = measured(recorded(3, 2), logged(3, 2, named), on_gpu);
        EXPECT_TRUE(turned.same());
        EXPECT_EQ(turned.text_of_same("a", "b", "-"), std::to_string(m.b->n) + " (b: at least " + std::to_string(m.a->n) + ")");
        // What is elsewhere in the other is told: more than what is listed is there, and still it is not the same.
        EXPECT_FALSE(measured(logged(3, 2, named), recorded(4, 2), on_gpu).same());
        EXPECT_FALSE(measured(logged(3, 2, named), recorded(3, 1), on_gpu).same());
    }
    const Measure two_logs = measured(logged(3, 2, false), logged(3, 1, false), on_gpu);
    EXPECT_FALSE(two_logs.same());
    EXPECT_EQ(two_logs.texts_of_each("-").first, "at least " + std::to_string(two_logs.a->n));
    EXPECT_TRUE(measured(logged(3, 2, false), logged(3, 2, true), on_gpu).same());
}

/// A plan whose compute buffer on Vulkan0 has this size, printed so by a log.
Store with_buffer(int64_t bytes, const std::string& logged_as = "", bool places_known = true) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    changing.record = [&](Record& r, Recorder&) {
        if (auto* f = std::get_if<record::BufferSize>(&r.fact); f != nullptr && f->buffer_type == 0) {
            f->size = bytes;
        }
        return true;
    };
    SessionInfo info = session({"Vulkan0", "CPU"});
    if (!places_known) {
        info.knows.lack(Topic::memory);
    }
    if (!logged_as.empty()) {
        info.facts.emplace_back(accounts::compute_buffers_fact, "Vulkan0 " + logged_as);
    }
    SampleRun(changing, info).evaluate(blocks(3, 40, 2));
    return store;
}

TEST(Diff, ASizeThatALogRoundsIsTheSameAsEachThatItMayBe) {
    constexpr int64_t logged_bytes = 230687; // 0.22 MiB, to 5243 bytes
    const std::string buffer = "Vulkan0 compute buffer";
    const Store log = with_buffer(logged_bytes, "0.22 MiB");
    for (const int64_t exact : {logged_bytes - 5243, logged_bytes, logged_bytes + 5243}) {
        EXPECT_THAT(found(compared(log, with_buffer(exact))), IsEmpty());
        EXPECT_THAT(found(compared(with_buffer(exact), log)), IsEmpty());
    }
    const Measure same = measured(log, with_buffer(229376), buffer);
    EXPECT_TRUE(same.same());
    EXPECT_EQ(same.text_of_same("a", "b", "-"), "224 KiB (a: about 0.22 MiB)");

    const Store larger = with_buffer(logged_bytes + 5244);
    EXPECT_EQ(found(compared(log, larger)), Names{"buffer of Vulkan0"});
    const auto [a, b] = diff::value_texts(compared(log, larger).differences.at(0));
    EXPECT_EQ(a, "about 0.22 MiB");
    EXPECT_EQ(b, "230 KiB");
    EXPECT_FALSE(measured(log, larger, buffer).same());
    const Store bare_log = with_buffer(logged_bytes, "0.22 MiB", false);
    EXPECT_THAT(found(compared(bare_log, with_buffer(229376))), IsEmpty());
    EXPECT_EQ(found(compared(bare_log, larger)), Names{"buffer of Vulkan0"}) << "where tensors lie is not known, sizes are";
    // Of two logs, each may be off.
    EXPECT_THAT(found(compared(log, with_buffer(241172, "0.23 MiB"))), IsEmpty());
    EXPECT_EQ(found(compared(log, with_buffer(251658, "0.24 MiB"))), Names{"buffer of Vulkan0"});
    EXPECT_EQ(found(compared(with_buffer(230687, "0.2200 MiB"), with_buffer(229376, "0.2188 MiB"))), Names{"buffer of Vulkan0"});
}

TEST(Diff, ACopysBytesAreTheSameAsAllThatALogRoundsDownToThem) {
    const auto logged_copies = [](int64_t more) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.change_graph = [](OwnedGraph& graph) {
            for (TensorInfo& t : graph.tensors) {
                t.ne.reset();
            }
        };
        changing.record = [more](Record& r, Recorder&) {
            if (auto* copy = std::get_if<record::CopyMade>(&r.fact)) {
                copy->bytes = (*copy->bytes + more) / 1024 * 1024;
            }
            return true;
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.facts.emplace_back(accounts::log_fact, "the scheduler log made.log");
        SampleRun(changing, info).evaluate(blocks(3, 41, 2)); // 41 positions are no whole KiB
        return store;
    };
    const auto copies = [&](const Store& log) {
        Names names;
        for (const diff::TraceDifference& d : compared(log, recorded(3, 2, 41)).differences) {
            if (d.what == What::copy) {
                names.insert(d.note);
            }
        }
        return names;
    };
    EXPECT_THAT(copies(logged_copies(0)), IsEmpty());
    EXPECT_THAT(copies(logged_copies(1024)), ::testing::Contains("of at least 1.0 KiB → 164 B"));
}

/// A log whose number of tokens a model had to guess from sizes in whole KiB.
TEST(Diff, NumbersOfTokensThatALogPrintsAlikeAreNoDifference) {
    const auto of_tokens = [](int n_tokens, bool is_log) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.change_graph = [](OwnedGraph& graph) {
            for (TensorInfo& t : graph.tensors) {
                if (t.name.starts_with("kq")) { // of 4 heads it is a KiB for each token
                    (*t.ne)[2] = 1;
                }
            }
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        if (is_log) {
            info.facts.emplace_back(accounts::log_fact, "the scheduler log made.log");
        }
        SampleRun(changing, info).evaluate(blocks(3, n_tokens, 2));
        return store;
    };
    const auto differ_in_size = [](const Store& a, const Store& b) {
        const auto& all = compared(a, b).differences;
        return std::any_of(all.begin(), all.end(), [](const diff::TraceDifference& d) {
            return d.what == What::shape || d.what == What::layout || d.what == What::copy || d.what == What::prompt;
        });
    };
    // 256 bytes of each token's floats and 400 of its logits: 10 and 16 KiB of 41 and of 42, 11 and 17 of 45.
    const Store log = of_tokens(41, true), alike = of_tokens(42, false);
    EXPECT_FALSE(differ_in_size(log, alike));
    EXPECT_FALSE(differ_in_size(alike, log));
    EXPECT_TRUE(differ_in_size(log, of_tokens(45, false)));
    EXPECT_TRUE(differ_in_size(of_tokens(41, false), alike)) << "no log";
    const Measure bytes = measured(log, alike, "bytes copied a run");
    ASSERT_TRUE(bytes.a && bytes.b);
    EXPECT_TRUE(bytes.a->at_least);
    EXPECT_FALSE(bytes.b->at_least);
    EXPECT_TRUE(bytes.same());
}

/// Rules tell a view from what it is a view of where both have one name, and only some builds print them.
TEST(Diff, AGraphIsTheSameInTheLogsOfBuildsWithAndWithoutCauses) {
    std::ifstream file(paths::log("2026-05"), std::ios::binary);
    std::string with{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto replace_each = [&](std::string_view from, std::string_view to, std::string& text) {
        ASSERT_NE(text.find(from), std::string::npos);
        for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
            text.replace(at, from.size(), to);
        }
    };
    replace_each("   Qcur-0 (reshaped)", "              Qcur-0", with);
    std::string without = with;
    for (size_t open = without.find(") ["); open != std::string::npos; open = without.find(") [", open + 1)) {
        constexpr size_t cause = 9, width = 8; // behind the bracket and a backend's five letters
        without.replace(open + cause, width, std::string(width, ' '));
    }
    const Imported a = Imported::text(with), b = Imported::text(without);
    EXPECT_NE(a.history->plan(0).tensors.size(), b.history->plan(0).tensors.size());
    EXPECT_THAT(found(diff::compare(*a.history, *b.history)), IsEmpty());
    EXPECT_THAT(found(diff::compare(*b.history, *a.history)), IsEmpty());
}

TEST(Diff, TokensThatOneTraceDoesNotKnowAreNoDifference) {
    const auto recorded_tokens = [](bool known) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [known](Record& r, Recorder&) { return known || !std::holds_alternative<record::NextToken>(r.fact); };
        SessionInfo info = session({"Vulkan0", "CPU"});
        if (!known) {
            info.knows.lack(Topic::tokens);
        }
        SampleRun(changing, info).evaluate(blocks(3, 40, 2));
        return store;
    };
    const Store known = recorded_tokens(true), unknown = recorded_tokens(false);
    ASSERT_NE(known->next_of(-1, fact_bit<record::NextToken>()), no_step);
    EXPECT_THAT(found(compared(known, unknown)), IsEmpty());
    EXPECT_THAT(found(compared(unknown, known)), IsEmpty());
}

/// What buffers there are, and how much of them is used, may be missing in either of two logs.
TEST(Diff, BuffersThatOneLogDoesNotSayAreNoDifference) {
    const auto log_of = [](bool says_buffers) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [says_buffers](Record& r, Recorder&) {
            return !std::holds_alternative<record::Placement>(r.fact) &&
                   (says_buffers || !std::holds_alternative<record::BufferSize>(r.fact));
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.knows.lack(Topic::memory);
        SampleRun(changing, info).evaluate(blocks(3, 40, 2));
        return store;
    };
    EXPECT_THAT(found(compared(log_of(true), log_of(false))), IsEmpty());
    EXPECT_THAT(found(compared(log_of(false), log_of(true))), IsEmpty());
}

TEST(Diff, WhatOneTraceDoesNotKnowOfReuseIsNoDifference) {
    const auto without_reasons = [](bool knows_reuse) {
        auto store = std::make_shared<LiveStore>();
        Changing changing(*store);
        changing.record = [](Record& r, Recorder&) {
            if (auto* begin = std::get_if<record::EvaluationBegin>(&r.fact)) {
                begin->failed_check = 0;
            }
            return true;
        };
        SessionInfo info = session({"Vulkan0", "CPU"});
        if (!knows_reuse) {
            info.knows.lack(Topic::reuse);
        }
        SampleRun run(changing, info);
        run.evaluate(blocks(3, 40, 2));
        run.evaluate(blocks(3, 1, 2), GraphKind::decode);
        return store;
    };
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 40, 2));
    run.evaluate(blocks(3, 1, 2), GraphKind::decode);
    EXPECT_EQ(found(compared(store, without_reasons(true))), Names{"reuse of graph"});
    EXPECT_THAT(found(compared(store, without_reasons(false))), IsEmpty());
}

TEST(Diff, SizesOfInputsThatALogDoesNotTellMakeTheirSumAtLeastThat) {
    auto store = std::make_shared<LiveStore>();
    Changing changing(*store);
    bool done = false;
    changing.record = [&](Record& r, Recorder&) {
        if (auto* input = std::get_if<record::SplitInput>(&r.fact); input != nullptr && !std::exchange(done, true)) {
            input->bytes.reset();
        }
        return true;
    };
    SampleRun(changing, session({"Vulkan0", "CPU"})).evaluate(blocks(3, 40, 2));
    const Measure m = measured(store, recorded(3, 2), "bytes copied a run");
    ASSERT_TRUE(m.a && m.b);
    EXPECT_TRUE(m.a->at_least);
    EXPECT_TRUE(m.same());
    EXPECT_FALSE(measured(store, recorded(1, 2), "bytes copied a run").same()) << "less than the log has at least";
}

TEST(Diff, DevicesWithOtherNamesAreTheSameByKindAndOrder) {
    const auto on = [](const std::vector<std::string>& names) {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session(names));
        run.evaluate(blocks(3, 40, 3));
        return store;
    };
    const diff::Result result = compared(on({"Vulkan0", "Vulkan1", "CPU"}), on({"CUDA0", "CUDA1", "CPU"}));
    EXPECT_THAT(found(result), IsEmpty());
    std::set<std::pair<std::string, std::string>> said;
    for (const diff::Setting& setting : result.settings) {
        if (setting.name.starts_with("compared as")) {
            said.emplace(*setting.a, *setting.b);
        }
    }
    EXPECT_EQ(said, (std::set<std::pair<std::string, std::string>>{{"Vulkan0", "CUDA0"}, {"Vulkan1", "CUDA1"}}));
    EXPECT_THAT(found(compared(on({"Vulkan0", "Vulkan1", "CPU"}), on({"Vulkan1", "Vulkan0", "CPU"}))), ::testing::Not(IsEmpty()))
        << "where names agree they say which is which";
}

TEST(Diff, OneEvaluationIsComparedWithItsPartnerOnly) {
    const auto changed = with<record::NextToken>([](record::NextToken& f, Recorder&) { f.token = 1; });
    EXPECT_EQ(compared(plain(), changed, {.evaluation = 0}).differences.size(), 1U);
    const diff::Result other = compared(plain(), changed, {.evaluation = 2});
    EXPECT_TRUE(other.identical());
    EXPECT_EQ(other.evaluations, 1);
    EXPECT_THROW(compared(plain(), changed, {.evaluation = 4}), Error);
    EXPECT_THROW(compared(plain(), changed, {.evaluation = -1}), Error);
}

TEST(Diff, APlanThatFailedIsComparedAsFarAsItCame) {
    const auto impossible = [](bool fails) {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "CPU"}));
        OwnedGraph graph = blocks(1, 4, 2);
        if (fails) { // its memory lies where nothing runs it
            for (TensorInfo& t : graph.tensors) {
                if (t.name == "order") {
                    t.buffer_type = 0;
                }
            }
        }
        run.evaluate(std::move(graph));
        return store;
    };
    EXPECT_TRUE(compared(impossible(true), impossible(true)).identical());
    EXPECT_THAT(found(compared(impossible(false), impossible(true))), ::testing::Contains("failure of evaluation 0"));
}

} // namespace
} // namespace schedscope
