#include "tests/runtime/planner/three_backends.h"
#include "tests/support/graphs/lifetime_check.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::HasSubstr;

namespace {

/// Plans and places graphs through one scheduler's worth of history.
class Memory {
public:
    const MemoryPlan& place(Sketch& s, PlanOptions options = {}, Recorder* recorder = nullptr) {
        return place(s, s.graph.nodes, options, recorder);
    }
    /// The nodes run in an order of a backend's own.
    const MemoryPlan& place(Sketch& s, const std::vector<TensorId>& order, PlanOptions options = {},
                            Recorder* recorder = nullptr) {
        make_plan(s.graph.view(), s, options, carry_, plan, recorder);
        copy_graph(s.graph.view(), plan, order, allocated);
        return planner_.place(s.graph.view(), plan, order, s, s.session.buffer_types, recorder);
    }
    Plan plan;
    AllocatedGraph allocated;

private:
    Carry carry_;
    MemoryPlanner planner_;
};

PlacedTensor find(const MemoryPlan& memory, TensorId id) {
    for (const PlacedTensor& t : memory.tensors) {
        if (t.tensor == id) {
            return t;
        }
    }
    return {};
}

std::string entries(const Planned& p, const std::vector<AllocatedEntry>& list) {
    std::string text;
    for (const AllocatedEntry& entry : list) {
        text += (text.empty() ? "" : " ") + std::string(entry.dependency ? "*" : "") + p.name(entry.tensor);
    }
    return text;
}

Sketch two_splits() {
    Sketch s{"GPU0", "CPU"};
    const TensorId a = s.node("a", Op::MUL_MAT, {s.weight("w", "GPU0"), s.input("x")});
    s.node("b", Op::MUL_MAT, {s.weight("v", "CPU"), a});
    return s;
}

} // namespace

TEST(CopiedGraph, EachSplitStartsWithADependencyAndACopyOfEachInput) {
    Sketch s = two_splits();
    Planned p(s);
    AllocatedGraph allocated;
    copy_graph(s.graph.view(), p.plan, s.graph.nodes, allocated);
    EXPECT_EQ(entries(p, allocated.nodes), "*x GPU0#x#0 a *a CPU#a#0 b");
    EXPECT_EQ(entries(p, allocated.leafs), "w x v");
}

TEST(CopiedGraph, NodesComeInTheOptimisedOrder) {
    Sketch s{"CPU"};
    s.node("a", Op::ARANGE, {});
    s.node("b", Op::ARANGE, {});
    Planned p(s);
    AllocatedGraph allocated;
    copy_graph(s.graph.view(), p.plan, std::vector<TensorId>{1, 0}, allocated);
    EXPECT_EQ(entries(p, allocated.nodes), "b a");
}

TEST(MemoryPlan, LiveTensorsNeverOverlap) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        Sketch s = on_three_backends(seed);
        s.session.buffer_types[0].max_size = seed % 3 == 0 ? 1024 : -1;
        PlanOptions options;
        options.n_stages = seed % 5 == 0 ? 4 : 1;
        Memory memory;
        const MemoryPlan& plan = memory.place(s, options);
        const GraphView view = s.graph.view();
        EXPECT_EQ(LifetimeCheck(view, memory.plan, memory.allocated).complaint(plan), "") << "seed " << seed;
    }
}

TEST(MemoryPlan, TheLifetimesItTellsNeverOverlapEither) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        Sketch s = on_three_backends(seed);
        Memory memory;
        const MemoryPlan& plan = memory.place(s);
        for (const PlacedTensor& a : plan.tensors) {
            for (const PlacedTensor& b : plan.tensors) {
                const bool same_bytes = a.buffer_type == b.buffer_type && a.chunk == b.chunk && a.offset < b.offset + b.size &&
                                        b.offset < a.offset + a.size;
                if (a.tensor < b.tensor && same_bytes && a.first_use <= b.last_use && b.first_use <= a.last_use) {
                    const bool in_place = (a.in_place_of == b.tensor && a.first_use == b.last_use) ||
                                          (b.in_place_of == a.tensor && b.first_use == a.last_use);
                    EXPECT_TRUE(in_place) << "seed " << seed << ": tensors " << a.tensor << " and " << b.tensor;
                }
            }
        }
    }
}

TEST(MemoryPlan, EverythingThatIsNoViewAndNotAllocatedGetsAPlace) {
    Sketch s = on_three_backends(7);
    Memory memory;
    const MemoryPlan& plan = memory.place(s);
    for (const TensorId node : s.graph.nodes) {
        const bool needs = !s.at(node).is_view();
        EXPECT_EQ(find(plan, node).tensor != no_tensor, needs) << s.at(node).name;
    }
    for (const Copy& copy : memory.plan.copies) {
        EXPECT_NE(find(plan, copy.id).tensor, no_tensor);
    }
    for (const TensorId leaf : s.graph.leafs) {
        const bool needs = s.at(leaf).buffer_type == no_buffer_type;
        EXPECT_EQ(find(plan, leaf).tensor != no_tensor, needs) << s.at(leaf).name;
    }
}

TEST(MemoryPlan, AnOperatorTakesItsSourcesPlaceWhenItIsTheLastUser) {
    Sketch s{"CPU"};
    const TensorId a = s.node("a", Op::ARANGE, {});
    const TensorId b = s.node("b", Op::SQR, {a});
    Memory memory;
    const PlacedTensor placed = find(memory.place(s), b);
    EXPECT_EQ(placed.in_place_of, a);
    EXPECT_EQ(placed.offset, find(memory.place(s), a).offset);
}

TEST(MemoryPlan, ASourceThatIsReadAgainKeepsItsPlace) {
    Sketch s{"CPU"};
    const TensorId a = s.node("a", Op::ARANGE, {});
    const TensorId b = s.node("b", Op::SQR, {a});
    s.node("c", Op::ADD, {a, b});
    Memory memory;
    EXPECT_EQ(find(memory.place(s), b).in_place_of, no_tensor);
}

class GatedProducts : public ::testing::Test {
protected:
    GatedProducts() : planned_(s_) {}
    /// Offsets of what the products read and of the gate's result.
    std::pair<int64_t, int64_t> places(std::span<const KeptRange> kept) {
        MemoryPlanner planner;
        const MemoryPlan& plan =
            planner.place(s_.graph.view(), planned_.plan, s_.graph.nodes, s_, s_.session.buffer_types, nullptr, kept);
        EXPECT_EQ(find(plan, x_).size, find(plan, gated_).size);
        return {find(plan, x_).offset, find(plan, gated_).offset};
    }
    Sketch s_{"CPU"};
    TensorId x_ = s_.node("x", Op::ARANGE, {});
    TensorId up_ = s_.node("up", Op::MUL_MAT, {s_.weight("w", "CPU"), x_});
    TensorId gate_ = s_.node("gate", Op::MUL_MAT, {s_.weight("v", "CPU"), x_});
    TensorId gated_ = s_.node("gated", Op::GLU, {gate_, up_});
    TensorId next_ = s_.node("next", Op::GLU, {gated_, gated_});
    Planned planned_;
};

TEST_F(GatedProducts, AreOverwrittenWhenTheLastNodeThatReadsThemIsDone) {
    const auto [x, gated] = places({});
    EXPECT_EQ(x, gated);
}

TEST_F(GatedProducts, AreKeptUntilTheGroupIsDone) {
    const KeptRange group{1, 4};
    const auto [x, gated] = places({&group, 1});
    EXPECT_NE(x, gated);
}

TEST_F(GatedProducts, AreKeptFromTheLastProductOn) {
    const KeptRange pair{2, 4};
    const auto [x, gated] = places({&pair, 1});
    EXPECT_NE(x, gated);
}

TEST(CopiedGraph, GroupsAreCountedAmongTheEntries) {
    Sketch s = two_splits();
    Planned p(s);
    AllocatedGraph allocated;
    const KeptRange second{1, 2};
    copy_graph(s.graph.view(), p.plan, s.graph.nodes, allocated, {&second, 1});
    EXPECT_EQ(allocated.kept, (std::vector<KeptRange>{{5, 6}})); // *x GPU0#x#0 a *a CPU#a#0 b
}

TEST(KeptRanges, AreOrderedAndDoNotOverlap) {
    std::vector<KeptRange> kept = {{9, 12}, {7, 8}, {4, 6}, {1, 4}, {5, 7}};
    order_kept(kept, 1);
    EXPECT_EQ(kept, (std::vector<KeptRange>{{9, 12}, {1, 4}, {4, 6}, {7, 8}}));
}

TEST(MemoryPlan, AViewKeepsItsSourceAlive) {
    Sketch s{"CPU"};
    const TensorId a = s.node("a", Op::ARANGE, {});
    const TensorId view = s.view("view", Op::RESHAPE, a);
    const TensorId b = s.node("b", Op::ARANGE, {});
    s.node("c", Op::ADD, {view, b});
    Memory memory;
    const MemoryPlan& plan = memory.place(s);
    EXPECT_NE(find(plan, a).offset, find(plan, b).offset);
    EXPECT_EQ(find(plan, a).last_use, 3);
}

TEST(MemoryPlan, OutputsAreNeverReused) {
    Sketch s{"CPU"};
    const TensorId a = s.node("a", Op::ARANGE, {});
    s.at(a).flags |= flag_output;
    const TensorId b = s.node("b", Op::SQR, {a});
    const TensorId c = s.node("c", Op::MUL_MAT, {b, b});
    Memory memory;
    const MemoryPlan& plan = memory.place(s);
    EXPECT_NE(find(plan, a).offset, find(plan, b).offset);
    EXPECT_NE(find(plan, a).offset, find(plan, c).offset);
    EXPECT_EQ(find(plan, a).last_use, 2);
}

TEST(Replan, TheSameGraphKeepsItsPlan) {
    Sketch s = two_splits();
    Memory memory;
    EXPECT_TRUE(memory.place(s).replanned);
    EXPECT_EQ(memory.place(s).reason, "");
    EXPECT_FALSE(memory.place(s).replanned);
}

TEST(Replan, ALargerNodeIsNotValid) {
    Sketch s = two_splits(), larger = two_splits();
    (*larger.at(larger.id("b")).ne)[1] = 400;
    Memory memory;
    memory.place(s);
    Notebook notebook;
    EXPECT_EQ(memory.place(larger, {}, &notebook).reason, "node b is not valid");
    const auto recorded = notebook.all<record::Reallocation>();
    ASSERT_EQ(recorded.size(), 1U);
    EXPECT_EQ(notebook.texts[static_cast<size_t>(recorded[0].reason)], "node b is not valid");
    EXPECT_EQ(recorded[0].node, larger.id("b"));
}

TEST(Replan, ASmallerGraphOfTheSameFormFits) {
    Sketch s = two_splits(), smaller = two_splits();
    (*smaller.at(smaller.id("b")).ne)[1] = 1;
    Memory memory;
    memory.place(s);
    EXPECT_FALSE(memory.place(smaller).replanned);
}

TEST(Replan, ALargerSourceIsNotValid) {
    Sketch s{"CPU"}, larger{"CPU"};
    for (Sketch* g : {&s, &larger}) {
        g->node("y", Op::MUL_MAT, {g->weight("w", "CPU"), g->leaf("x")});
    }
    (*larger.at(larger.id("x")).ne)[1] = 400;
    Memory memory;
    memory.place(s);
    EXPECT_EQ(memory.place(larger).reason, "source 1 (x) of node y is not valid");
}

TEST(Replan, CountsAreCompared) {
    Sketch s{"CPU"}, more_nodes{"CPU"}, more_leafs{"CPU"};
    s.node("a", Op::SQR, {s.leaf("x")});
    const TensorId a = more_nodes.node("a", Op::SQR, {more_nodes.leaf("x")});
    more_nodes.node("b", Op::SQR, {a});
    more_leafs.node("a", Op::ADD, {more_leafs.leaf("x"), more_leafs.leaf("y")});
    Memory memory;
    memory.place(s);
    EXPECT_EQ(memory.place(more_nodes).reason, "different number of nodes");
    memory.place(s);
    EXPECT_EQ(memory.place(more_leafs).reason, "different number of leafs");
}

TEST(Replan, AnotherOrderOfTheNodesPlansAnew) {
    Sketch s{"CPU"};
    const TensorId x = s.leaf("x");
    const TensorId a = s.node("a", Op::MUL_MAT, {x, x}), b = s.node("b", Op::MUL_MAT, {x, a});
    const TensorId c = s.node("c", Op::SQR, {a}), d = s.node("d", Op::MUL_MAT, {a, b});
    const TensorId e = s.node("e", Op::ADD, {d, c});
    const std::vector<TensorId> moved{a, c, b, d, e};
    Memory memory;
    memory.place(s);
    Notebook notebook;
    const MemoryPlan& plan = memory.place(s, moved, {}, &notebook);
    EXPECT_EQ(plan.reason, "different order of nodes");
    EXPECT_EQ(notebook.all<record::Reallocation>().size(), 1U);
    EXPECT_EQ(LifetimeCheck(s.graph.view(), memory.plan, memory.allocated).complaint(plan), "");
    EXPECT_FALSE(memory.place(s, moved).replanned);
    EXPECT_EQ(memory.place(s).reason, "different order of nodes");
}

TEST(Replan, AnotherBackendsMemoryPlansAnew) {
    Sketch s{"GPU0", "CPU"}, moved{"GPU0", "CPU"};
    s.node("a", Op::ARANGE, {});
    moved.at(moved.node("a", Op::ARANGE, {})).user_backend = 1;
    Memory memory;
    memory.place(s);
    memory.place(s); // both index arrays hold the GPU now
    EXPECT_EQ(memory.place(moved).reason, "backend ids changed");
}

TEST(Replan, BuffersOnlyGrow) {
    Sketch s = two_splits(), larger = two_splits();
    (*larger.at(larger.id("b")).ne)[1] = 400;
    Memory memory;
    const auto small = memory.place(s).chunk_sizes;
    const auto large = memory.place(larger).chunk_sizes;
    EXPECT_GT(large[1][0], small[1][0]);
    larger.node("one more", Op::SQR, {larger.id("b")});
    for (const char* name : {"b", "one more"}) {
        (*larger.at(larger.id(name)).ne)[1] = 2;
    }
    const MemoryPlan& shrunk = memory.place(larger);
    EXPECT_TRUE(shrunk.replanned);
    EXPECT_EQ(shrunk.chunk_sizes, large);
}

TEST(MemoryErrors, ALeafWithoutABackendIsRefusedByName) {
    Sketch s{"CPU"};
    s.view("view", Op::VIEW, s.leaf("only viewed"));
    Memory memory;
    try {
        memory.place(s);
        FAIL() << "must be refused";
    } catch (const PlanError& error) {
        EXPECT_EQ(error.error_class, "alloc_unassigned");
        EXPECT_THAT(error.what(), HasSubstr("'only viewed' (NONE)"));
    }
}

TEST(MemoryErrors, ALeafWhereTheKeptPlanHasNoPlaceIsRefusedByName) {
    Sketch s{"GPU0", "CPU"};
    const TensorId x = s.input("resident");
    s.at(x).buffer_type = 1;
    s.at(s.node("y", Op::SQR, {x})).user_backend = 1;
    PlanOptions options;
    options.n_stages = 4;
    Memory memory;
    memory.place(s, options);
    options.current_stage = 1; // a fresh copy now stands where the allocated original stood
    Notebook notebook;
    try {
        memory.place(s, options, &notebook);
        FAIL() << "must be refused";
    } catch (const PlanError& error) {
        EXPECT_EQ(error.error_class, "alloc_stale_record");
        EXPECT_THAT(error.what(), HasSubstr("resident"));
        const auto ends = notebook.all<record::PlanEnd>();
        EXPECT_EQ(notebook.texts[static_cast<size_t>(ends.back().error)], error.what());
    }
}
