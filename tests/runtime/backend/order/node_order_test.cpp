#include "runtime/backend/order/node_order.h"
#include "tests/runtime/backend/order/fusion_sketch.h"
#include "tests/support/random/random_graph.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace schedscope::test {
namespace {

/// What a node depends on, said in another way than the program does: the memory that it reads and writes, by the tensor at the
/// root.
struct Access {
    std::vector<const Tensor*> read;
    const Tensor* written = nullptr;
};
const Tensor* root(const Tensor* t) { return t->view_source != nullptr ? t->view_source : t; }
Access access(const Tensor& node) {
    Access a;
    if (is_view_op(node.op)) {
        return a;
    }
    for (const Tensor* source : node.src) {
        if (source != nullptr) {
            a.read.push_back(root(source));
        }
    }
    a.written = root(&node);
    return a;
}
bool reads(const Access& a, const Tensor* memory) {
    return memory != nullptr && std::find(a.read.begin(), a.read.end(), memory) != a.read.end();
}

/// The first pair of nodes that changed places though the later one depends on the earlier one. Empty: none.
std::string broken(std::span<Tensor* const> before, std::span<Tensor* const> after) {
    std::map<const Tensor*, size_t> now;
    for (size_t i = 0; i < after.size(); ++i) {
        now[after[i]] = i;
    }
    if (now.size() != before.size() || after.size() != before.size()) {
        return "nodes are missing";
    }
    for (size_t i = 0; i < before.size(); ++i) {
        for (size_t j = i + 1; j < before.size(); ++j) {
            const Access a = access(*before[i]);
            const Access b = access(*before[j]);
            const bool source = std::find(before[j]->src.begin(), before[j]->src.end(), before[i]) != before[j]->src.end();
            const bool memory = reads(b, a.written) || reads(a, b.written) || (a.written != nullptr && a.written == b.written);
            if ((source || memory) && now.at(before[i]) > now.at(before[j])) {
                return before[i]->name + " and " + before[j]->name;
            }
        }
    }
    return "";
}

/// How often a node must wait for one since the last wait.
int waits(const SplitGraph& split) {
    int n = 0;
    std::vector<const Tensor*> together;
    for (const Tensor* node : split.nodes) {
        for (const Tensor* earlier : together) {
            if (must_wait(*node, *earlier)) {
                ++n;
                together.clear();
                break;
            }
        }
        together.push_back(node);
    }
    return n;
}

/// What groups and pairs are, by name.
std::vector<std::string> story(const SplitGraph& split) {
    std::vector<std::string> all;
    for (const FusionGroup& g : split.groups) {
        all.emplace_back(g.kernel);
        for (int32_t i = g.first; i < g.first + g.count; ++i) {
            all.back() += " " + split.nodes[static_cast<size_t>(i)]->name;
        }
    }
    for (const UnfusedPair& p : split.not_fused) {
        all.push_back(split.nodes[static_cast<size_t>(p.first)]->name + " " + split.nodes[static_cast<size_t>(p.second)]->name +
                      " " + std::string(p.why));
    }
    std::sort(all.begin(), all.end());
    return all;
}

class NodeOrder : public ::testing::Test, public FusionSketch {
protected:
    Tensor* x_ = f32({64, 4, 1, 1}, "x");
    Tensor* cache_ = f32({64, 32, 1, 1}, "cache");

    Tensor* product(const char* name, Tensor* x) { return named(ops::mul_mat(graph, f32({64, 64, 1, 1}), x), name); }
    Tensor* stored(const char* name) {
        return named(ops::set_rows(graph, cache_, f32({64, 4, 1, 1}), graph.input(Type::I64, {4, 1, 1, 1})), name);
    }
    Tensor* reader(const char* name) {
        return named(ops::cont(graph, ops::view_2d(graph, cache_, 64, 4, cache_->nb[1], 0)), name);
    }
    void list(std::initializer_list<Tensor*> nodes) {
        for (Tensor* t : nodes) {
            graph.expand(t);
        }
        graph.number();
        split.nodes.assign(graph.nodes().begin(), graph.nodes().end());
    }
};

TEST_F(NodeOrder, AReaderOfTheCacheFollowsItsWriter) {
    Tensor* write = stored("write");
    Tensor* read = reader("read");
    EXPECT_TRUE(must_wait(*read, *write));
    EXPECT_TRUE(must_wait(*write, *read));
    EXPECT_TRUE(must_wait(*stored("again"), *write));
    EXPECT_FALSE(must_wait(*reader("other"), *read));
}
TEST_F(NodeOrder, NothingWaitsForViews) {
    Tensor* made = product("made", x_);
    Tensor* view = ops::view_1d(graph, made, 64, 0);
    Tensor* read = ops::cont(graph, view);
    EXPECT_FALSE(must_wait(*view, *made));
    EXPECT_TRUE(must_follow(*view, *made));
    EXPECT_FALSE(must_wait(*read, *view));
    EXPECT_TRUE(must_follow(*read, *view));
    EXPECT_TRUE(must_wait(*read, *made));
}
TEST_F(NodeOrder, KnowsWhatMustNotChangePlaces) {
    Tensor* write = stored("write");
    Tensor* read = reader("read");
    list({write, read, product("alone", x_)});
    const std::vector<Tensor*> before = split.nodes;
    EXPECT_EQ(broken_order(before, before).earlier, nullptr);
    std::vector<Tensor*> after = before;
    const auto at = [&](const Tensor* t) { return std::find(after.begin(), after.end(), t); };
    std::rotate(after.begin(), at(read), at(read) + 1); // before its view
    EXPECT_EQ(broken_order(before, after).later, read);
    std::rotate(after.begin(), at(read->src[0]), at(read->src[0]) + 1); // the view first: still before the writer
    EXPECT_EQ(broken_order(before, after).earlier, write);
    EXPECT_EQ(broken_order(before, after).later, read);
    after = before;
    std::rotate(after.begin(), after.end() - 1, after.end());
    EXPECT_EQ(broken_order(before, after).earlier, nullptr);
}
TEST_F(NodeOrder, BringsTwoChainsSideBySide) {
    Tensor* a = product("a1", x_);
    Tensor* b = product("b1", x_);
    list({product("a3", product("a2", a)), product("b3", product("b2", b))});
    EXPECT_EQ(waits(split), 4);
    spread_waits(split);
    EXPECT_EQ(order(), "a1 b1 a2 b2 a3 b3");
    EXPECT_EQ(waits(split), 2);
}
TEST_F(NodeOrder, LeavesACacheWriteBeforeItsReaderAndBehindTheOneBefore) {
    list({product("a", x_), reader("before"), stored("write"), reader("behind")});
    spread_waits(split);
    const std::string text = order();
    EXPECT_LT(text.find("before"), text.find("write"));
    EXPECT_LT(text.find("write"), text.find("behind"));
}
TEST_F(NodeOrder, LeavesAnOrderThatHasNoWaits) {
    list({product("a", x_), product("b", x_), product("c", x_)});
    spread_waits(split);
    EXPECT_EQ(order(), "a b c");
}
TEST_F(NodeOrder, DoesNothingWithoutNodes) {
    spread_waits(split);
    EXPECT_TRUE(split.nodes.empty());
}
TEST_F(NodeOrder, MovesGroupsAsOne) {
    Tensor* norm = named(ops::rms_norm(graph, x_, 1e-5F), "norm");
    find({product("a2", product("a", x_)), named(ops::mul(graph, norm, f32({64, 1, 1, 1})), "mul")});
    spread_waits(split);
    EXPECT_EQ(order(), "a norm mul a2");
    EXPECT_EQ(groups(), "rms_norm_mul(norm, mul)");
}

TEST(RandomNodeOrder, IsBrokenWhereEachPairSaysSo) {
    int broke = 0;
    for (uint32_t seed = 0; seed < 600; ++seed) {
        RandomGraph random(fusable_chains(), {seed, 12, 2});
        const std::vector<Tensor*> before(random.graph.nodes().begin(), random.graph.nodes().end());
        std::vector<Tensor*> after = before;
        std::mt19937 choose(seed);
        for (int i = 0; i < 2; ++i) { // neighbours and nodes some steps apart
            const size_t from = choose() % after.size();
            const size_t to = std::min(after.size() - 1, from + 1 + choose() % 3);
            std::swap(after[from], after[to]);
        }
        const bool expected = !broken(before, after).empty();
        EXPECT_EQ(broken_order(before, after).earlier != nullptr, expected) << "seed " << seed;
        broke += expected ? 1 : 0;
    }
    EXPECT_GT(broke, 100);
    EXPECT_LT(broke, 590);
}

TEST(RandomNodeOrder, NeverBreaksADependency) {
    int moved = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        RandomGraph random(fusable_chains(), {seed, 40, 1 + seed % 5});
        SplitGraph split;
        split.nodes.assign(random.graph.nodes().begin(), random.graph.nodes().end());
        const std::vector<Tensor*> before = split.nodes;
        find_groups(split, AnyKernel());
        ASSERT_EQ(broken(before, split.nodes), "") << "packed, seed " << seed;
        const std::vector<std::string> found = story(split);
        const int waits_before = waits(split);
        spread_waits(split);
        ASSERT_EQ(broken(before, split.nodes), "") << "spread, seed " << seed;
        EXPECT_EQ(story(split), found) << "seed " << seed;
        EXPECT_LE(waits(split), waits_before) << "seed " << seed;
        moved += split.nodes != before ? 1 : 0;
    }
    EXPECT_GT(moved, 300);
}

} // namespace
} // namespace schedscope::test
