#include "tests/support/graphs/sketch.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;

TEST(Pass3, WithNothingKnownTheFirstBackendThatSupportsTheOperatorIsBest) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.refuse("GPU0", {Op::ARANGE});
    s.node("y", Op::ARANGE, {});
    EXPECT_EQ(Planned(s)["y"], "GPU1 3.best");
}

TEST(Pass3, TheBackendThatCanReadMostSourcesIsBest) {
    Sketch s{"GPU0", "CPU"};
    const TensorId a = s.input("a");
    const TensorId g = s.allocated("g", "GPU0");
    s.node("mostly on the cpu", Op::CUSTOM, {g, a, a});
    EXPECT_EQ(Planned(s)["mostly on the cpu"], "CPU 3.best");
}

TEST(Pass3, TiesGoToTheHigherPriority) {
    Sketch s{"GPU0", "CPU"};
    s.node("even", Op::ADD, {s.allocated("g", "GPU0"), s.input("a")});
    EXPECT_EQ(Planned(s)["even"], "GPU0 3.best");
}

TEST(Pass3, AnUnassignedViewCountsThroughItsSource) {
    Sketch s{"GPU0", "CPU"};
    const TensorId x = s.input("x");
    const TensorId view = s.view("view", Op::RESHAPE, x);
    s.at(view).flags = 0;
    s.node("y", Op::SQR, {view});
    EXPECT_EQ(Planned(s)["y"], "CPU 3.best");
}

TEST(Pass3, ASourceOutsideTheGraphDoesNotCountThoughItIsAllocated) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    const TensorId slice = s.outside("slice", Op::NONE, {});
    s.at(slice).buffer_type = 1;
    s.node("y", Op::SQR, {slice});
    EXPECT_EQ(Planned(s)["y"], "GPU0 3.best");
}

TEST(Pass3, ANodeThatIsItsOwnSourceCountsOnceTheFirstBackendWasTried) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.can_use("GPU1", "GPU0");
    const TensorId cast = s.node("cast", Op::CPY, {s.leaf("x")});
    s.at(cast).src[1] = cast;
    EXPECT_EQ(Planned(s)["cast"], "GPU1 3.best") << "on GPU0 by then, where GPU1 can read it";
}

TEST(Pass3, ANodeMovesUpBetweenBackendsThatShareMemory) {
    Sketch s{"BLAS", "CPU"};
    s.shares_memory("BLAS", "CPU").refuse("BLAS", {Op::SQR});
    const TensorId h = s.node("h", Op::SQR, {s.input("x")});
    s.node("y", Op::MUL_MAT, {h, h});
    s.at(s.id("h")).user_backend = 1;
    Planned p(s);
    EXPECT_EQ(p["y"], "BLAS 3.upg");
    EXPECT_EQ(p["h"], "CPU usr");
}

TEST(Pass3, EvenWhatTheUserPinnedMovesUp) {
    Sketch s{"BLAS", "CPU"};
    s.shares_memory("BLAS", "CPU");
    s.at(s.node("y", Op::MUL_MAT, {s.input("a"), s.input("b")})).user_backend = 1;
    EXPECT_EQ(Planned(s)["y"], "BLAS 3.upg");
}

TEST(Pass3, NothingMovesUpToABackendThatCannotReadASource) {
    Sketch s{"GPU0", "BLAS", "CPU"};
    s.shares_memory("BLAS", "CPU").can_use("CPU", "GPU0");
    s.at(s.node("y", Op::MUL_MAT, {s.allocated("on gpu", "GPU0"), s.input("b")})).user_backend = 2;
    EXPECT_EQ(Planned(s)["y"], "CPU usr");
}
