#include "tests/viz/parsed.h"
#include "tests/viz/sketch.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A computes on the GPU, B and C on the CPU need two results of it and an input; D on the GPU needs C.
Sketch there_and_back() {
    Sketch s;
    const TensorId in = s.leaf("in", {64}, 1, flag_input);
    const TensorId a1 = s.add("a1", Op::ADD, {64}, 0, {in, in}), a2 = s.add("a2", Op::MUL, {32}, 0, {a1});
    const TensorId b = s.add("b", Op::ADD, {64}, 1, {a1, a2, in}), c = s.add("c", Op::ADD, {64}, 1, {b, a2});
    s.add("d", Op::ADD, {64}, 0, {c, a1, in});
    s.split_up();
    return s;
}

TEST(SplitsView, OneBoxASplitWithItsNodes) {
    const Parsed parsed(draw_splits(there_and_back().subject()));
    EXPECT_EQ(parsed.nodes.at("split 0").at("backend"), "Vulkan0");
    EXPECT_EQ(parsed.nodes.at("split 0").at("first_node"), "0");
    EXPECT_EQ(parsed.nodes.at("split 0").at("last_node"), "1");
    EXPECT_EQ(parsed.nodes.at("split 1").at("backend"), "CPU");
    EXPECT_EQ(parsed.nodes.at("split 1").at("first_node"), "2");
    EXPECT_EQ(parsed.nodes.at("split 1").at("last_node"), "3");
    EXPECT_EQ(parsed.nodes.at("split 2").at("why"), "backend");
    EXPECT_THAT(parsed.label("split 2"), HasSubstr("backend changes at d (ADD)"));
    EXPECT_EQ(parsed.nodes.size(), 4U) << "three splits, and where the input lies";
}

TEST(SplitsView, CopiesOnTheSameWayAreOneEdge) {
    const Parsed parsed(draw_splits(there_and_back().subject()));
    const auto& forth = parsed.edge("split 0", "split 1");
    EXPECT_EQ(forth.values.at("copies"), "2");
    EXPECT_EQ(forth.values.at("bytes"), "384") << "64 + 32 floats";
    const auto& back = parsed.edge("split 1", "split 2");
    EXPECT_EQ(back.values.at("copies"), "1");
    EXPECT_EQ(back.values.at("bytes"), "256");
    EXPECT_THAT(back.values.at("label"), HasSubstr("c"));
    EXPECT_EQ(parsed.edges.size(), 3U);
}

TEST(SplitsView, SplitsAreChainedInTheOrderTheyRun) {
    const Parsed parsed(draw_splits(there_and_back().subject()));
    ASSERT_EQ(parsed.next.size(), 2U);
    std::vector<std::string> order;
    for (const auto& edge : parsed.next) {
        order.push_back(edge.from + " then " + edge.to);
    }
    EXPECT_THAT(order, ::testing::UnorderedElementsAre("split 0 then split 1", "split 1 then split 2"));
}

TEST(SplitsView, InputsComeFromWhereTheyLie) {
    const Parsed parsed(draw_splits(there_and_back().subject()));
    const auto& edge = parsed.edge("split 0 reads from CPU", "split 0");
    EXPECT_EQ(edge.values.at("bytes"), "256");
    EXPECT_EQ(edge.values.at("style"), "dashed");
    EXPECT_THAT(parsed.label("split 0 reads from CPU"), HasSubstr("in"));
}

TEST(SplitsView, TheAmountStandsWithItsSourceWhereAnEdgeMayGoAroundAnother) {
    const Parsed parsed(draw_splits(there_and_back().subject()));
    EXPECT_THAT(parsed.label("split 0 reads from CPU"), HasSubstr("256 B"));
    EXPECT_EQ(parsed.edge("split 0 reads from CPU", "split 0").values.at("label"), "");
}

TEST(SplitsView, HasExactlyTheSplitsAndBytesOfThePlan) {
    Sketch sketch = llama(7, 4, {"Vulkan0", "CPU"});
    sketch.split_up();
    const Parsed parsed(draw_splits(sketch.subject()));
    size_t boxes = 0;
    int64_t bytes = 0, copies = 0, planned_bytes = 0, planned_copies = 0;
    for (const auto& [id, values] : parsed.nodes) {
        boxes += values.at("first_node").empty() ? 0 : 1;
    }
    std::map<std::string, int64_t> into;
    for (const auto& edge : parsed.edges) {
        bytes += std::stoll(edge.values.at("bytes"));
        copies += std::stoll(edge.values.at("copies"));
        into[edge.to] += std::stoll(edge.values.at("bytes"));
    }
    for (const SplitState& split : sketch.state.splits) {
        int64_t of_split = 0;
        for (const record::SplitInput& input : split.inputs) {
            of_split += *input.bytes;
            ++planned_copies;
        }
        planned_bytes += of_split;
        EXPECT_EQ(into["split " + std::to_string(split.begin.index)], of_split) << "split " << split.begin.index;
    }
    EXPECT_EQ(boxes, sketch.state.splits.size());
    EXPECT_EQ(bytes, planned_bytes);
    EXPECT_EQ(copies, planned_copies);
    EXPECT_GT(copies, 10);
}

TEST(SplitsView, AViewsDataComesFromWhatItLooksAt) {
    Sketch s;
    const TensorId a = s.add("a", Op::ADD, {64}, 0, {s.leaf("in", {64}, 0)}),
                   b = s.add("b", Op::ADD, {64}, 1, {s.leaf("in2", {64}, 1)});
    const TensorId view = s.add("a (view)", Op::VIEW, {32}, 0, {a}); // lies among the CPU's nodes
    s.add("c", Op::ADD, {32}, 1, {view, b});
    s.split_up();
    ASSERT_EQ(s.subject().split_of(view), 1);
    EXPECT_EQ(Parsed(draw_splits(s.subject())).edge("split 0", "split 1").values.at("bytes"), "128");
}

TEST(SplitsView, SaysWhyASplitStarts) {
    Sketch s = there_and_back();
    s.state.splits[1].begin.why = SplitReason::weight;
    s.state.splits[1].begin.by = 0;
    s.state.splits[2].begin.why = SplitReason::full;
    s.state.splits[2].begin.by = 0;
    const Parsed parsed(draw_splits(s.subject()));
    EXPECT_THAT(parsed.label("split 1"), HasSubstr("b (ADD) needs weight in of another backend"));
    EXPECT_THAT(parsed.label("split 2"), HasSubstr("inputs are full: d (ADD) needs in too"));
}

TEST(SplitsView, ShowsTimeOnlyOfWhatRan) {
    Sketch s = there_and_back();
    EXPECT_THAT(draw_splits(s.subject()), Not(HasSubstr("1.24 ms")));
    s.state.splits[1].start_ns = 1000;
    s.state.splits[1].end_ns = 1'241'000;
    const Parsed parsed(draw_splits(s.subject()));
    EXPECT_THAT(parsed.label("split 1"), HasSubstr("1.24 ms"));
    EXPECT_THAT(parsed.label("split 0"), Not(HasSubstr("ms")));
}

TEST(SplitsView, TitleNamesModelDevicesAndTotals) {
    Sketch s = llama(3, 2);
    s.split_up();
    const std::string title = Parsed(draw_splits(s.subject())).graph.at("label");
    EXPECT_THAT(title, HasSubstr("stories260K-f16.gguf, llama, -ngl 2"));
    EXPECT_THAT(title, HasSubstr("6 splits, 11 copies of 52.1 KiB, 69 nodes"));
    EXPECT_THAT(title, HasSubstr("3 splits, 44 nodes"));
    EXPECT_THAT(title, HasSubstr("evaluation 0 (prefill)"));
}

TEST(SplitsView, AnEncodersPlanIsTitledByTheEncodersFile) {
    Sketch s = llama(3, 2);
    s.session.facts.emplace_back("image_encoder", "/models/mmproj.gguf");
    s.session.facts.emplace_back("projector", "mlp");
    s.split_up();
    Subject subject = s.subject();
    EXPECT_THAT(Parsed(draw_splits(subject)).graph.at("label"), Not(HasSubstr("mmproj")));
    subject.kind = GraphKind::encoder;
    const std::string title = Parsed(draw_splits(subject)).graph.at("label");
    EXPECT_THAT(title, HasSubstr("mmproj.gguf, image encoder and projector (mlp)"));
    EXPECT_THAT(title, Not(HasSubstr("stories260K")));
}

TEST(SplitsView, APictureOfAnotherProgramWhoseModelIsNotKnownSaysWhatRan) {
    Sketch s = llama(3, 2);
    s.split_up();
    const auto title = [&] { return Parsed(draw_splits(s.subject())).graph.at("label"); };
    s.session.facts = {{"program", "/usr/bin/node"}, {"command", "node run.mjs m.gguf"}};
    s.session.settings.reset();
    EXPECT_THAT(title(), HasSubstr("<b>node run.mjs m.gguf</b>"));
    s.session.facts[1].second = "node run.mjs " + std::string(80, 'm');
    EXPECT_THAT(title(), HasSubstr("<b>node run.mjs …</b>"));
    s.session.facts[1].second = std::string(59, 'm') + "é.gguf";
    EXPECT_THAT(title(), HasSubstr("<b>" + std::string(59, 'm') + " …</b>"));
    s.session.facts.emplace_back("model", "m.gguf");
    EXPECT_THAT(title(), HasSubstr("<b>m.gguf, node</b>"));
}

TEST(SplitsView, NoCopiesAreNotCopiesOfNothing) {
    Sketch s;
    s.add("a", Op::ADD, {64}, 1, {s.leaf("in", {64}, 1)});
    s.split_up();
    EXPECT_THAT(draw_splits(s.subject()), AllOf(HasSubstr("1 split, no copies, 1 node"), Not(HasSubstr("0 B"))));
}

TEST(SplitsView, ASplitThatIsBeingMadeIsOpen) {
    Sketch s = there_and_back();
    s.state.splits.resize(2);
    s.state.splits[1].end_node = -1;
    const Parsed parsed(draw_splits(s.subject()));
    EXPECT_THAT(parsed.label("split 1"), HasSubstr("not ended yet"));
    EXPECT_EQ(parsed.nodes.at("split 1").at("last_node"), "2");
}

} // namespace
} // namespace schedscope
