#include "runtime/error.h"
#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/corpus_run.h"
#include "tests/support/traces/sample_run.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/history.h"
#include "traces/replay/replay.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/copy_records.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;

std::shared_ptr<LiveStore> recorded(int n_stages) {
    auto store = std::make_shared<LiveStore>();
    SampleRun run(*store, session({"Vulkan0", "Vulkan1", "CPU"}), n_stages);
    run.evaluate(blocks(6, 40, 3));
    run.evaluate_again();
    run.evaluate(blocks(6, 1, 3), GraphKind::decode);
    for (uint32_t seed = 0; seed < 20; ++seed) {
        run.evaluate(test::random_sketch({seed, 70, 1 + seed % 8}, run.session()));
    }
    return store;
}

std::string first_difference(const ReplayResult& result) {
    if (result.differences.empty()) {
        return "";
    }
    const ReplayDifference& d = result.differences.front();
    return d.what + " of " + d.name + ": recorded " + d.recorded + ", now " + d.now;
}

TEST(Replay, EveryDecisionOfARunIsMadeAgain) {
    for (const int n_stages : {1, 4}) {
        const ReplayResult result = replay(*recorded(n_stages));
        EXPECT_EQ(first_difference(result), "");
        EXPECT_EQ(result.plans, 22);
        EXPECT_GT(result.compared, 3000);
        EXPECT_EQ(result.identical, result.compared);
    }
}

TEST(Replay, EveryCaseOfTheCorpusIsPlannedAgainAsRecorded) {
    int64_t n_cases = 0, compared = 0;
    const CorpusPart part = for_each_corpus_case(1, [&](const corpus::Case& c) {
        LiveStore store;
        record_case(c, store);
        const ReplayResult result = replay(store);
        ++n_cases;
        compared += result.compared;
        ASSERT_EQ(first_difference(result), "") << c.name;
        ASSERT_EQ(result.n_differences, 0) << c.name;
    });
    EXPECT_GT(n_cases, part == CorpusPart::whole ? 1900 : 100);
    EXPECT_GT(compared, (part == CorpusPart::whole ? 100 : 50) * n_cases); // the sample is mostly of small graphs
}

/// As the inspector saves it that holds a run anywhere.
TEST(Replay, APlanThatTheRecordingStopsInIsLeftOutBehindThat) {
    LiveStore whole;
    SampleRun run(whole, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(2, 40, 2));
    const Step before = whole.n_steps();
    run.evaluate(blocks(2, 1, 2), GraphKind::decode);
    const Step plan = whole.next_of(before, fact_bit<record::PlanBegin>());
    const Step planned = whole.next_of(plan, fact_bit<record::PlanEnd>());
    const auto pass_begin = [&](Pass pass) {
        Step at = no_step;
        whole.for_each_of(fact_bit<record::PassBegin>(), plan, whole.n_steps(),
                          [&](const Record& r) { at = std::get<record::PassBegin>(r.fact).pass == pass ? r.step : at; });
        return at;
    };
    const Step allocate = pass_begin(Pass::allocate), allocated = whole.next_of(allocate, fact_bit<record::PassEnd>());
    ASSERT_LT(planned, allocate);
    ASSERT_LT(allocate + 1, allocated);
    ASSERT_LT(plan, pass_begin(Pass::rest_down));
    for (Step end = plan + 1; end <= whole.n_steps(); ++end) {
        LiveStore part;
        copy_records(whole, end, part, [] { return true; });
        const ReplayResult result = replay(part);
        ASSERT_EQ(first_difference(result), "") << end;
        ASSERT_EQ(result.plans, end <= planned ? 1 : 2) << end;
        ASSERT_EQ(result.stopped.has_value(), end <= planned || (end > allocate && end <= allocated)) << end;
    }
    const auto told_at = [&](Step end) {
        LiveStore part;
        copy_records(whole, end, part, [] { return true; });
        return replay(part).stopped.value().told();
    };
    EXPECT_EQ(told_at(pass_begin(Pass::rest_down) + 1),
              "evaluation 1 is left out: the plan ends in pass 2c (rest down): the recording stopped there");
    EXPECT_EQ(told_at(allocated), "evaluation 1's memory is left out: the plan ends in allocate: the recording stopped there");
}

TEST(Replay, FromAFileItIsTheSame) {
    const Folder folder;
    for_each_corpus_case(40, [&](const corpus::Case& c) {
        TraceWriter writer(folder.file("t"));
        record_case(c, writer);
        writer.close();
        const TraceReader reader(folder.file("t"));
        const ReplayResult result = replay(reader);
        ASSERT_EQ(first_difference(result), "") << c.name;
        ASSERT_GT(result.compared, 0);
    });
}

TEST(Replay, WhatWouldChangeIsNamed) {
    const auto store = recorded(1);
    ReplayOptions options;
    options.max_differences = 50;
    options.change = [](ReplayInput& input) { // no kernel for ROPE on the first backend
        for (size_t t = 0; t < input.graph.tensors.size(); ++t) {
            if (input.graph.tensors[t].op == Op::ROPE) {
                input.answers.op_answers[t] = Answer::no(Refusal::op, "refused");
            }
        }
    };
    const ReplayResult result = replay(*store, options);
    EXPECT_GT(result.n_differences, 50);
    EXPECT_EQ(result.differences.size(), 50U);
    const auto moved = std::find_if(result.differences.begin(), result.differences.end(), [](const ReplayDifference& d) {
        return d.what == "assignment" && d.name == "Qcur-0" && d.recorded.starts_with("Vulkan0");
    });
    ASSERT_NE(moved, result.differences.end());
    EXPECT_FALSE(moved->now.starts_with("Vulkan0"));
}

TEST(Replay, ADecisionThatWasTamperedWithIsFound) {
    const auto store = recorded(1);
    const Step victim = store->next_of(100, fact_bit<record::Assign>());
    LiveStore changed;
    changed.session(store->session());
    for (GraphId g = 0; g < store->n_graphs(); ++g) {
        changed.graph(g, store->graph(g).view(), store->answers(g));
    }
    std::vector<Record> records;
    store->read(0, store->n_steps(), records);
    std::string name;
    History history(store);
    for (Record r : records) {
        if (r.step == victim) {
            auto& assign = std::get<record::Assign>(r.fact);
            assign.after = assign.after == 0 ? 1 : 0;
            name = history.tensor_name_at(r.step, assign.tensor);
        }
        changed.keep(r);
    }
    for (StringId id = 1; id < 60; ++id) { // the texts in the same order
        try {
            changed.intern(store->text(id));
        } catch (const Error&) {
            break;
        }
    }
    const ReplayResult result = replay(changed);
    ASSERT_EQ(result.n_differences, 1);
    EXPECT_EQ(result.differences[0].what, "assignment");
    EXPECT_EQ(result.differences[0].name, name);
    EXPECT_EQ(result.identical + 1, result.compared);
}

TEST(Replay, ATraceWithoutPlansOrAnswersIsRefused) {
    LiveStore empty;
    EXPECT_THROW(replay(empty), Error);
    LiveStore silent;
    silent.session(session({"CPU"}));
    CapabilityTable none;
    silent.graph(0, blocks(1, 1, 1).view(), none);
    silent.add(record::PlanBegin{});
    EXPECT_THROW(replay(silent), Error);
}

char digit(BackendId backend) { return backend == no_backend ? '.' : "0123456789abcdef"[backend]; }

/// The corpus tells what was decided after each pass; so must the history of the records.
TEST(HistoryOfTheCorpus, AfterEachPassTheStateIsWhatTheReferenceHad) {
    int64_t n_states = 0;
    const CorpusPart part = for_each_corpus_case(7, [&](const corpus::Case& c) {
        auto store = std::make_shared<LiveStore>();
        record_case(c, *store);
        History history(store);
        for (EvaluationId e = 0; e < history.n_evaluations() && c.error_round < 0; ++e) {
            const corpus::Outcome& expected = c.rounds[static_cast<size_t>(e)].expected;
            const PlanState final_state = history.plan(e);
            const size_t n = history.graph_of(final_state)->tensors.size();
            const auto map = [&](const PlanState& state) {
                std::string text;
                for (size_t t = 0; t < n; ++t) {
                    text += digit(state.tensors[t].backend);
                }
                return text;
            };
            for (const auto& [pass, backends] : expected.passes) {
                const Step step = accounts::end_of_pass(history, e, pass_from_name(pass));
                ASSERT_NE(step, no_step);
                ASSERT_EQ(map(history.state_at(step)), backends) << c.name << " pass " << pass;
                ++n_states;
            }
            ASSERT_EQ(map(final_state), expected.assign) << c.name;
            for (size_t t = 0; t < expected.causes.size(); ++t) {
                ASSERT_EQ(cause_name(*final_state.tensors[t].cause, final_state.tensors[t].source), expected.causes[t])
                    << c.name << " tensor " << t;
            }
            ASSERT_EQ(final_state.splits.size(), expected.splits.size()) << c.name;
            for (size_t s = 0; s < expected.splits.size(); ++s) {
                const SplitState& split = final_state.splits[s];
                ASSERT_EQ(split.begin.backend, expected.splits[s].backend);
                ASSERT_EQ(split.begin.first_node, expected.splits[s].first);
                ASSERT_EQ(split.end_node, expected.splits[s].end);
                ASSERT_EQ(split_reason_name(*split.begin.why), expected.splits[s].why);
                ASSERT_EQ(split.inputs.size(), expected.splits[s].inputs.size());
                for (size_t i = 0; i < split.inputs.size(); ++i) {
                    ASSERT_EQ(split.inputs[i].tensor, expected.splits[s].inputs[i]);
                }
            }
            ASSERT_EQ(final_state.rewires.size(), expected.rewired.size());
            for (size_t i = 0; i < expected.rewired.size(); ++i) {
                ASSERT_EQ(final_state.rewires[i].node, expected.rewired[i].node);
                ASSERT_EQ(final_state.rewires[i].source, expected.rewired[i].source);
                ASSERT_EQ(final_state.rewires[i].original, expected.rewired[i].original);
            }
            ASSERT_EQ(final_state.graph_inputs.size(), expected.graph_inputs.size());
            for (const corpus::Row::Copies& copies : expected.copies) {
                for (size_t stage = 0; stage < copies.names.size(); ++stage) {
                    const auto made =
                        std::find_if(final_state.copies.begin(), final_state.copies.end(), [&](const record::CopyMade& copy) {
                            return copy.of == copies.of && copy.backend == copies.backend &&
                                   copy.stage == static_cast<int>(stage);
                        });
                    ASSERT_EQ(made == final_state.copies.end(), copies.names[stage].empty());
                    if (made != final_state.copies.end()) {
                        ASSERT_EQ(history.tensor_name(final_state, made->copy), copies.names[stage]);
                    }
                }
            }
            if (expected.allocation) {
                ASSERT_EQ(final_state.placements.size(), expected.allocation->tensors.size());
                for (size_t i = 0; i < final_state.placements.size(); ++i) {
                    ASSERT_EQ(final_state.placements[i].offset, expected.allocation->tensors[i].offset);
                    ASSERT_EQ(final_state.placements[i].size, expected.allocation->tensors[i].bytes);
                }
            }
        }
    });
    EXPECT_GT(n_states, part == CorpusPart::whole ? 1000 : 500);
}

} // namespace
} // namespace schedscope
