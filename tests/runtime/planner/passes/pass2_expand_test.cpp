#include "tests/support/graphs/sketch.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;

namespace {

/// before → anchor → after, the anchor's weight on `memory`.
Sketch chain(const char* memory) {
    Sketch s{"GPU0", "CPU"};
    const TensorId before = s.node("before", Op::SQR, {s.input("x")});
    const TensorId anchor = s.node("anchor", Op::MUL_MAT, {s.weight("w", memory), before});
    s.node("after", Op::SQR, {anchor});
    return s;
}

Pass pass_of(const Notebook& notebook, TensorId tensor) {
    Pass pass = Pass::none;
    for (const record::Assign& a : notebook.all<record::Assign>()) {
        pass = a.tensor == tensor ? *a.pass : pass;
    }
    return pass;
}

} // namespace

TEST(Pass2, AcceleratorsExpandDownThenUp) {
    Sketch s = chain("GPU0");
    Notebook notebook;
    Planned p(s, {}, &notebook);
    EXPECT_EQ(p["after"], "GPU0 2.sup");
    EXPECT_EQ(pass_of(notebook, s.id("after")), Pass::gpu_down);
    EXPECT_EQ(p["before"], "GPU0 2.sup");
    EXPECT_EQ(pass_of(notebook, s.id("before")), Pass::gpu_up);
}

TEST(Pass2, TheCpuExpandsInTheLastTwoSweeps) {
    Sketch s = chain("CPU");
    Notebook notebook;
    Planned p(s, {}, &notebook);
    EXPECT_EQ(p["after"], "CPU 2.sup");
    EXPECT_EQ(pass_of(notebook, s.id("after")), Pass::rest_down);
    EXPECT_EQ(p["before"], "CPU 2.sup");
    EXPECT_EQ(pass_of(notebook, s.id("before")), Pass::rest_up);
}

TEST(Pass2, ANodeOnTheCpuStopsTheAccelerators) {
    Sketch s{"GPU0", "CPU"};
    const TensorId on_gpu = s.node("on gpu", Op::MUL_MAT, {s.weight("g", "GPU0"), s.input("x")});
    const TensorId on_cpu = s.node("on cpu", Op::MUL_MAT, {s.weight("c", "CPU"), on_gpu});
    s.node("after", Op::SQR, {on_cpu});
    EXPECT_EQ(Planned(s)["after"], "CPU 2.sup");
}

TEST(Pass2, AnUnsupportedNodeIsPassedOverAndTheSweepGoesOn) {
    Sketch s{"GPU0", "CPU"};
    s.refuse("GPU0", {Op::LOG});
    const TensorId h = s.node("h", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    const TensorId log = s.node("log", Op::LOG, {h});
    s.node("after", Op::SQR, {log});
    Planned p(s);
    EXPECT_EQ(p["log"], "CPU 3.best");
    EXPECT_EQ(p["after"], "GPU0 2.sup");
}

TEST(Pass2, ViewsNeitherTakeNorPassOnABackend) {
    Sketch s{"GPU0", "CPU"};
    const TensorId h = s.node("h", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    const TensorId view = s.view("view", Op::RESHAPE, h);
    s.at(view).user_backend = 1;
    s.node("after", Op::SQR, {view});
    EXPECT_EQ(Planned(s)["after"], "GPU0 2.sup");
}

TEST(Pass2, TheNeighbourIsRecorded) {
    Sketch s = chain("GPU0");
    Notebook notebook;
    Planned p(s, {}, &notebook);
    for (const record::Assign& a : notebook.all<record::Assign>()) {
        if (a.cause == Cause::supported) {
            EXPECT_EQ(a.by, s.id("anchor"));
        }
    }
}
