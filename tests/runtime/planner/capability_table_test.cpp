#include "runtime/planner/capability_table.h"
#include "tests/runtime/planner/three_backends.h"

#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;

TEST(CapabilityTable, PlansFromItAreThoseFromTheBackends) {
    Sketch s = on_three_backends(11);
    CapabilityTable table;
    fill_table(table, s.session, s, static_cast<int32_t>(s.graph.tensors.size()));
    Planned asked(s);
    Carry carry;
    Plan plan;
    make_plan(s.graph.view(), table, {}, carry, plan, nullptr);
    for (size_t i = 0; i < plan.assignments.size(); ++i) {
        EXPECT_EQ(plan.assignments[i].backend, asked.plan.assignments[i].backend);
        EXPECT_EQ(plan.assignments[i].cause, asked.plan.assignments[i].cause);
    }
}

TEST(OwnedGraph, ACopyKeepsItsNamesAlive) {
    OwnedGraph copy;
    {
        Sketch s{"CPU"};
        s.node("a name long enough to be on the heap", Op::SQR, {s.input("x")});
        copy = OwnedGraph::copy_of(s.graph.view());
    }
    EXPECT_EQ(copy.tensors[1].name, "a name long enough to be on the heap");
    EXPECT_EQ(copy.nodes, std::vector<TensorId>{1});
    copy.clear();
    EXPECT_TRUE(copy.tensors.empty());
}
