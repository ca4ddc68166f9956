#include "tests/support/graphs/sketch.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::HasSubstr;

namespace {

TensorId on(Sketch& s, const std::string& backend, const std::string& name, std::vector<TensorId> sources) {
    const TensorId node = s.node(name, Op::CUSTOM, {});
    std::ranges::copy(sources, s.at(node).src.begin());
    for (size_t b = 0; b < s.session.backends.size(); ++b) {
        if (s.session.backends[b].name == backend) {
            s.at(node).user_backend = static_cast<BackendId>(b);
        }
    }
    return node;
}

/// One node with `n` new inputs from the CPU.
void node_with_inputs(Sketch& s, const std::string& name, int n) {
    std::vector<TensorId> sources;
    for (int i = 0; i < n; ++i) {
        sources.push_back(s.input(name + std::to_string(i)));
    }
    on(s, "GPU0", name, sources);
}

std::vector<int32_t> input_counts(const Planned& p) {
    std::vector<int32_t> counts;
    for (const Split& split : p.plan.splits) {
        counts.push_back(split.n_inputs);
    }
    return counts;
}

} // namespace

TEST(Pass5, ASplitEndsWhereTheBackendChanges) {
    Sketch s{"GPU0", "CPU"};
    const TensorId a = on(s, "GPU0", "a", {});
    on(s, "CPU", "b", {a});
    Planned p(s);
    EXPECT_EQ(p.splits(), "GPU0[0,1) first: | CPU[1,2) backend: a");
    EXPECT_EQ(p.rewires(), "b.0=CPU#a#0");
}

TEST(Pass5, LeadingViewsBelongToTheFirstSplit) {
    Sketch s{"GPU0", "CPU"};
    const TensorId x = s.input("x");
    s.view("view", Op::RESHAPE, x);
    on(s, "GPU0", "y", {});
    EXPECT_EQ(Planned(s).splits(), "GPU0[0,2) first:");
}

TEST(Pass5, ACopyIsMadeOnceForABackendAndUsedByLaterSplits) {
    Sketch s{"GPU0", "CPU"};
    const TensorId x = s.input("x");
    const TensorId a = on(s, "GPU0", "a", {x, x});
    const TensorId b = on(s, "CPU", "b", {x});
    on(s, "GPU0", "c", {x, a, b});
    Planned p(s);
    EXPECT_EQ(p.splits(), "GPU0[0,1) first: x | CPU[1,2) backend: | GPU0[2,3) backend: b");
    EXPECT_EQ(p.rewires(), "a.0=GPU0#x#0 a.1=GPU0#x#0 c.0=GPU0#x#0 c.2=GPU0#b#0");
}

TEST(Pass5, NothingIsCopiedWhereTheMemoryCanBeRead) {
    Sketch s{"GPU0", "CPU"};
    s.can_use("GPU0", "CPU");
    on(s, "GPU0", "y", {s.input("x")});
    EXPECT_EQ(Planned(s).copies(), "");
}

TEST(Pass5, AWeightOfAnotherBackendStartsASplitOnlyOnceThereAreInputs) {
    Sketch s{"GPU0", "CPU"};
    const TensorId a = on(s, "GPU0", "a", {s.weight("w0", "CPU")});
    const TensorId b = on(s, "GPU0", "b", {s.weight("w1", "CPU"), a});
    on(s, "GPU0", "c", {b});
    EXPECT_EQ(Planned(s).splits(), "GPU0[0,1) first: w0 | GPU0[1,3) weight: w1");
}

TEST(Pass5, ThirtyInputsFitAndOneMoreStartsASplit) {
    Sketch s{"GPU0", "CPU"};
    for (int i = 0; i < 6; ++i) {
        node_with_inputs(s, std::to_string(i) + "-", 5);
    }
    node_with_inputs(s, "last", 1);
    Planned p(s);
    EXPECT_EQ(input_counts(p), (std::vector<int32_t>{30, 1}));
    EXPECT_EQ(p.plan.splits[1].why, SplitReason::full);
}

TEST(Pass5, ANodeThatOverflowsTheListDoublesItsRoomForLaterGraphsToo) {
    Sketch burst{"GPU0", "CPU"};
    for (int i = 0; i < 4; ++i) {
        node_with_inputs(burst, std::to_string(i) + "-", 7);
    }
    node_with_inputs(burst, "overflows", 5);
    node_with_inputs(burst, "still fits", 5);
    Planned p(burst);
    EXPECT_EQ(input_counts(p), (std::vector<int32_t>{38}));

    Sketch later{"GPU0", "CPU"};
    for (int i = 0; i < 7; ++i) {
        node_with_inputs(later, std::to_string(i) + "-", 5);
    }
    PlanOptions options;
    make_plan(later.graph.view(), later, options, p.carry, p.plan, nullptr);
    EXPECT_EQ(input_counts(p), (std::vector<int32_t>{35})) << "the room grew to 60 and stays";
    EXPECT_EQ(input_counts(Planned(later)), (std::vector<int32_t>{30, 5})) << "a new scheduler starts with 30";
}

TEST(Pass5, AGraphOfViewsHasOneSplitOnTheLastGraphsFirstBackend) {
    Sketch views{"GPU0", "CPU"};
    views.view("view", Op::VIEW, views.input("x"));
    Planned p(views);
    EXPECT_EQ(p.splits(), "GPU0[0,1) first:") << "backend 0 in a new scheduler";

    Sketch cpu{"GPU0", "CPU"};
    on(cpu, "CPU", "y", {});
    make_plan(cpu.graph.view(), cpu, {}, p.carry, p.plan, nullptr);
    p.again();
    EXPECT_EQ(p.splits(), "CPU[0,1) first:");
}

TEST(Pass5, WithStagesAnInputIsKeptOncePerStageAndServesAsThePresentOne) {
    Sketch s{"GPU0", "CPU"};
    on(s, "GPU0", "y", {s.input("x")});
    PlanOptions options;
    options.n_stages = 4;
    options.current_stage = 2;
    Planned p(s, options);
    EXPECT_EQ(p.copies(), "CPU#x#0 CPU#x#1 x CPU#x#3 GPU0#x#0 GPU0#x#1 GPU0#x#2 GPU0#x#3");
    EXPECT_EQ(p.rewires(), "y.0=GPU0#x#2");
    EXPECT_EQ(p["x"], "CPU 4.cpy");
    EXPECT_EQ(p.plan.flags[static_cast<size_t>(s.id("x"))], flag_input | flag_output);
    EXPECT_EQ(p.plan.graph_inputs, std::vector<TensorId>{s.id("x")});
}

TEST(Pass5, ASourceWithoutABackendIsAnErrorNamingIt) {
    Sketch s{"GPU0", "CPU"};
    const TensorId view = s.leaf("view");
    s.at(view).view_source = s.leaf("root");
    s.node("y", Op::SQR, {view});
    EXPECT_THAT(plan_error(s), HasSubstr("src_unassigned: tensor 'view' (NONE)"));
}

TEST(Pass5, CopyNamesAreCutTo63Bytes) { EXPECT_EQ(copy_name("GPU0", std::string(100, 'x'), 0).size(), 63U); }
