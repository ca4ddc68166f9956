// How much of a chain runs in the graph, and what is said about the rest.
#include "runtime/backend/cpu/cpu_device.h"
#include "tests/runtime/sampling/graph/sampled_graph.h"
#include "tests/support/wrong_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace schedscope::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "+top_k", "-top_p", "xtc".
std::vector<std::string> places(const GraphChain& chain) {
    std::vector<std::string> out;
    for (const SamplerPart& p : chain.parts()) {
        out.push_back((p.in_graph ? "+" : p.refused ? "-" : "") + std::string(p.name));
    }
    return out;
}

std::unique_ptr<GraphChain> on(const Device& device, const std::string& text, int64_t n_vocab = 40) {
    return std::make_unique<GraphChain>(0, chain_from(text), OutputPlace{&device, LoadMode::data, n_vocab, 0, "a test"});
}

constexpr const char* usual = "top_k=9;top_p=0.9;min_p=0.1;temp=0.8;dist";

TEST(GraphChain, RunsWhollyWhereTheDeviceCan) {
    const auto device = make_cpu_device();
    const auto chain = on(*device, usual);
    EXPECT_THAT(places(*chain), ElementsAre("+top_k", "+top_p", "+min_p", "+temp", "+dist"));
    for (const SamplerPart& p : chain->parts()) {
        EXPECT_GT(p.n_nodes, 0) << p.name;
        EXPECT_EQ(p.why_not, "");
    }
}

TEST(GraphChain, StopsAtTheFirstSamplerThatTheDeviceLacksAnOperatorFor) {
    for (const auto& [refused, expected] :
         std::vector<std::pair<Op, std::vector<std::string>>>{{Op::CUMSUM, {"+top_k", "-top_p", "min_p", "temp", "dist"}},
                                                              {Op::TOP_K, {"-top_k", "top_p", "min_p", "temp", "dist"}},
                                                              {Op::SOFT_MAX, {"+top_k", "-top_p", "min_p", "temp", "dist"}},
                                                              {Op::ARGMAX, {"+top_k", "+top_p", "-min_p", "temp", "dist"}},
                                                              {Op::GET_ROWS, {"-top_k", "top_p", "min_p", "temp", "dist"}}}) {
        WrongDevice device([](const Tensor&) {});
        device.refused = refused;
        const auto chain = on(device, usual);
        EXPECT_EQ(places(*chain), expected) << op_name(refused);
        for (size_t i = chain->n_in_graph(); i < chain->parts().size(); ++i) {
            const SamplerPart& p = chain->parts()[i];
            EXPECT_EQ(p.n_nodes, 0) << p.name;
            if (i == chain->n_in_graph()) {
                EXPECT_THAT(p.why_not, HasSubstr("Wrong can't run " + std::string(op_name(refused))));
                EXPECT_THAT(p.why_not, HasSubstr("made up to refuse it"));
            } else {
                EXPECT_THAT(p.why_not, HasSubstr("which runs on the CPU"));
            }
        }
    }
}

TEST(GraphChain, LeavesToTheCpuWhatOnlyTheCpuCanOrWasToldTo) {
    const auto device = make_cpu_device();
    const auto by_nature = on(*device, "top_k=9;xtc=0.5,0.1;temp=0.8;dist");
    EXPECT_THAT(places(*by_nature), ElementsAre("+top_k", "xtc", "temp", "dist"));
    EXPECT_THAT(by_nature->parts()[1].why_not, HasSubstr("on the CPU only"));
    EXPECT_THAT(by_nature->parts()[2].why_not, HasSubstr("behind xtc"));
    const auto by_wish = on(*device, "top_k=9;cpu:temp=0.8;dist");
    EXPECT_THAT(places(*by_wish), ElementsAre("+top_k", "temp", "dist"));
    EXPECT_THAT(by_wish->parts()[1].why_not, HasSubstr("cpu:"));
    for (const char* only :
         {"typ_p=0.5;dist", "xtc=1;dist", "dry=0.8;greedy", "mirostat=1", "mirostat=2", "top_n_sigma=1;dist"}) {
        EXPECT_EQ(on(*device, only)->n_in_graph(), 0U) << only;
    }
}

TEST(GraphChain, ACutChainGoesOnWithTheNarrowedCandidates) {
    constexpr int64_t n_vocab = 600;
    const char* text = "top_k=40;cpu:top_p=0.9;temp=0.8;dist";
    const auto in_graph = chain_from(text, 6), on_cpu = chain_from(text, 6);
    SampledGraph run("cpu", n_vocab, 2, {in_graph});
    std::mt19937 random(1);
    std::vector<float> logits(2 * n_vocab);
    for (int i = 0; i < 200; ++i) {
        for (float& x : logits) {
            x = static_cast<float>(random() % 100000) / 12000.0F;
        }
        run.run(logits, {1});
        const SampledInGraph& s = run.chain(0).read(true);
        EXPECT_EQ(s.token, -1);
        EXPECT_EQ(s.ids.size(), 40U);
        EXPECT_LE(s.host_bytes, 1024);
        EXPECT_EQ(in_graph->choose(s), on_cpu->choose({logits.data() + n_vocab, n_vocab}));
        ASSERT_EQ(in_graph->steps().size(), 4U);
        EXPECT_EQ(in_graph->steps()[1].candidates, on_cpu->steps()[1].candidates);
    }
}

TEST(GraphChain, OfALongSortedListOnlyWhatCountsIsCopied) {
    constexpr int64_t n_vocab = 3000;
    const char* text = "top_p=0.9;cpu:temp=0.8;dist";
    const auto in_graph = chain_from(text, 6), on_cpu = chain_from(text, 6);
    SampledGraph run("cpu", n_vocab, 2, {in_graph});
    std::vector<float> logits(2 * n_vocab);
    for (size_t i = 0; i < logits.size(); ++i) {
        logits[i] = static_cast<float>((i * 7919) % 3001) / 100.0F;
    }
    run.run(logits, {1});
    const SampledInGraph& s = run.chain(0).read(false);
    const int32_t token = on_cpu->choose({logits.data() + n_vocab, n_vocab});
    const auto left = static_cast<size_t>(on_cpu->steps()[0].candidates);
    EXPECT_GT(left, 100U);
    EXPECT_LT(left, 500U);
    EXPECT_EQ(s.ids.size(), left);
    EXPECT_EQ(s.host_bytes, static_cast<int64_t>(4 + 8 * left));
    EXPECT_EQ(in_graph->choose(s), token);
}

TEST(GraphChain, PlansAreMadeWithoutMemory) {
    const auto device = make_cpu_device();
    GraphChain chain(0, chain_from(usual), OutputPlace{device.get(), LoadMode::header, 40, 0, "a test"});
    Graph graph;
    chain.add_nodes(graph, graph.input(Type::F32, {40, 3, 1, 1}));
    EXPECT_GT(graph.nodes().size(), 20U);
}

TEST(GraphChain, ItsNodesSayWhoseTheyAre) {
    const auto device = make_cpu_device();
    const auto chain = on(*device, "top_k=9;temp=0.8;greedy");
    Graph graph;
    chain->add_nodes(graph, graph.input(Type::F32, {40, 3, 1, 1}));
    std::vector<std::string> names;
    for (const Tensor* node : graph.nodes()) {
        names.push_back(node->name);
    }
    EXPECT_THAT(names, ::testing::Contains("seq0.logits"));
    EXPECT_THAT(names, ::testing::Contains("seq0.top_k.top_k"));
    EXPECT_THAT(names, ::testing::Contains("seq0.temp.scale"));
    EXPECT_THAT(names, ::testing::Contains("seq0.greedy.argmax"));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

} // namespace
} // namespace schedscope::test
