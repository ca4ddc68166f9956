#include "runtime/error.h"
#include "tests/viz/parsed.h"
#include "tests/viz/sketch.h"

#include <functional>
#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(NodesView, EveryNodeStandsInItsSplitsCluster) {
    Sketch s = llama(4, 3);
    s.split_up();
    const Subject subject = s.subject();
    const Parsed parsed(draw_nodes(subject));
    for (const SplitState& split : s.state.splits) {
        const auto& members = parsed.clusters.at("split " + std::to_string(split.begin.index));
        for (int32_t i = *split.begin.first_node; i < split.end_node; ++i) {
            EXPECT_TRUE(members.count(subject.id(s.state.order[static_cast<size_t>(i)]))) << i;
        }
    }
    for (const auto& [id, values] : parsed.nodes) {
        EXPECT_FALSE(values.at("label").empty()) << id << " is named in an edge but has no statement";
    }
}

TEST(NodesView, SplitsAreStackedInTheOrderTheyRun) {
    Sketch s = llama(4, 3);
    s.split_up();
    const Subject subject = s.subject();
    const Parsed parsed(draw_nodes(subject));
    ASSERT_EQ(parsed.next.size(), s.state.splits.size() - 1);
    for (const SplitState& split : s.state.splits) {
        if (split.begin.index > 0) {
            const std::string above = subject.id(s.state.order[static_cast<size_t>(*split.begin.first_node) - 1]);
            const auto& members = parsed.clusters.at("split " + std::to_string(split.begin.index));
            EXPECT_TRUE(std::any_of(parsed.next.begin(), parsed.next.end(), [&](const Parsed::Edge& edge) {
                return edge.from == above && members.count(edge.to) != 0 && edge.values.at("style") == "invis";
            })) << split.begin.index;
        }
    }
}

TEST(NodesView, CopiesOfAPipelineAreToldWithItsStages) {
    Sketch s = llama(4, 3);
    s.split_up();
    const auto title = [&] { return Parsed(draw_nodes(s.subject())).graph.at("label"); };
    EXPECT_THAT(title(), Not(HasSubstr("stage")));
    s.state.copies.back().stage = 3;
    EXPECT_THAT(title(), HasSubstr(std::to_string(s.state.copies.size()) + " copies for 4 stages"));
}

TEST(NodesView, ASplitOfUnknownNodesSaysSo) {
    Sketch s = llama(4, 3);
    s.split_up();
    SplitState& last = s.state.splits.back();
    last.end_node = *last.begin.first_node;
    const std::string dot = draw_nodes(s.subject());
    EXPECT_THAT(dot, HasSubstr("nodes unknown"));
    EXPECT_THAT(dot, HasSubstr(std::to_string(s.state.copies.size()) + " cop"));
}

TEST(NodesView, LabelsTellOperatorShapeBackendAndCause) {
    Sketch s;
    const TensorId weight = s.weight("blk.0.attn_q.weight", {64, 64}, 0), in = s.leaf("in", {64, 16}, 0);
    s.add("Qcur-0", Op::MUL_MAT, {64, 16}, 0, {weight, in}, Cause::weight, weight);
    s.split_up();
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_THAT(parsed.label("Qcur-0"), AllOf(HasSubstr("Qcur-0"), HasSubstr("MUL_MAT f32 [64, 16]"),
                                              HasSubstr("V Vulkan0 by 1.wgt0 (blk.0.attn_q.weight)")));
    EXPECT_EQ(parsed.nodes.count("blk.0.attn_q.weight"), 0U) << "weights are lines in a label";
    EXPECT_THAT(parsed.sources_of("Qcur-0"), ElementsAre("in"));
}

TEST(NodesView, ACopyIsADashedBoxInTheSplitThatReadsIt) {
    Sketch s;
    const TensorId a = s.add("a", Op::ADD, {64}, 0, {s.leaf("in", {64}, 0)});
    s.add("b", Op::ADD, {64}, 1, {a});
    s.split_up();
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_TRUE(parsed.clusters.at("split 1").count("CPU#a#0"));
    EXPECT_EQ(parsed.edge("a", "CPU#a#0").values.at("style"), "dashed");
    EXPECT_EQ(parsed.edge("a", "CPU#a#0").values.at("bytes"), "256");
    EXPECT_THAT(parsed.sources_of("b"), ElementsAre("CPU#a#0"));
    EXPECT_THAT(parsed.label("CPU#a#0"), AllOf(HasSubstr("256 B"), HasSubstr("from Vulkan0")));
}

TEST(NodesView, ACopyUsedAgainInAnotherSplitIsDrawnThereAgain) {
    Sketch s;
    const TensorId in = s.leaf("in", {64}, 1, flag_input), a = s.add("a", Op::ADD, {64}, 0, {in});
    const TensorId b = s.add("b", Op::ADD, {64}, 1, {a});
    s.add("c", Op::ADD, {64}, 0, {b, in});
    s.split_up();
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_TRUE(parsed.clusters.at("split 2").count("Vulkan0#in#0>c"));
    EXPECT_THAT(parsed.sources_of("c"), ElementsAre("Vulkan0#b#0", "Vulkan0#in#0>c"));
}

TEST(NodesView, WhatManyNodesReadIsDrawnOncePerUse) {
    for (const int readers : {4, 5}) {
        Sketch s;
        const TensorId positions = s.leaf("positions", {16}, 1, flag_input);
        TensorId x = s.add("x", Op::DUP, {16}, 1, {s.leaf("in", {16}, 1)});
        for (int i = 0; i < readers; ++i) {
            x = s.add("rope-" + std::to_string(i), Op::ROPE, {16}, 1, {x, positions});
        }
        s.split_up();
        const Parsed parsed(draw_nodes(s.subject()));
        EXPECT_EQ(parsed.nodes.count("positions"), readers > 4 ? 0U : 1U);
        for (int i = 0; i < readers; ++i) {
            const std::string rope = "rope-" + std::to_string(i);
            EXPECT_THAT(parsed.sources_of(rope), ::testing::Contains(readers > 4 ? "positions>" + rope : "positions"));
        }
    }
}

TEST(NodesView, ANodeThatManyReadStaysAndItsUsesStandBesideTheReaders) {
    Sketch s;
    const TensorId mask = s.add("mask", Op::CPY, {16}, 1, {s.leaf("in", {16}, 1)});
    for (int i = 0; i < 6; ++i) {
        s.add("soft-" + std::to_string(i), Op::SOFT_MAX, {16}, 1, {mask});
    }
    s.split_up();
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_THAT(parsed.label("mask"), HasSubstr("read by 6, drawn at each"));
    EXPECT_THAT(parsed.sources_of("soft-3"), ElementsAre("mask>soft-3"));
    EXPECT_TRUE(std::none_of(parsed.edges.begin(), parsed.edges.end(), [](const auto& edge) { return edge.from == "mask"; }));
}

TEST(NodesView, FusedGroupsAreOutlinedAndNamed) {
    Sketch s;
    const TensorId norm = s.add("norm", Op::RMS_NORM, {64}, 1, {s.leaf("in", {64}, 1)});
    s.add("mul", Op::MUL, {64}, 1, {norm, s.weight("w", {64}, 1)});
    s.add("other", Op::ADD, {64}, 1, {norm});
    s.split_up();
    s.state.fusions.push_back({0, 1, 0, 2, s.text("rms_norm_mul")});
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_THAT(parsed.clusters.at("fused 0"), ElementsAre("mul", "norm"));
    EXPECT_THAT(parsed.label("norm"), HasSubstr("fused: rms_norm_mul"));
    EXPECT_THAT(parsed.label("other"), Not(HasSubstr("fused")));
}

TEST(NodesView, BeforePassFiveThereAreNoClustersAndTheUnassignedAreDashed) {
    Sketch s;
    const TensorId a = s.add("a", Op::ADD, {64}, 0, {s.leaf("in", {64}, 0)});
    s.add("b", Op::ADD, {64}, no_backend, {a}, Cause::none);
    s.add("c", Op::ADD, {64}, no_backend, {a}, Cause::weight);
    const Parsed parsed(draw_nodes(s.subject()));
    EXPECT_TRUE(parsed.clusters.empty());
    EXPECT_THAT(parsed.nodes.at("b").at("style"), HasSubstr("dashed"));
    EXPECT_THAT(parsed.nodes.at("a").at("style"), Not(HasSubstr("dashed")));
    EXPECT_THAT(parsed.label("b"), HasSubstr("unassigned"));
    EXPECT_THAT(parsed.label("c"), HasSubstr("unassigned, marked 1.wgt0")) << "pass 1 asked and no backend could";
    EXPECT_THAT(parsed.graph.at("label"), HasSubstr("2 nodes")) << "the legend counts the unassigned";
}

TEST(NodesView, ACastThatListsItselfHasNoLoop) {
    Sketch s;
    const TensorId cast = s.add("cast", Op::CPY, {64}, 1, {s.leaf("in", {64}, 1)});
    s.graph.tensors[static_cast<size_t>(cast)].src[1] = cast;
    s.split_up();
    EXPECT_THAT(Parsed(draw_nodes(s.subject())).sources_of("cast"), ElementsAre("in"));
}

TEST(NodesView, AStateThatSpeaksOfTensorsThatAreNotThereIsABrokenTrace) {
    const auto breaks = [](const std::function<void(PlanState&)>& spoil) {
        Sketch s = llama(2, 1);
        s.split_up();
        const auto names = s.names();
        spoil(s.state);
        EXPECT_THROW(Subject(
                         s.state, s.graph, s.session, names, [](StringId) { return ""; }, ""),
                     Error);
    };
    breaks([](PlanState& state) { state.order.push_back(100'000); });
    breaks([](PlanState& state) { state.order[0] = -5; });
    breaks([](PlanState& state) { state.rewires[0].node = 100'000; });
    breaks([](PlanState& state) { state.copies[0].of = -1; });
    breaks([](PlanState& state) { state.splits[0].inputs.push_back({0, 100'000, 0, 0, 4}); });
    breaks([](PlanState& state) { state.splits[1].begin.first_node = -7; });
    breaks([](PlanState& state) { state.fusions[0].count = 1 << 30; });
    breaks([](PlanState& state) { state.placements.push_back({-3, no_tensor, 0, 0, 0, 1, 0, 4}); });
}

TEST(NodesView, TheSamePlanGivesTheSameText) {
    const auto text = [] {
        Sketch s = llama(5, 3);
        s.split_up();
        return draw_nodes(s.subject());
    };
    EXPECT_EQ(text(), text());
}

TEST(NodesView, OneMoreNodeChangesOnlyTheLinesAboutIt) {
    const auto lines_of = [](bool one_more) {
        Sketch s;
        TensorId x = s.leaf("in", {64}, 1);
        for (int i = 0; i < 50; ++i) {
            x = s.add("a-" + std::to_string(i), Op::ADD, {64}, 1, {x});
            if (one_more && i == 20) {
                s.add("extra", Op::ADD, {64}, 1, {x});
            }
        }
        s.split_up();
        std::multiset<std::string> lines;
        std::string text = draw_nodes(s.subject()), line;
        for (const char c : text) {
            if (c == '\n') {
                lines.insert(line);
                line.clear();
            } else {
                line += c;
            }
        }
        return lines;
    };
    const auto before = lines_of(false), after = lines_of(true);
    std::vector<std::string> gone;
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(gone));
    EXPECT_EQ(gone.size(), 2U) << "the title's and the split's counts";
}

} // namespace
} // namespace schedscope
