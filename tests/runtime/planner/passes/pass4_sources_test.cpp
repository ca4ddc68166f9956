#include "tests/support/graphs/sketch.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Pass4, AViewNodeFollowsItsSource) {
    Sketch s{"GPU0", "CPU"};
    const TensorId h = s.node("h", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    s.view("view", Op::RESHAPE, h);
    EXPECT_EQ(Planned(s)["view"], "GPU0 4.vsrc");
}

TEST(Pass4, APlainLeafGoesToItsFirstUser) {
    Sketch s{"GPU0", "CPU"};
    const TensorId leaf = s.leaf("leaf");
    const TensorId first = s.node("first", Op::CUSTOM, {s.weight("c", "CPU"), leaf});
    s.node("second", Op::CUSTOM, {s.weight("g", "GPU0"), leaf, first});
    EXPECT_EQ(Planned(s)["leaf"], "CPU 4.cur");
}

TEST(Pass4, AViewOfAnUnassignedLeafFallsBackAndTheLeafStaysUnassigned) {
    Sketch s{"GPU0", "CPU"};
    s.refuse("GPU0", {Op::VIEW});
    s.view("view", Op::VIEW, s.leaf("leaf"));
    Planned p(s);
    EXPECT_EQ(p["view"], "CPU 2.sup");
    EXPECT_EQ(p["leaf"], "- 4.cur");
}

TEST(Pass4, AnOperatorThatNoBackendSupportsIsAnErrorNamingIt) {
    Sketch s{"GPU0", "CPU"};
    s.refuse("GPU0", {Op::SSM_SCAN}).refuse("CPU", {Op::SSM_SCAN});
    s.node("scan-0", Op::SSM_SCAN, {s.input("x")});
    EXPECT_THAT(plan_error(s), StartsWith("node_unassigned: "));
    EXPECT_THAT(plan_error(s), HasSubstr("'scan-0' (SSM_SCAN)"));
}

TEST(Pass4, AnErrorEndsTheRecordsOfThePlan) {
    Sketch s{"CPU"};
    s.refuse("CPU", {Op::SSM_SCAN});
    s.node("scan-0", Op::SSM_SCAN, {s.input("x")});
    Notebook notebook;
    const std::string error = plan_error(s, &notebook);
    const auto* end = std::get_if<record::PlanEnd>(&notebook.records.back().fact);
    ASSERT_NE(end, nullptr);
    EXPECT_EQ("node_unassigned: " + notebook.texts[static_cast<size_t>(end->error)], error);
}
