// 100,000 draws from a small vocabulary, on the CPU and in the graph, against the shares that the samplers' definitions give.
#include "tests/runtime/sampling/graph/sampled_graph.h"
#include "tests/support/plain/plain_samplers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace schedscope::test {
namespace {

const std::vector<float> logits{2.0F, 1.2F, -0.5F, 1.9F, 0.0F, -2.0F, 0.7F, 1.1F, -1.0F, 0.3F};
constexpr int n_draws = 100000;
constexpr int n_draws_on_vulkan = 5000; // a software driver takes a minute for all; what each number chooses is tested on its own

struct Case {
    const char* name;
    const char* chain;
    plain::Tokens (*left)(const plain::Tokens&); ///< what it draws from
};

plain::Closest ignored;

const Case cases[] = {
    {"dist", "dist", [](const plain::Tokens& t) { return t; }},
    {"temp", "temp=1.7;dist", [](const plain::Tokens& t) { return plain::temperature(t, 1.7F); }},
    {"top_k", "top_k=4;dist", [](const plain::Tokens& t) { return plain::top_k(t, 4); }},
    {"top_p", "top_p=0.8;dist", [](const plain::Tokens& t) { return plain::top_p(t, 0.8F, ignored); }},
    {"min_p", "min_p=0.2;dist", [](const plain::Tokens& t) { return plain::min_p(t, 0.2F, ignored); }},
    {"dynamic_temp", "temp=0.9,0.6,1.5;dist",
     [](const plain::Tokens& t) { return plain::dynamic_temperature(t, 0.9F, 0.6F, 1.5F); }},
    {"usual_chain", "top_k=8;top_p=0.95;min_p=0.1;temp=0.8;dist",
     [](const plain::Tokens& t) {
         return plain::temperature(plain::min_p(plain::top_p(plain::top_k(t, 8), 0.95F, ignored), 0.1F, ignored), 0.8F);
     }},
};

std::vector<double> shares_of(const plain::Tokens& left) {
    std::vector<double> shares(logits.size());
    const std::vector<double> p = plain::probabilities(left);
    for (size_t i = 0; i < left.size(); ++i) {
        shares[static_cast<size_t>(left[i].id)] = p[i];
    }
    return shares;
}

void expect_fits(const std::vector<int64_t>& counts, const Case& c) {
    const plain::Tokens left = c.left(plain::of(logits));
    EXPECT_LT(plain::chi_square(counts, shares_of(left)), plain::chi_square_limit(left.size() - 1)) << c.name;
    EXPECT_GT(plain::chi_square(counts, std::vector<double>(logits.size(), 0.1)), 200) << c.name << ": any counts would do";
}

class Distribution : public ::testing::TestWithParam<Case> {};

TEST_P(Distribution, IsDrawnFromOnTheCpu) {
    const auto chain = chain_from(GetParam().chain, 2024);
    std::vector<int64_t> counts(logits.size());
    for (int i = 0; i < n_draws; ++i) {
        ++counts[static_cast<size_t>(chain->choose(logits))];
    }
    expect_fits(counts, GetParam());
}

/// Several sequences with seeds of their own draw in each evaluation.
void draw_in_graph(const std::string& device_list, const Case& c, int n, int n_sequences) {
    std::vector<std::shared_ptr<SamplerChain>> chains;
    for (int s = 0; s < n_sequences; ++s) {
        chains.push_back(chain_from(c.chain, 2024U + static_cast<uint32_t>(s)));
    }
    std::vector<float> rows(logits.size(), 0.0F);
    rows.insert(rows.end(), logits.begin(), logits.end());
    const std::vector<int32_t> all(static_cast<size_t>(n_sequences), 1);
    SampledGraph run(device_list, static_cast<int64_t>(logits.size()), 2, chains);
    std::vector<int64_t> counts(logits.size());
    run.run(rows, all);
    for (int i = 0; i < n / n_sequences; ++i) {
        for (size_t s = 0; s < chains.size(); ++s) {
            ++counts[static_cast<size_t>(run.chain(s).read(false).token)];
        }
        run.run_again(all);
    }
    expect_fits(counts, c);
}

TEST_P(Distribution, IsDrawnFromInTheGraph) { draw_in_graph("cpu", GetParam(), n_draws, 10); }

TEST_P(Distribution, IsDrawnFromInTheGraphOnVulkan) {
    if (devices().find("vulkan0") == nullptr) {
        GTEST_SKIP() << "there is no vulkan0";
    }
    draw_in_graph("vulkan0,cpu", GetParam(), n_draws_on_vulkan, 50);
}

INSTANTIATE_TEST_SUITE_P(OfEachSampler, Distribution, ::testing::ValuesIn(cases),
                         [](const auto& param) { return std::string(param.param.name); });

} // namespace
} // namespace schedscope::test
