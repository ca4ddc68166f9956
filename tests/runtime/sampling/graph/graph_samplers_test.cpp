// Every sampler in the graph, on every device, against its plain definition in double precision.
#include "runtime/error.h"
#include "runtime/sampling/samplers.h"
#include "tests/runtime/sampling/graph/sampled_graph.h"
#include "tests/support/plain/plain_samplers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace schedscope::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double close = 2e-5; ///< decisions that are closer may go either way in floats

/// Logits of several kinds: smooth, with many ties, with forbidden tokens, far apart, all alike.
std::vector<std::vector<float>> rows_of(int64_t n_vocab) {
    std::vector<std::vector<float>> rows;
    for (const int kind : {0, 1, 2, 3, 4}) {
        std::mt19937 random(static_cast<uint32_t>(100 * n_vocab + kind));
        std::vector<float> row;
        for (int64_t i = 0; i < n_vocab; ++i) {
            const float x = static_cast<float>(random() % 100000) / 10000.0F - 5.0F;
            row.push_back(kind == 1   ? std::floor(2 * x) / 2
                          : kind == 2 ? (i % 3 == 1 ? -infinity : x)
                          : kind == 3 ? 40 * x
                          : kind == 4 ? 1.25F
                                      : x);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

/// A chain that chooses nothing, so that the candidates can be looked at.
std::shared_ptr<SamplerChain> chain_of(std::vector<std::unique_ptr<Sampler>> samplers) {
    auto chain = std::make_shared<SamplerChain>();
    for (auto& s : samplers) {
        chain->add(std::move(s));
    }
    return chain;
}

using Reference = std::function<plain::Tokens(const plain::Tokens&, plain::Closest&)>;
using Make = std::function<std::unique_ptr<Sampler>()>;

struct SamplerCase {
    const char* name;
    Make make;
    Reference reference;
};

const std::vector<int32_t> accepted{3, 5, 3, 0, 6, 3};
const std::vector<std::pair<int32_t, float>> biases{{0, 2.5F}, {4, -infinity}, {5, -1.0F}, {5, -1.0F}, {1000000, 9.0F}};

std::unique_ptr<Sampler> penalties(const Penalties& p) {
    auto sampler = make_penalties(p);
    for (const int32_t t : accepted) {
        sampler->accept(t);
    }
    return sampler;
}

std::vector<SamplerCase> sampler_cases() {
    using plain::Closest;
    using plain::Tokens;
    return {
        {"top_k 1", [] { return make_top_k(1); }, [](const Tokens& t, Closest&) { return plain::top_k(t, 1); }},
        {"top_k 6", [] { return make_top_k(6); }, [](const Tokens& t, Closest&) { return plain::top_k(t, 6); }},
        {"top_k off", [] { return make_top_k(0); }, [](const Tokens& t, Closest&) { return t; }},
        {"top_p 0", [] { return make_top_p(0); }, [](const Tokens& t, Closest& c) { return plain::top_p(t, 0, c); }},
        {"top_p 0.4", [] { return make_top_p(0.4F); }, [](const Tokens& t, Closest& c) { return plain::top_p(t, 0.4F, c); }},
        {"top_p 0.95", [] { return make_top_p(0.95F); }, [](const Tokens& t, Closest& c) { return plain::top_p(t, 0.95F, c); }},
        {"top_p off", [] { return make_top_p(1); }, [](const Tokens& t, Closest&) { return t; }},
        {"min_p 0.1", [] { return make_min_p(0.1F); }, [](const Tokens& t, Closest& c) { return plain::min_p(t, 0.1F, c); }},
        {"min_p 1", [] { return make_min_p(1); }, [](const Tokens& t, Closest& c) { return plain::min_p(t, 1, c); }},
        {"min_p off", [] { return make_min_p(0); }, [](const Tokens& t, Closest&) { return t; }},
        {"temp 0.7", [] { return make_temperature(0.7F); },
         [](const Tokens& t, Closest&) { return plain::temperature(t, 0.7F); }},
        {"temp 0", [] { return make_temperature(0); }, [](const Tokens& t, Closest&) { return plain::temperature(t, 0); }},
        {"dynamic temp", [] { return make_dynamic_temperature(0.8F, 0.5F, 1.0F); },
         [](const Tokens& t, Closest&) { return plain::dynamic_temperature(t, 0.8F, 0.5F, 1.0F); }},
        {"dynamic temp, bent", [] { return make_dynamic_temperature(1.0F, 0.6F, 2.5F); },
         [](const Tokens& t, Closest&) { return plain::dynamic_temperature(t, 1.0F, 0.6F, 2.5F); }},
        {"penalties", [] { return penalties({.last_n = 64, .repeat = 1.3F, .frequency = 0.25F, .presence = 0.5F}); },
         [](const Tokens& t, Closest&) { return plain::penalties(t, accepted, 1.3F, 0.25, 0.5); }},
        {"penalties of the last 2", [] { return penalties({.last_n = 2, .repeat = 0.6F}); },
         [](const Tokens& t, Closest&) {
             return plain::penalties(t, {6, 3}, 0.6F, 0, 0);
         }},
        {"penalties of all", [] { return penalties({.last_n = -1, .presence = 1.5F}); },
         [](const Tokens& t, Closest&) { return plain::penalties(t, accepted, 1, 0, 1.5); }},
        {"penalties before anything", [] { return make_penalties({.last_n = 8, .repeat = 2.0F}); },
         [](const Tokens& t, Closest&) { return t; }},
        {"penalties off", [] { return penalties({}); }, [](const Tokens& t, Closest&) { return t; }},
        {"logit bias", [] { return make_logit_bias(biases); },
         [](const Tokens& t, Closest&) {
             return plain::logit_bias(t, {{0, 2.5}, {4, -HUGE_VAL}, {5, -2.0}});
         }},
        {"logit bias of nothing", [] { return make_logit_bias({}); }, [](const Tokens& t, Closest&) { return t; }},
    };
}

std::map<int32_t, double> allowed(const plain::Tokens& tokens) {
    std::map<int32_t, double> out;
    for (const plain::PlainToken& t : tokens) {
        if (std::isfinite(t.logit)) {
            out[t.id] = t.logit;
        }
    }
    return out;
}

std::map<int32_t, double> allowed(const SampledInGraph& s) {
    std::map<int32_t, double> out;
    for (size_t i = 0; i < s.logits.size(); ++i) {
        if (std::isfinite(s.logits[i])) {
            out[s.ids.empty() ? static_cast<int32_t>(i) : s.ids[i]] = static_cast<double>(s.logits[i]);
        }
    }
    return out;
}

class InGraph : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string first = std::string(GetParam()).substr(0, std::string(GetParam()).find(','));
        if (devices().find(first) == nullptr) {
            GTEST_SKIP() << "there is no " << first;
        }
    }

    /// The samplers that `make` gives, against the reference, over all kinds of logits. Returns how many decisions were clear.
    int expect_same(const std::string& what, int64_t n_vocab, const std::function<std::vector<std::unique_ptr<Sampler>>()>& make,
                    const Reference& reference) const {
        const auto rows = rows_of(n_vocab);
        std::vector<float> logits;
        for (const auto& row : rows) {
            logits.insert(logits.end(), row.begin(), row.end());
        }
        SampledGraph run(GetParam(), n_vocab, static_cast<int64_t>(rows.size()), {chain_of(make())});
        EXPECT_EQ(run.chain(0).n_in_graph(), run.chain(0).parts().size()) << what;
        int clear = 0;
        for (size_t r = 1; r < rows.size(); ++r) {
            run.run(logits, {static_cast<int32_t>(r)});
            if (run.chain(0).row() == nullptr || run.chain(0).parts().back().last == nullptr) {
                continue; // it is switched off: no node, nothing to compare
            }
            plain::Closest closest;
            const auto wanted = allowed(reference(plain::of(rows[r]), closest));
            const SampledInGraph& found = run.chain(0).read(true);
            const auto got = allowed(found);
            if (closest.margin < close) {
                continue;
            }
            ++clear;
            std::vector<int32_t> wanted_ids, got_ids;
            double worst = 0;
            for (const auto& [id, logit] : wanted) {
                wanted_ids.push_back(id);
            }
            for (const auto& [id, logit] : got) {
                got_ids.push_back(id);
                const auto at = wanted.find(id);
                worst = std::max(worst, at == wanted.end() ? 0 : std::abs(at->second - logit) / (1 + std::abs(at->second)));
            }
            EXPECT_EQ(got_ids, wanted_ids) << what << ", logits of kind " << r << " of " << n_vocab;
            EXPECT_LT(worst, 2e-4) << what << ", logits of kind " << r << " of " << n_vocab;
            if (run.chain(0).parts().back().left != nullptr) {
                EXPECT_EQ(found.left.back(), static_cast<int32_t>(wanted.size())) << what << ", kind " << r;
            }
            if (found.sorted) {
                EXPECT_TRUE(std::is_sorted(found.logits.rbegin(), found.logits.rend())) << what << ", kind " << r;
            }
        }
        return clear;
    }
};

TEST_P(InGraph, EachSamplerDoesWhatItsDefinitionSays) {
    for (const SamplerCase& c : sampler_cases()) {
        int clear = 0;
        for (const int64_t n_vocab : {7, 100, 1500}) {
            const auto make = [&] {
                std::vector<std::unique_ptr<Sampler>> s;
                s.push_back(c.make());
                return s;
            };
            clear += expect_same(c.name, n_vocab, make, c.reference);
        }
        const bool off =
            std::string(c.name).find("off") != std::string::npos || std::string(c.name).find("nothing") != std::string::npos;
        EXPECT_TRUE(off ? clear == 0 : clear >= 6) << c.name << ": " << clear;
    }
}

TEST_P(InGraph, EachSamplerWorksOnWhatOthersLeft) {
    for (const SamplerCase& c : sampler_cases()) {
        const auto make = [&] {
            std::vector<std::unique_ptr<Sampler>> s;
            s.push_back(make_logit_bias(biases));
            s.push_back(make_top_k(20));
            s.push_back(make_min_p(0.002F));
            s.push_back(c.make());
            return s;
        };
        expect_same(std::string("top_k 20, min_p, ") + c.name, 100, make, [&](const plain::Tokens& t, plain::Closest& closest) {
            const auto biased = plain::logit_bias(t, {{0, 2.5}, {4, -HUGE_VAL}, {5, -2.0}});
            return c.reference(plain::min_p(plain::top_k(biased, 20), 0.002F, closest), closest);
        });
    }
}

TEST_P(InGraph, GreedyTakesTheLargestAndOfEqualsTheFirst) {
    for (const int64_t n_vocab : {7, 1500, 5000}) {
        const auto rows = rows_of(n_vocab);
        std::vector<float> logits;
        for (const auto& row : rows) {
            logits.insert(logits.end(), row.begin(), row.end());
        }
        for (const char* text : {"greedy", "top_k=5;greedy", "temp=0.5;top_p=0.9;greedy"}) {
            SampledGraph run(GetParam(), n_vocab, static_cast<int64_t>(rows.size()), {chain_from(text)});
            for (size_t r = 1; r < rows.size(); ++r) {
                run.run(logits, {static_cast<int32_t>(r)});
                const SampledInGraph& s = run.chain(0).read(false);
                EXPECT_EQ(s.token, plain::greedy(plain::of(rows[r]))) << text << ", kind " << r << " of " << n_vocab;
                EXPECT_LE(s.host_bytes, 8);
            }
        }
    }
}

TEST_P(InGraph, TheSameUniformNumberGivesTheSameToken) {
    constexpr uint32_t seed = 77;
    for (const int64_t n_vocab : {7, 100, 1500}) {
        const auto rows = rows_of(n_vocab);
        std::vector<float> logits;
        for (const auto& row : rows) {
            logits.insert(logits.end(), row.begin(), row.end());
        }
        for (const auto& [text, order] :
             {std::pair<const char*, Reference>{"dist", [](const plain::Tokens&t, plain::Closest&) { return t; }},
              {"top_k=5;dist", [](const plain::Tokens&t, plain::Closest&) { return plain::top_k(t, 5); }},
              {"top_p=0.7;dist", [](const plain::Tokens&t, plain::Closest&c) { return plain::top_p(t, 0.7F, c); }}}) {
            SampledGraph run(GetParam(), n_vocab, static_cast<int64_t>(rows.size()), {chain_from(text, seed)});
            const auto on_cpu = chain_from(text, seed);
            plain::PlainUniform uniform(seed);
            int clear = 0;
            for (int draw = 0; draw < 60; ++draw) {
                const size_t r = 1 + static_cast<size_t>(draw) % (rows.size() - 1);
                run.run(logits, {static_cast<int32_t>(r)});
                plain::Closest closest;
                const int32_t wanted = plain::dist(order(plain::of(rows[r]), closest), uniform.next(), closest);
                const int32_t cpu = on_cpu->choose(rows[r]);
                if (closest.margin > close) {
                    ++clear;
                    EXPECT_EQ(run.chain(0).read(false).token, wanted) << text << " of " << n_vocab << ", draw " << draw;
                    EXPECT_EQ(cpu, wanted) << text << " of " << n_vocab << ", draw " << draw;
                }
            }
            EXPECT_GT(clear, 30) << text << " of " << n_vocab;
        }
    }
}

TEST_P(InGraph, AWholeChainIsTheSameTokenAfterToken) {
    constexpr int64_t n_vocab = 300;
    SamplingParams params;
    params.logit_bias = {{7, -infinity}, {9, 0.75F}};
    const char* text = "penalties=1.2,32,0.1,0.05;top_k=40;top_p=0.95;min_p=0.02;temp=0.8;dist";
    const auto in_graph = chain_from(text, 5, params), on_cpu = chain_from(text, 5, params);
    SampledGraph run(GetParam(), n_vocab, 2, {in_graph});
    EXPECT_EQ(run.chain(0).n_in_graph(), 7U);
    std::mt19937 random(3);
    std::vector<float> logits(2 * n_vocab);
    for (int i = 0; i < 150; ++i) {
        for (float& x : logits) {
            x = static_cast<float>(random() % 10000) / 1500.0F;
        }
        run.run(logits, {1});
        const int32_t token = in_graph->choose(run.chain(0).read(true));
        const int32_t wanted = on_cpu->choose({logits.data() + n_vocab, n_vocab});
        ASSERT_EQ(token, wanted) << "token " << i;
        for (size_t s = 0; s < on_cpu->steps().size(); ++s) {
            EXPECT_EQ(in_graph->steps()[s].candidates, on_cpu->steps()[s].candidates)
                << "token " << i << ", " << on_cpu->steps()[s].name;
        }
        in_graph->accept(token);
        on_cpu->accept(token);
    }
}

TEST_P(InGraph, AChainThatTakesNoPartDrawsNothingAndDisturbsNobody) {
    constexpr int64_t n_vocab = 50;
    std::vector<float> logits(3 * n_vocab);
    std::mt19937 random(9);
    for (float& x : logits) {
        x = static_cast<float>(random() % 1000) / 300.0F;
    }
    const auto draws = [&](bool others) {
        SampledGraph run(GetParam(), n_vocab, 3, {chain_from("dist", 4), chain_from("top_k=9;dist", 5)});
        std::vector<int32_t> tokens;
        for (int i = 0; i < 20; ++i) {
            run.run(logits, {1, 0});
            tokens.push_back(run.chain(0).read(false).token);
            if (others) {
                run.run(logits, {0, 2});
                const auto& s = run.chain(1).read(false);
                EXPECT_TRUE(s.token >= 0 && s.token < n_vocab);
            }
        }
        return tokens;
    };
    EXPECT_EQ(draws(false), draws(true));
}

TEST_P(InGraph, LogitsThatAreNoneAreAnError) {
    for (const char* text : {"greedy", "dist", "top_k=4;dist"}) {
        for (const float none : {-infinity, std::nanf("")}) {
            SampledGraph run(GetParam(), 64, 2, {chain_from(text)});
            run.run(std::vector<float>(128, none), {1});
            EXPECT_THROW(run.chain(0).read(false), Error) << text << " " << none;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OnEveryDevice, InGraph, ::testing::Values("cpu", "vulkan0,cpu"),
                         [](const auto& param) { return std::string(param.param) == "cpu" ? "cpu" : "vulkan0"; });

} // namespace
} // namespace schedscope::test
