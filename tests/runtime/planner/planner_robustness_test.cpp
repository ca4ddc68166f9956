// Graphs that no builder should make, but a trace or a log may hold.
#include "runtime/error.h"
#include "tests/runtime/planner/three_backends.h"

#include <gmock/gmock.h>

#include <random>

using namespace schedscope;
using namespace schedscope::test;

namespace {

/// Plans and places; true when a plan or a clear refusal comes out.
bool survives(Sketch& s) {
    try {
        Planned p(s);
        MemoryPlanner planner;
        planner.place(s.graph.view(), p.plan, s.graph.nodes, s, s.session.buffer_types, nullptr);
    } catch (const PlanError& error) {
        return !std::string(error.what()).empty();
    }
    return true;
}

} // namespace

TEST(Planner, ASourceMayComeAfterItsUser) {
    Sketch s{"GPU0", "CPU"};
    const TensorId first = s.node("first", Op::SQR, {});
    const TensorId second = s.node("second", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    s.at(first).src[0] = second;
    EXPECT_TRUE(survives(s));
    EXPECT_EQ(Planned(s)["first"], "GPU0 2.sup");
}

TEST(Planner, SourcesMayHaveHoles) {
    Sketch s{"GPU0", "CPU"};
    const TensorId y = s.node("y", Op::CUSTOM, {});
    s.at(y).src[4] = s.input("x");
    s.at(y).src[9] = s.weight("w", "GPU0");
    EXPECT_TRUE(survives(s));
    Planned p(s);
    EXPECT_EQ(p["y"], "GPU0 1.wgt9");
    EXPECT_EQ(p.rewires(), "y.4=GPU0#x#0");
}

TEST(Planner, ANodeMayBeItsOwnSourceAndItsOwnView) {
    Sketch s{"GPU0", "CPU"};
    const TensorId y = s.node("y", Op::ADD, {s.input("x")});
    s.at(y).src[1] = y;
    EXPECT_TRUE(survives(s));
    s.at(y).view_source = y;
    EXPECT_TRUE(survives(s));
}

TEST(Planner, ANodeMayBeListedTwice) {
    Sketch s{"GPU0", "CPU"};
    const TensorId y = s.node("y", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    s.graph.nodes.push_back(y);
    s.graph.leafs.push_back(s.id("x"));
    EXPECT_TRUE(survives(s));
}

TEST(Planner, AnEmptyGraphIsOneEmptySplit) {
    Sketch s{"GPU0", "CPU"};
    EXPECT_TRUE(survives(s));
    EXPECT_EQ(Planned(s).splits(), "GPU0[0,0) first:");
}

TEST(Planner, TensorsWithoutElementsNeedNoBytes) {
    Sketch s{"CPU"};
    const TensorId x = s.input("x");
    s.at(x).ne = {0, 4, 1, 1};
    const TensorId y = s.node("y", Op::SQR, {x});
    s.at(y).ne = {0, 4, 1, 1};
    EXPECT_TRUE(survives(s));
}

TEST(Planner, RandomWiringNeverBreaksIt) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        Sketch s = on_three_backends(seed);
        std::mt19937 random(seed);
        for (int change = 0; change < 30; ++change) {
            TensorInfo& t = s.graph.tensors[random() % s.graph.tensors.size()];
            const auto other = static_cast<TensorId>(random() % s.graph.tensors.size());
            switch (random() % 4) {
            case 0: t.src[random() % max_sources] = other; break;
            case 1: t.view_source = other; break;
            case 2: t.flags = static_cast<uint8_t>(random() % 16); break;
            default: t.op = static_cast<Op>(random() % static_cast<size_t>(Op::count)); break;
            }
        }
        EXPECT_TRUE(survives(s)) << "seed " << seed;
    }
}

TEST(Planner, APinToABackendThatIsNotThereIsRefused) {
    Sketch s{"CPU"};
    s.at(s.input("x")).user_backend = 3;
    EXPECT_THROW(Planned{s}, Error);
}
