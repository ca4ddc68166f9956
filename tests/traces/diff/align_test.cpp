// Which tensor of one graph is which of another: by what they compute, whatever they are called.
#include "tests/support/random/random_sketch.h"
#include "tests/support/traces/sample_run.h"
#include "tests/traces/diff/tagged_graph.h"
#include "traces/diff/align.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace schedscope {
namespace {

using namespace test;

/// What two graphs' tags say that is not so in their alignment: "gate.1 is up.1", "norm.0 is nothing". Empty: all is right.
std::vector<std::string> wrong(const TaggedGraph& a, const TaggedGraph& b) {
    const Alignment alignment = align(a.graph, b.graph);
    std::map<std::string, TensorId> in_b;
    for (size_t i = 0; i < b.tags.size(); ++i) {
        in_b[b.tags[i]] = static_cast<TensorId>(i);
    }
    std::vector<std::string> wrong;
    for (size_t i = 0; i < a.tags.size(); ++i) {
        const auto expected = in_b.find(a.tags[i]);
        const TensorId found = alignment.in_b[i];
        if (found != (expected == in_b.end() ? no_tensor : expected->second)) {
            wrong.push_back(a.tags[i] + " is " + (found == no_tensor ? "nothing" : b.tags[static_cast<size_t>(found)]));
        }
    }
    return wrong;
}

using ::testing::IsEmpty;

TEST(Align, AGraphIsItself) {
    EXPECT_THAT(wrong(tagged({}), tagged({})), IsEmpty());
    EXPECT_THAT(wrong(tagged({.flash_attention = false}), tagged({.flash_attention = false})), IsEmpty());
}

TEST(Align, NamesDontMatter) { EXPECT_THAT(wrong(tagged({}), tagged({.renamed = true})), IsEmpty()); }

TEST(Align, EachDirectionIsTheOthersInverse) {
    const TaggedGraph a = tagged({.extra_after = 1}), b = tagged({.tokens = 1, .flash_attention = false});
    const Alignment alignment = align(a.graph, b.graph);
    for (size_t i = 0; i < alignment.in_b.size(); ++i) {
        if (const TensorId other = alignment.in_b[i]; other != no_tensor) {
            EXPECT_EQ(alignment.in_a[static_cast<size_t>(other)], static_cast<TensorId>(i));
            EXPECT_EQ(a.graph.tensors[i].op, b.graph.tensors[static_cast<size_t>(other)].op);
        }
    }
    const auto n_aligned = [](const std::vector<TensorId>& list) {
        return list.size() - static_cast<size_t>(std::count(list.begin(), list.end(), no_tensor));
    };
    EXPECT_EQ(n_aligned(alignment.in_b), n_aligned(alignment.in_a));
}

TEST(Align, ANodePutInBetweenIsTheOnlyOneWithoutAPartner) {
    for (const int after : {0, 1, 3}) {
        for (const bool renamed : {false, true}) {
            const TaggedGraph with = tagged({.renamed = renamed, .extra_after = after});
            EXPECT_THAT(wrong(tagged({}), with), IsEmpty()) << after << renamed;
            EXPECT_THAT(wrong(with, tagged({})), IsEmpty()) << after << renamed;
        }
    }
}

TEST(Align, WhatSurroundsAPartThatWasTakenOutStaysAligned) {
    for (const int without : {0, 2, 3}) {
        EXPECT_THAT(wrong(tagged({}), tagged({.without = without})), IsEmpty()) << without;
        EXPECT_THAT(wrong(tagged({.without = without}), tagged({})), IsEmpty()) << without;
    }
}

TEST(Align, AnotherOrderIsTheSameGraph) {
    EXPECT_THAT(wrong(tagged({}), tagged({.up_first = true})), IsEmpty());
    EXPECT_THAT(wrong(tagged({}), tagged({.renamed = true, .up_first = true})), IsEmpty());
}

TEST(Align, AnotherBatchIsTheSameGraph) {
    EXPECT_THAT(wrong(tagged({.tokens = 40}), tagged({.tokens = 1})), IsEmpty());
    EXPECT_THAT(wrong(tagged({.tokens = 40}), tagged({.tokens = 512, .renamed = true})), IsEmpty());
}

TEST(Align, AnotherCacheTypeIsTheSameGraph) {
    EXPECT_THAT(wrong(tagged({}), tagged({.cache_type = Type::Q8_0})), IsEmpty());
    EXPECT_THAT(wrong(tagged({}), tagged({.cache_type = Type::Q8_0, .renamed = true})), IsEmpty());
}

TEST(Align, WithoutFlashAttentionOnlyTheAttentionDiffers) {
    EXPECT_THAT(wrong(tagged({}), tagged({.flash_attention = false})), IsEmpty());
    EXPECT_THAT(wrong(tagged({.flash_attention = false}), tagged({})), IsEmpty());
}

TEST(Align, OneMoreLayerIsTheOnlyOneWithoutAPartner) {
    EXPECT_THAT(wrong(tagged({.layers = 4}), tagged({.layers = 5})), IsEmpty());
    EXPECT_THAT(wrong(tagged({.layers = 7}), tagged({.layers = 4})), IsEmpty());
}

TEST(Align, SeveralChangesAtOnce) {
    EXPECT_THAT(wrong(tagged({}), tagged({.layers = 6, .tokens = 7, .flash_attention = false, .cache_type = Type::F32})),
                IsEmpty());
    EXPECT_THAT(wrong(tagged({.tokens = 40}), tagged({.tokens = 1, .extra_after = 0, .without = 2})), IsEmpty());
    EXPECT_THAT(wrong(tagged({.without = 1}), tagged({.cache_type = Type::F32, .up_first = true})), IsEmpty());
}

TEST(Align, ANameDecidesBetweenTensorsThatNothingElseTellsApart) {
    const auto twins = [](const char* first, const char* second) {
        OwnedGraph g;
        for (const char* name : {first, second}) {
            TensorInfo leaf;
            leaf.name = g.keep(name);
            leaf.nb = contiguous_strides(*leaf.type, *leaf.ne);
            g.leafs.push_back(static_cast<TensorId>(g.tensors.size()));
            g.tensors.push_back(leaf);
        }
        return g;
    };
    EXPECT_EQ(align(twins("x", "y"), twins("y", "x")).in_b, (std::vector<TensorId>{1, 0}));
    EXPECT_EQ(align(twins("x", "y"), twins("u", "v")).in_b, (std::vector<TensorId>{0, 1})); // then their order
    EXPECT_EQ(align(twins("leaf_1", "leaf_2"), twins("leaf_2", "leaf_1")).in_b, (std::vector<TensorId>{0, 1}));
}

/// A log does not say which leafs are weights, and shows two of one name as one.
TEST(Align, LeafsOfOneNameTypeAndShapeAreTheSameWhateverTheirMemoryIsFor) {
    const auto product = [](std::initializer_list<const char*> weights, BufferUsage usage, int64_t rows) {
        OwnedGraph g;
        const auto add = [&](const char* name, Op op) {
            TensorInfo t;
            t.name = g.keep(name);
            t.op = op;
            t.ne = Shape{8, rows, 1, 1};
            t.nb = contiguous_strides(*t.type, *t.ne);
            (op == Op::NONE ? g.leafs : g.nodes).push_back(static_cast<TensorId>(g.tensors.size()));
            g.tensors.push_back(t);
        };
        for (const char* weight : weights) {
            add(weight, Op::NONE);
            g.tensors.back().usage = usage;
        }
        return g;
    };
    const OwnedGraph recorded = product({"v.weight", "w.weight", "w.weight"}, BufferUsage::weights, 2);
    EXPECT_EQ(align(product({"w.weight", "v.weight"}, BufferUsage::any, 2), recorded).in_b, (std::vector<TensorId>{1, 0}));
    EXPECT_EQ(align(product({"w.weight", "v.weight"}, BufferUsage::any, 3), recorded).in_b,
              (std::vector<TensorId>{no_tensor, no_tensor}));
}

/// A log shows no view between the two, and says otherwise what the input is called; what reads it may differ, too.
TEST(Align, ANodeOfOneNameAndOperatorIsTheSameWhateverItReads) {
    struct NodeOf {
        const char* name;
        Op op;
        std::vector<TensorId> sources;
    };
    const auto graph_of = [](const std::vector<NodeOf>& nodes) {
        OwnedGraph g;
        for (const NodeOf& node : nodes) {
            TensorInfo t;
            t.name = g.keep(node.name);
            t.op = node.op;
            t.nb = contiguous_strides(*t.type, *t.ne);
            std::copy(node.sources.begin(), node.sources.end(), t.src.begin());
            (node.op == Op::NONE ? g.leafs : g.nodes).push_back(static_cast<TensorId>(g.tensors.size()));
            g.tensors.push_back(t);
        }
        return g;
    };
    const OwnedGraph logged = graph_of({{"x", Op::NONE, {}},
                                        {"w", Op::NONE, {}},
                                        {"inp_pos", Op::NONE, {}},
                                        {"Q-0", Op::MUL_MAT, {1, 0}},
                                        {"Q-0", Op::ROPE, {3, 2}},
                                        {"kq-0", Op::SOFT_MAX, {4}}}),
                     recorded = graph_of({{"x", Op::NONE, {}},
                                          {"w", Op::NONE, {}},
                                          {"leaf_5", Op::NONE, {}},
                                          {"Q-0", Op::MUL_MAT, {1, 0}},
                                          {"Q-0 (view)", Op::RESHAPE, {3}},
                                          {"Q-0", Op::ROPE, {4, 2}},
                                          {"kq-0", Op::FLASH_ATTN_EXT, {5}}});
    EXPECT_EQ(align(logged, recorded).in_b[4], 5);
    EXPECT_EQ(align(logged, recorded).in_b[5], no_tensor) << "another operator";
}

TEST(Align, EmptyGraphsAndCirclesDoNoHarm) {
    const OwnedGraph empty;
    EXPECT_THAT(align(empty, empty).in_b, IsEmpty());
    const TaggedGraph some = tagged({});
    EXPECT_EQ(align(some.graph, empty).in_b, std::vector<TensorId>(some.tags.size(), no_tensor));
    OwnedGraph circle;
    circle.tensors.resize(2);
    circle.tensors[0].src[0] = 1;
    circle.tensors[1].src[0] = 0;
    const OwnedGraph same = OwnedGraph::copy_of(circle.view());
    EXPECT_EQ(align(circle, same).in_b, (std::vector<TensorId>{0, 1}));
}

TEST(Align, AnyGraphIsItself) {
    const SessionInfo info = session({"Vulkan0", "CPU"});
    for (unsigned seed = 0; seed < 50; ++seed) {
        const test::RandomShape shape{seed, 70, 1 + seed % 8};
        const Alignment alignment = align(test::random_sketch(shape, info), test::random_sketch(shape, info));
        for (size_t i = 0; i < alignment.in_b.size(); ++i) {
            ASSERT_EQ(alignment.in_b[i], static_cast<TensorId>(i)) << "seed " << seed;
        }
    }
}

TEST(Align, TheWorkGrowsAsTheGraphsDo) {
    const auto work = [](int layers) {
        const TaggedGraph a = tagged({.layers = layers}), b = tagged({.layers = layers + 1, .flash_attention = false});
        const auto size = static_cast<double>(a.tags.size() + b.tags.size());
        return static_cast<double>(align(a.graph, b.graph).work) / size;
    };
    const double small = work(20), large = work(1280);
    EXPECT_LT(large, 1.2 * small);
    EXPECT_LT(large, 150);
}

/// A graph as a log has it: nodes that are no views with what they read, whatever that is; each other node is a number.
OwnedGraph as_listed(const OwnedGraph& whole) {
    OwnedGraph listed = OwnedGraph::copy_of(whole.view());
    for (TensorInfo& t : listed.tensors) {
        if (*t.op == Op::NONE || is_view_op(*t.op)) {
            t.op.reset();
            t.src.fill(no_tensor);
        }
        t.ne.reset();
    }
    listed.leafs.clear();
    for (TensorId& node : listed.nodes) {
        if (!listed.tensors[static_cast<size_t>(node)].op) {
            node = n_of(listed.tensors);
            TensorInfo left_out;
            left_out.op.reset();
            listed.tensors.push_back(left_out);
        }
    }
    return listed;
}

TEST(Align, AListOfNodesIsTheGraphThatHasTheSameOnesInOrder) {
    const OwnedGraph whole = blocks(3, 40, 2);
    OwnedGraph listed = as_listed(whole);
    const std::optional<Alignment> alignment = align_listed(listed, whole);
    ASSERT_TRUE(alignment);
    int n_views = 0;
    for (TensorId id = 0; id < n_of(whole.tensors); ++id) { // as_listed leaves them their numbers
        const TensorInfo& t = whole.tensors[static_cast<size_t>(id)];
        EXPECT_EQ(alignment->in_b[static_cast<size_t>(id)], id) << t.name;
        EXPECT_EQ(alignment->in_a[static_cast<size_t>(id)], id) << t.name;
        n_views += is_view_op(*t.op) ? 1 : 0;
    }
    EXPECT_GT(n_views, 0);

    EXPECT_FALSE(align_listed(as_listed(blocks(2, 40, 2)), whole));
    EXPECT_FALSE(align_listed(as_listed(blocks(4, 40, 2)), whole));
    listed.tensors[static_cast<size_t>(listed.nodes.front())].op = Op::MUL;
    EXPECT_FALSE(align_listed(listed, whole)) << "another operator";
    listed.tensors[static_cast<size_t>(listed.nodes.front())].op.reset();
    EXPECT_TRUE(align_listed(listed, whole)) << "an operator that is not known";
}

} // namespace
} // namespace schedscope
