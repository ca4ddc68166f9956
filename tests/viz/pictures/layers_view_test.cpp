#include "tests/viz/parsed.h"
#include "tests/viz/sketch.h"
#include "traces/history/words/layer_in_name.h"
#include "traces/history/words/words.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Blocks, AreToldByNames) {
    EXPECT_EQ(layer_of_name("Qcur-3"), 3);
    EXPECT_EQ(layer_of_name("Qcur-31 (view)"), 31);
    EXPECT_EQ(layer_of_name("Vulkan0#norm-3#0"), 3);
    EXPECT_EQ(layer_of_name("cache_k_l12 (view)"), 12);
    EXPECT_EQ(layer_of_name("node_31"), std::nullopt);
    EXPECT_EQ(layer_of_name("result_output"), std::nullopt);
    EXPECT_EQ(layer_of_name("a-b"), std::nullopt);
    EXPECT_EQ(layer_of_name("x-99999999999999"), std::nullopt);
    EXPECT_EQ(layer_of_name(""), std::nullopt);
}

TEST(LayersView, EveryNodeIsInOneGroup) {
    Sketch s = llama(6, 4);
    s.split_up();
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_EQ(parsed.nodes.size(), 6U) << "six blocks, of which the last three are one, what is before, what is behind";
    int64_t n = 0;
    for (const auto& [id, values] : parsed.nodes) {
        n += std::stoll(values.at("n_nodes"));
    }
    EXPECT_EQ(n, static_cast<int64_t>(s.state.order.size()));
    EXPECT_EQ(parsed.nodes.at("before the layers").at("n_nodes"), "1");
    EXPECT_EQ(parsed.nodes.at("output").at("n_nodes"), "2");
}

TEST(LayersView, BlocksThatArePlacedAlikeAreOneBox) {
    Sketch s = llama(14, 6);
    s.split_up();
    const Parsed parsed(draw_layers(s.subject()));
    ASSERT_TRUE(parsed.nodes.contains("layers 0–7"));
    EXPECT_THAT(parsed.label("layers 0–7"),
                AllOf(HasSubstr("176 nodes"), HasSubstr("22 nodes each, 4.0 KiB from one to the next"), HasSubstr("CPU 176"),
                      HasSubstr("72 weights")));
    EXPECT_EQ(parsed.edge("layers 0–7", "layer 8").values.at("style"), "dashed") << "the first on the GPU has copies made for it";
    EXPECT_EQ(parsed.edge("layer 8", "layers 9–13").values.at("bytes"), "4096");
    EXPECT_THAT(parsed.label("layers 9–13"), AllOf(HasSubstr("20 copies for it"), HasSubstr("22 nodes and 4 copies each")))
        << "as many splits and copies each, of its own";
    int64_t n = 0;
    for (const auto& [id, values] : parsed.nodes) {
        n += std::stoll(values.at("n_nodes"));
    }
    EXPECT_EQ(n, static_cast<int64_t>(s.state.order.size()));

    Subject marked = s.subject();
    marked.changed_from = 0; // what changed is marked in each block
    EXPECT_TRUE(Parsed(draw_layers(marked)).nodes.contains("layer 3"));
}

TEST(LayersView, EdgesTellWhatPassesAndWhetherItIsCopied) {
    Sketch s = llama(3, 1);
    s.split_up();
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_EQ(parsed.edge("layer 0", "layer 1").values.at("bytes"), "4096") << "l_out-0, 64 × 16 floats";
    EXPECT_THAT(parsed.edge("layer 0", "layer 1").values.at("style"), Not(HasSubstr("dashed")));
    EXPECT_EQ(parsed.edge("layer 1", "layer 2").values.at("bytes"), "4096");
    EXPECT_EQ(parsed.edge("layer 1", "layer 2").values.at("style"), "dashed") << "from the CPU to the GPU";
    EXPECT_EQ(parsed.edges.size(), 4U);
}

TEST(LayersView, BlocksTellBackendsWeightsAndCopiesInside) {
    Sketch s = llama(2, 1);
    s.split_up();
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_THAT(parsed.label("layer 0"), AllOf(HasSubstr("CPU 22"), HasSubstr("9 weights")));
    EXPECT_THAT(parsed.label("layer 1"),
                AllOf(HasSubstr("Vulkan0 21"), HasSubstr("CPU 1"), HasSubstr("7 copies for it, 28.1 KiB")));
    const Palette palette(s.session);
    EXPECT_EQ(parsed.nodes.at("layer 1").at("fillcolor"), palette[0].pale) << "one colour behind the text";
    EXPECT_THAT(parsed.label("layer 1"), AllOf(HasSubstr("width=\"114\" bgcolor=\"" + std::string(palette[0].fill)),
                                               HasSubstr("width=\"5\" bgcolor=\"" + std::string(palette[1].fill))));
    EXPECT_THAT(parsed.label("layer 0"), Not(HasSubstr("bgcolor"))) << "all on one backend";
    EXPECT_THAT(parsed.label("layer 0"), HasSubstr("reads inp_pos"));
}

/// The ids follow the first use: that of the first block's cache may lie among those of the inputs.
TEST(LayersView, EachBlockNamesFirstWhatAllBlocksRead) {
    Sketch s;
    const TensorId positions = s.leaf("inp_pos", {4}, 1, flag_input), first_cache = s.leaf("cache_k_l0", {4}, 1),
                   rows = s.leaf("k_idxs", {4}, 1, flag_input), mask = s.leaf("KQ_mask", {4}, 1, flag_input),
                   second_cache = s.leaf("cache_k_l1", {4}, 1);
    TensorId x = s.add("embd", Op::ADD, {4}, 1, {s.leaf("in", {4}, 1)});
    for (const char* layer : {"0", "1"}) {
        for (const TensorId read : {positions, rows, mask, layer[0] == '0' ? first_cache : second_cache}) {
            x = s.add("a-" + std::string(layer), Op::ADD, {4}, 1, {x, read});
        }
    }
    const Parsed parsed(draw_layers(s.subject()));
    for (const char* block : {"layer 0", "layer 1"}) {
        EXPECT_THAT(parsed.label(block), HasSubstr("reads inp_pos, k_idxs, KQ_mask and 1 more tensor")) << block;
    }
}

TEST(LayersView, NodesWithoutABlockFollowTheirNeighbour) {
    Sketch s;
    TensorId x = s.leaf("in", {4}, 1);
    for (const char* name : {"embd", "a-0", "node_2", "b-0", "node_4", "a-1", "result"}) {
        x = s.add(name, Op::ADD, {4}, 1, {x});
    }
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_EQ(parsed.nodes.at("layer 0").at("n_nodes"), "4");
    EXPECT_EQ(parsed.nodes.at("layer 1").at("n_nodes"), "1");
}

TEST(LayersView, WhereABackendMovesANodeItsBlockStaysTheSame) {
    Sketch s;
    TensorId x = s.leaf("in", {4}, 1);
    for (const char* name : {"embd", "a-0", "node_2", "b-0", "a-1", "node_5", "b-1", "result"}) {
        x = s.add(name, Op::ADD, {4}, 1, {x});
    }
    std::swap(s.state.order[2], s.state.order[5]); // each among the nodes of the other block
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_EQ(parsed.nodes.at("layer 0").at("n_nodes"), "3");
    EXPECT_EQ(parsed.nodes.at("layer 1").at("n_nodes"), "3");
    EXPECT_TRUE(std::none_of(parsed.edges.begin(), parsed.edges.end(),
                             [](const auto& edge) { return edge.from == "layer 1" && edge.to == "layer 0"; }));
}

TEST(LayersView, GraphsWithoutBlocksAreGroupedBySplit) {
    Sketch s;
    const TensorId a = s.add("a", Op::ADD, {4}, 0, {s.leaf("in", {4}, 0)});
    s.add("b", Op::ADD, {4}, 1, {a});
    s.split_up();
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_EQ(parsed.edge("split 0", "split 1").values.at("bytes"), "16");
}

/// A block's kernels on the host are timed by default, its splits on a device only as a whole.
TEST(LayersView, ABlockTellsTheTimeThatIsKnownAndWhoseIsNot) {
    Sketch s = llama(2, 1);
    s.split_up();
    for (SplitState& split : s.state.splits) {
        split.kernels = split.backend() == 0 ? 1 : 0;
    }
    for (const TensorId node : s.state.order) {
        if (s.state.tensors[node].backend == 1) {
            record::Execute kernel;
            kernel.first = kernel.last = node;
            kernel.end_ns = 1000;
            s.state.executed.push_back(kernel);
        }
    }
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_THAT(parsed.label("layer 0"), AllOf(HasSubstr(" µs"), Not(HasSubstr("not timed"))));
    EXPECT_THAT(parsed.label("layer 1"), AllOf(HasSubstr("at least 1.00 µs"), HasSubstr("Vulkan0 not timed")))
        << "one node on the host";
}

TEST(LayersView, ASplitThatLiesInOneBlockGivesItsTimeAsAWhole) {
    Sketch s;
    TensorId x = s.leaf("in", {4}, 1);
    for (const auto& [name, backend] : {std::pair{"a-0", 0}, {"b-0", 1}, {"a-1", 0}, {"b-1", 0}}) {
        x = s.add(name, Op::ADD, {4}, backend, {x});
    }
    s.split_up();
    ASSERT_EQ(s.state.splits.size(), 3U);
    for (SplitState& split : s.state.splits) {
        split.kernels = 1;
        split.start_ns = 0;
        split.end_ns = 5000;
    }
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_THAT(parsed.label("layer 0"), AllOf(HasSubstr("10.0 µs"), Not(HasSubstr("not timed"))));
    EXPECT_THAT(parsed.label("layer 1"), AllOf(HasSubstr("5.00 µs"), Not(HasSubstr("not timed"))));
}

TEST(LayersView, ADeviceWhoseOtherSplitEndsInTheNextBlockIsTimedInPart) {
    Sketch s;
    TensorId x = s.leaf("in", {4}, 1);
    for (const auto& [name, backend] : {std::pair{"a-0", 0}, {"b-0", 1}, {"c-0", 0}, {"a-1", 0}}) {
        x = s.add(name, Op::ADD, {4}, backend, {x});
    }
    s.split_up();
    for (SplitState& split : s.state.splits) {
        split.kernels = 1;
        split.start_ns = 0;
        split.end_ns = 5000;
    }
    const Parsed parsed(draw_layers(s.subject()));
    EXPECT_THAT(parsed.label("layer 0"), AllOf(HasSubstr("at least 10.0 µs"), HasSubstr("Vulkan0 in part not timed")));
    EXPECT_THAT(parsed.label("layer 1"), Not(HasSubstr("in part")));
}

/// Of experts only those that are used are moved.
TEST(LayersView, TotalsTellWhatIsCopiedAndHowMuchOfItWasMoved) {
    Sketch s = llama(2, 1);
    s.split_up();
    int64_t all = 0;
    for (const SplitState& split : s.state.splits) {
        for (const record::SplitInput& input : split.inputs) {
            all += *input.bytes;
        }
    }
    ASSERT_GT(all, 3072);
    const auto drawn = [&] { return draw_layers(s.subject()) + draw_splits(s.subject()); };
    EXPECT_THAT(drawn(), Not(HasSubstr("moved")));
    record::Transfer transfer;
    transfer.bytes = all - 2048;
    s.state.transfers.push_back(transfer);
    const std::string words = words::bytes(all) + ", of which " + words::bytes(all - 2048) + " were moved";
    EXPECT_THAT(draw_layers(s.subject()), HasSubstr(words));
    EXPECT_THAT(draw_splits(s.subject()), HasSubstr(words));
    s.state.transfers.front().bytes = all;
    EXPECT_THAT(drawn(), Not(HasSubstr("moved"))) << "all of it";
}

} // namespace
} // namespace schedscope
