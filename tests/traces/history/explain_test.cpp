#include "runtime/error.h"
#include "tests/support/traces/sample_run.h"
#include "traces/history/explain.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/story_words.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::HasSubstr;

class Explain : public ::testing::Test {
protected:
    void SetUp() override {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "Vulkan1", "CPU"}));
        run.evaluate(blocks(4, 8, 3));
        run.evaluate_again();
        history.emplace(store);
    }
    Story story(const std::string& name, EvaluationId evaluation = 0) {
        return explain(*history, evaluation, find_tensor(*history, history->plan(evaluation), name));
    }
    std::string refusal(const std::string& name) {
        try {
            find_tensor(*history, history->plan(0), name);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.what();
        }
        return "found";
    }
    static std::vector<std::string> kinds(const Story& story) {
        std::vector<std::string> what;
        for (const StoryLine& line : story.lines) {
            what.emplace_back(story_kind_name(line.kind));
        }
        return what;
    }
    std::optional<History> history;
};

TEST_F(Explain, AProductGoesWhereItsWeightIs) {
    const Story s = story("attn_norm-2");
    ASSERT_FALSE(s.steps.empty());
    EXPECT_EQ(s.steps[0].pass, Pass::place);
    EXPECT_EQ(s.steps[0].before, no_backend);
    EXPECT_EQ(history->backend_name(*s.steps[0].after), "Vulkan1");
    EXPECT_EQ(cause_name(*s.steps[0].cause, s.steps[0].source), "1.wgt1");
    EXPECT_EQ(history->tensor_name(history->plan(0), s.steps[0].by), "blk.2.attn_norm.weight");
    ASSERT_FALSE(s.steps[0].asked.empty());
    EXPECT_THAT(kinds(s), ::testing::IsSupersetOf({"split", "placement", "execute"}));
}

/// Its recording has no reasons: the names that llama.cpp gives say one.
TEST_F(Explain, OfAnotherProgramsPlanTellsWhoPinnedANode) {
    for (const auto& [n_tokens, when] :
         {std::pair{8, "when the batch has fewer than 32 tokens"}, {40, "when all layers are offloaded"}}) {
        auto store = std::make_shared<LiveStore>();
        SampleRun run(*store, session({"Vulkan0", "Vulkan1", "CPU"}));
        OwnedGraph graph = blocks(4, n_tokens, 3);
        for (const TensorId id : graph.nodes) {
            TensorInfo& node = graph.tensors[id];
            node.user_backend = node.name == "norm-2" ? 1 : node.name == "ffn_inp-2" ? 2 : no_backend;
        }
        run.evaluate(std::move(graph));
        history.emplace(store);
        const auto pinned = [&](const std::string& name) {
            const Story s = explain(*history, 0, find_tensors(*history, history->plan(0), name).front());
            const auto placed = std::find_if(s.lines.begin(), s.lines.end(),
                                             [](const StoryLine& line) { return line.kind == StoryKind::placed; });
            return placed == s.lines.end() ? "" : placed->text;
        };
        EXPECT_EQ(pinned("norm-2"),
                  std::string("pinned to Vulkan1 by the program, not by the scheduler; llama.cpp does so: norms "
                              "of a layer are pinned to its device ") +
                      when);
        EXPECT_EQ(pinned("ffn_inp-2"), "pinned to CPU by the program, not by the scheduler; why is not recorded");
        EXPECT_EQ(pinned("kq-2"), "");
    }
}

TEST_F(Explain, ARefusalSaysWhichBackendAndWhy) {
    const Story s = story("order");
    bool told = false;
    for (const StoryStep& step : s.steps) {
        for (const Asked& asked : step.asked) {
            told = told ||
                   (!asked.answer && asked.question == Question::op && asked.why == "op: no kernel sorts" && asked.backend == 0);
        }
    }
    EXPECT_TRUE(told);
    EXPECT_EQ(history->backend_name(*s.steps.back().after), "CPU");
}

TEST_F(Explain, AnInputThatIsCopiedTellsOfItsCopies) {
    const Story s = story("inp_pos");
    EXPECT_EQ(s.steps.front().cause, Cause::input);
    EXPECT_THAT(kinds(s), ::testing::IsSupersetOf({"input", "copy", "rewire", "transfer"}));
    EXPECT_TRUE(
        std::is_sorted(s.lines.begin(), s.lines.end(), [](const StoryLine& a, const StoryLine& b) { return a.step < b.step; }));
}

TEST_F(Explain, InAnEvaluationThatRunsThePlanAgainTheRunIsItsOwn) {
    const Story first = story("attn_norm-2", 0), again = story("attn_norm-2", 1);
    EXPECT_EQ(again.planned_in, 0);
    EXPECT_EQ(again.steps.size(), first.steps.size());
    const auto run =
        std::find_if(again.lines.begin(), again.lines.end(), [](const StoryLine& l) { return l.kind == StoryKind::execute; });
    ASSERT_NE(run, again.lines.end());
    EXPECT_GE(run->step, history->evaluation(1).first);
}

TEST_F(Explain, WhatThePlaceRulesLeaveAloneIsTold) {
    const Story s = story("kq_soft_max-0");
    ASSERT_FALSE(s.steps.empty());
    EXPECT_EQ(s.steps[0].pass, Pass::place);
    EXPECT_EQ(s.steps[0].after, no_backend);
    EXPECT_EQ(s.steps[0].note, "no buffer of its own, not an input, no source is a weight");
    EXPECT_EQ(story("Kcur-0").steps[0].note, ""); // its weight decided
}

TEST_F(Explain, ACopyHasAStoryToo) {
    const PlanState state = history->plan(0);
    const Story s = story(history->tensor_name(state, state.copies.front().copy));
    EXPECT_THAT(kinds(s), ::testing::Contains("copy"));
}

TEST_F(Explain, NamesThatAreTwiceInAGraphAreToldApart) {
    EXPECT_EQ(find_tensors(*history, history->plan(0), "norm-0").size(), 2U);
    const std::string sentence = refusal("norm-0");
    EXPECT_THAT(sentence, HasSubstr("has 2 of that name; say which: norm-0@"));
    const std::string first = sentence.substr(sentence.find("norm-0@"), sentence.find(" (RMS_NORM)") - sentence.find("norm-0@"));
    EXPECT_EQ(story(first).name, "norm-0");
    for (const char* wrong : {"norm-0@0", "norm-0@99999999999", "norm-0@x"}) {
        EXPECT_THAT(refusal(wrong), HasSubstr("has none of that number; there is " + first + ", norm-0@"));
    }
}

TEST_F(Explain, ANodeIsFoundByItsNumber) {
    const PlanState state = history->plan(0);
    const std::vector<TensorId> order = state.order.empty() ? history->graph_of(state)->nodes : state.order;
    for (const size_t n : {size_t{0}, size_t{7}, order.size() - 1}) {
        EXPECT_EQ(find_tensors(*history, state, "#" + std::to_string(n)), std::vector{order[n]});
    }
    const std::string last = std::to_string(order.size() - 1);
    for (const std::string& number :
         {std::to_string(order.size()), std::string("-1"), std::string("99999999999"), std::string("x")}) {
        EXPECT_THAT(refusal("#" + number), HasSubstr("tensor '#" + number + "': evaluation 0 has the nodes #0 to #" + last));
    }
}

TEST_F(Explain, WordsCallEachTensorByANameThatFindsIt) {
    const PlanState& state = history->plan(0);
    size_t n_repeated = 0;
    for (size_t id = 0; id < state.tensors.size(); ++id) {
        const auto tensor = static_cast<TensorId>(id);
        const std::string name = history->unique_name(state, tensor);
        EXPECT_EQ(find_tensor(*history, state, name), tensor) << name;
        n_repeated += name == history->tensor_name(state, tensor) ? 0 : 1;
    }
    EXPECT_GT(n_repeated, 0U);
    EXPECT_LT(n_repeated, state.tensors.size() / 2);
    // The cause of one is a norm that has a namesake.
    const std::string two = refusal("norm-0"), which = two.substr(two.find("norm-0@"), two.find(" (") - two.find("norm-0@"));
    const Story s = story("attn_norm-0");
    EXPECT_THAT(words::story_sources(*history, state, s), ::testing::Contains(HasSubstr("source 0  " + which + "  on ")));
    EXPECT_THAT(words::story_head(*history, state, story(which)), ::testing::StartsWith(which + "  RMS_NORM"));
}

TEST_F(Explain, AnUnknownNameComesWithThoseNearIt) {
    EXPECT_THAT(refusal("atn_norm-2"), HasSubstr("did you mean attn_norm-2"));
    EXPECT_THAT(refusal("nothing like any of them"), ::testing::EndsWith(": none in evaluation 0"));
    EXPECT_THROW(explain(*history, 0, 100000), Error);
    EXPECT_THROW(explain(*history, 7, 0), Error);
}

} // namespace
} // namespace schedscope
