#include "tests/runtime/planner/three_backends.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;

namespace {

struct SketchSession {
    explicit SketchSession(unsigned seed, Recorder* recorder = nullptr) : sketch(on_three_backends(seed)) {
        options.n_stages = seed % 3 == 0 ? 4 : 1;
        options.current_stage = seed % 3 == 0 ? 1 : 0;
        make_plan(sketch.graph.view(), sketch, options, carry, plan, recorder);
        memory = &planner.place(sketch.graph.view(), plan, sketch.graph.nodes, sketch, sketch.session.buffer_types, recorder);
    }
    Sketch sketch;
    PlanOptions options;
    Carry carry;
    Plan plan;
    MemoryPlanner planner;
    const MemoryPlan* memory = nullptr;
};

std::string told(const Assignment& a) { return std::to_string(a.backend) + " " + cause_name(a.cause, a.source); }

class EveryGraph : public ::testing::TestWithParam<unsigned> {};

} // namespace

TEST_P(EveryGraph, RecordingChangesNothing) {
    Notebook notebook;
    const SketchSession off(GetParam()), on(GetParam(), &notebook);
    ASSERT_EQ(off.plan.assignments.size(), on.plan.assignments.size());
    for (size_t i = 0; i < off.plan.assignments.size(); ++i) {
        EXPECT_EQ(told(off.plan.assignments[i]), told(on.plan.assignments[i]));
    }
    EXPECT_EQ(off.plan.split_inputs, on.plan.split_inputs);
    EXPECT_EQ(off.plan.splits.size(), on.plan.splits.size());
    EXPECT_EQ(off.plan.rewires.size(), on.plan.rewires.size());
    EXPECT_EQ(off.memory->chunk_sizes, on.memory->chunk_sizes);
}

TEST_P(EveryGraph, TheAssignRecordsReplayedAreThePlan) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    std::vector<Assignment> replayed(s.plan.assignments.size());
    for (const Record& r : notebook.records) {
        if (const auto* a = std::get_if<record::Assign>(&r.fact)) {
            Assignment& at = replayed[static_cast<size_t>(a->tensor)];
            EXPECT_EQ(at.backend, a->before);
            at = {*a->after, *a->cause, a->source};
        } else if (const auto* c = std::get_if<record::CopyMade>(&r.fact)) {
            replayed[static_cast<size_t>(c->copy)] = {c->backend, Cause::copy, -1};
        }
    }
    for (size_t i = 0; i < replayed.size(); ++i) {
        const bool original_serves = i >= static_cast<size_t>(s.plan.n_tensors) &&
                                     s.plan.copies[i - static_cast<size_t>(s.plan.n_tensors)].id < s.plan.n_tensors;
        if (!original_serves) {
            EXPECT_EQ(told(replayed[i]), told(s.plan.assignments[i])) << "tensor " << i;
        }
    }
}

TEST_P(EveryGraph, TheSplitRecordsAreTheSplits) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    const auto begins = notebook.all<record::SplitBegin>();
    const auto ends = notebook.all<record::SplitEnd>();
    const auto inputs = notebook.all<record::SplitInput>();
    ASSERT_EQ(begins.size(), s.plan.splits.size());
    ASSERT_EQ(ends.size(), s.plan.splits.size());
    for (size_t i = 0; i < begins.size(); ++i) {
        const Split& split = s.plan.splits[i];
        EXPECT_EQ(begins[i].backend, split.backend);
        EXPECT_EQ(begins[i].why, split.why);
        EXPECT_EQ(begins[i].first_node, split.first_node);
        EXPECT_EQ(ends[i].end_node, split.end_node);
        EXPECT_EQ(ends[i].n_inputs, split.n_inputs);
    }
    ASSERT_EQ(inputs.size(), s.plan.split_inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(inputs[i].tensor, s.plan.split_inputs[i]);
    }
    EXPECT_EQ(notebook.all<record::Rewired>().size(), s.plan.rewires.size());
    EXPECT_EQ(notebook.all<record::GraphInput>().size(), s.plan.graph_inputs.size());
}

TEST_P(EveryGraph, ThePlacementRecordsAreTheMemoryPlan) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    const auto placements = notebook.all<record::Placement>();
    ASSERT_EQ(placements.size(), s.memory->tensors.size());
    for (size_t i = 0; i < placements.size(); ++i) {
        const PlacedTensor& t = s.memory->tensors[i];
        EXPECT_EQ(placements[i].tensor, t.tensor);
        EXPECT_EQ(placements[i].offset, t.offset);
        EXPECT_EQ(placements[i].in_place_of, t.in_place_of);
        EXPECT_EQ(placements[i].first_use, t.first_use);
        EXPECT_EQ(placements[i].last_use, t.last_use);
    }
}

TEST_P(EveryGraph, EachNoCarriesItsReason) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    for (const record::BackendQuery& q : notebook.all<record::BackendQuery>()) {
        EXPECT_EQ(q.detail == 0, q.yes);
        EXPECT_EQ(q.reason == Refusal::none, q.yes || q.question == Question::offload);
        EXPECT_EQ(q.buffer_type == no_buffer_type, q.question != Question::buffer_type);
    }
}

TEST_P(EveryGraph, StepsCountUpAndTimeNeverGoesBack) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    for (size_t i = 0; i < notebook.records.size(); ++i) {
        EXPECT_EQ(notebook.records[i].step, static_cast<Step>(i));
        EXPECT_GE(*notebook.records[i].time_ns, i == 0 ? 0 : *notebook.records[i - 1].time_ns);
    }
}

TEST_P(EveryGraph, PassesOpenAndCloseInOrder) {
    Notebook notebook;
    const SketchSession s(GetParam(), &notebook);
    std::string story;
    for (const Record& r : notebook.records) {
        if (const auto* begin = std::get_if<record::PassBegin>(&r.fact)) {
            story.append("(").append(pass_name(begin->pass));
        } else if (std::holds_alternative<record::PassEnd>(r.fact)) {
            story += ")";
        } else if (std::holds_alternative<record::PlanBegin>(r.fact)) {
            story += "[";
        } else if (std::holds_alternative<record::PlanEnd>(r.fact)) {
            story += "]";
        }
    }
    EXPECT_EQ(story, "[(1)(2a)(2b)(2c)(2d)(3)(4)(5)](allocate)");
}

INSTANTIATE_TEST_SUITE_P(Random, EveryGraph, ::testing::Range(0U, 12U));

TEST(Records, AWeightIsNamedAsTheReason) {
    Sketch s{"GPU0", "CPU"};
    const TensorId w = s.weight("w", "GPU0");
    const TensorId y = s.node("y", Op::MUL_MAT, {w, s.input("x")});
    Notebook notebook;
    Planned p(s, {}, &notebook);
    const auto assigns = notebook.all<record::Assign>();
    const auto found = std::ranges::find(assigns, y, &record::Assign::tensor);
    ASSERT_NE(found, assigns.end());
    EXPECT_EQ(found->by, w);
    EXPECT_EQ(found->source, 0);
}

TEST(Records, TheSourceThatStartsASplitIsNamed) {
    Sketch s{"GPU0", "CPU"};
    for (const char* name : {"a", "b"}) {
        const TensorId w = s.weight(std::string("w") + name, "CPU");
        s.at(s.node(name, Op::MUL_MAT, {w, w})).user_backend = 0;
    }
    Notebook notebook;
    Planned p(s, {}, &notebook);
    const auto begins = notebook.all<record::SplitBegin>();
    ASSERT_EQ(begins.size(), 2U);
    EXPECT_EQ(begins[1].why, SplitReason::weight);
    EXPECT_EQ(begins[1].node, s.id("b"));
    EXPECT_EQ(begins[1].by, s.id("wb"));
}

TEST(Records, ThePlanTellsWhichGraphItIsFor) {
    Sketch s{"CPU"};
    s.node("a", Op::SQR, {s.input("x")});
    PlanOptions options;
    options.graph_id = 7;
    Notebook notebook;
    Planned p(s, options, &notebook);
    const auto begins = notebook.all<record::PlanBegin>();
    ASSERT_EQ(begins.size(), 1U);
    EXPECT_EQ(begins[0].graph, 7);
    EXPECT_EQ(begins[0].n_nodes, 1);
    EXPECT_EQ(begins[0].n_leafs, 1);
}
