// Samplers on the CPU against their plain definitions in double precision, over random logits.
#include "runtime/error.h"
#include "runtime/sampling/make_chain.h"
#include "runtime/sampling/samplers.h"
#include "tests/support/plain/plain_samplers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

using namespace schedscope;

namespace {

constexpr double close = 1e-6;

std::vector<float> random_logits(size_t n, uint32_t seed, bool ties) {
    std::mt19937 random(seed);
    std::vector<float> logits;
    for (size_t i = 0; i < n; ++i) {
        const float x = static_cast<float>(random() % 100000) / 12500.0F - 4.0F;
        logits.push_back(ties ? std::floor(2 * x) / 2 : x);
    }
    return logits;
}

std::map<int32_t, double> by_id(const Candidates& c) {
    std::map<int32_t, double> out;
    for (const Candidate& i : c.items) {
        out[i.id] = static_cast<double>(i.logit);
    }
    return out;
}

/// The same tokens with the same logits.
void expect_same(const Candidates& found, const plain::Tokens& wanted, const std::string& what) {
    const auto got = by_id(found);
    EXPECT_EQ(got.size(), wanted.size()) << what;
    for (const plain::PlainToken& t : wanted) {
        const auto at = got.find(t.id);
        ASSERT_NE(at, got.end()) << what << ": token " << t.id;
        EXPECT_NEAR(at->second, t.logit, 1e-4 * (1 + std::abs(t.logit))) << what << ": token " << t.id;
    }
}

using Reference = std::function<plain::Tokens(const plain::Tokens&, plain::Closest&)>;

void expect_by_definition(const std::string& name, Sampler& sampler, const Reference& reference, bool ties = false) {
    int clear = 0;
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        const std::vector<float> logits = random_logits(10 + 37 * seed, seed, ties);
        Candidates c;
        c.fill(logits);
        if (seed % 2 == 0) {
            c.sort_first(5);
        }
        plain::Closest closest;
        const plain::Tokens wanted = reference(plain::of(logits), closest);
        sampler.apply(c);
        if (closest.margin > close) {
            ++clear;
            expect_same(c, wanted, name + ", seed " + std::to_string(seed));
        }
        for (size_t i = 1; i < c.n_sorted; ++i) {
            EXPECT_GE(c.items[i - 1].logit, c.items[i].logit) << name << ": it says that it is sorted";
        }
    }
    EXPECT_GE(clear, 10) << name;
}

TEST(ByDefinition, Typical) {
    for (const float p : {0.2F, 0.7F, 0.95F}) {
        expect_by_definition("typical", *make_typical(p),
                             [p](const plain::Tokens& t, plain::Closest& c) { return plain::typical(t, p, c); });
    }
    expect_by_definition("typical off", *make_typical(1), [](const plain::Tokens& t, plain::Closest&) { return t; });
}

TEST(ByDefinition, TopNSigma) {
    for (const float n : {0.5F, 1.0F, 2.5F}) {
        expect_by_definition("top_n_sigma", *make_top_n_sigma(n),
                             [n](const plain::Tokens& t, plain::Closest& c) { return plain::top_n_sigma(t, n, c); });
    }
    expect_by_definition("top_n_sigma off", *make_top_n_sigma(-1), [](const plain::Tokens& t, plain::Closest&) { return t; });
}

TEST(ByDefinition, DynamicTemperature) {
    expect_by_definition("dynamic temperature", *make_dynamic_temperature(0.8F, 0.5F, 1.5F),
                         [](const plain::Tokens& t, plain::Closest&) { return plain::dynamic_temperature(t, 0.8F, 0.5F, 1.5F); });
}

TEST(ByDefinition, ExcludeTopChoicesWhenItActs) {
    for (const bool ties : {false, true}) {
        expect_by_definition(
            "xtc", *make_xtc({.probability = 1, .threshold = 0.01F}, 1),
            [](const plain::Tokens& t, plain::Closest&) { return plain::exclude_top_choices(t, 0.01F); }, ties);
    }
    expect_by_definition("xtc off", *make_xtc({.probability = 0, .threshold = 0.01F}, 1),
                         [](const plain::Tokens& t, plain::Closest&) { return t; });
    expect_by_definition("xtc above a half", *make_xtc({.probability = 1, .threshold = 0.6F}, 1),
                         [](const plain::Tokens& t, plain::Closest&) { return t; });
}

TEST(ByDefinition, ExcludeTopChoicesActsAsOftenAsItIsTold) {
    const auto sampler = make_xtc({.probability = 0.3F, .threshold = 0.1F}, 11);
    int acted = 0;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) {
        Candidates c;
        c.fill(std::vector<float>{2, 1, 0});
        sampler->apply(c);
        acted += c.items.size() < 3 ? 1 : 0;
    }
    EXPECT_NEAR(acted, 0.3 * n, 4 * std::sqrt(0.3 * 0.7 * n));
}

TEST(ByDefinition, DontRepeatYourself) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        Dry d{.multiplier = 0.8F, .base = 1.75F, .allowed_length = 1 + round % 3, .last_n = -1, .breakers = {}};
        if (round % 2 == 0) {
            d.breakers = {3};
        }
        const auto sampler = make_dry(d);
        std::vector<int32_t> text;
        for (int i = 0; i < round; ++i) {
            text.push_back(static_cast<int32_t>(random() % 5)); // few tokens: many repetitions
            sampler->accept(text.back());
        }
        const std::vector<float> logits = random_logits(12, static_cast<uint32_t>(round), false);
        Candidates c;
        c.fill(logits);
        sampler->apply(c);
        expect_same(c, plain::dry(plain::of(logits), text, 0.8F, 1.75F, static_cast<size_t>(d.allowed_length), d.breakers),
                    "dry, round " + std::to_string(round));
    }
}

TEST(ByDefinition, DontRepeatYourselfLooksBackOnlySoFar) {
    const auto sampler = make_dry({.multiplier = 1, .base = 2, .allowed_length = 1, .last_n = 3, .breakers = {}});
    for (const int32_t t : {7, 8, 1, 2, 7}) { // 7 8 is out of sight
        sampler->accept(t);
    }
    Candidates c;
    const std::vector<float> logits(10, 1.0F);
    c.fill(logits);
    sampler->apply(c);
    expect_same(c, plain::of(logits), "dry of the last 3");
}

/// The bound moves as the definition says, and what is chosen is what the uniform numbers say.
void expect_mirostat(int version) {
    constexpr uint32_t seed = 31;
    constexpr float tau = 3.0F, eta = 0.2F;
    const auto sampler = make_mirostat({.version = version, .tau = tau, .eta = eta}, 200, seed);
    plain::PlainUniform uniform(seed);
    double mu = 2.0 * tau;
    for (uint32_t i = 1; i <= 300; ++i) {
        const std::vector<float> logits = random_logits(200, i, false);
        const plain::Tokens kept =
            version == 1 ? plain::mirostat_1(plain::of(logits), mu, 200) : plain::mirostat_2(plain::of(logits), mu);
        plain::Closest closest;
        const int32_t wanted = plain::dist(kept, uniform.next(), closest);
        Candidates c;
        c.fill(logits);
        sampler->apply(c);
        ASSERT_EQ(c.chosen, wanted) << "version " << version << ", draw " << i;
        const std::vector<double> p = plain::probabilities(kept);
        for (size_t k = 0; k < kept.size(); ++k) {
            mu -= kept[k].id == wanted ? static_cast<double>(eta) * (-std::log2(p[k]) - static_cast<double>(tau)) : 0.0;
        }
    }
}

TEST(ByDefinition, Mirostat1) { expect_mirostat(1); }
TEST(ByDefinition, Mirostat2) { expect_mirostat(2); }

TEST(ChainText, SetsSeveralValuesOfASampler) {
    SamplingParams params;
    SamplerChain chain = parse_chain("penalties=2,1;temp=0.5,0.2,1.1;greedy", params, 1);
    chain.accept(0);
    chain.accept(1); // only the last one counts
    EXPECT_EQ(chain.choose(std::vector<float>{3, 4, 2.5F}), 0);
    EXPECT_EQ(chain.samplers()[1]->name(), "temp_ext");
    EXPECT_EQ(parse_chain("mirostat=2;mirostat_tau=3", params, 1).samplers().back()->name(), "mirostat_v2");
    EXPECT_EQ(parse_chain("penalty_repeat=2;penalty_last_n=1;greedy", params, 1).samplers().size(), 2U);
    EXPECT_EQ(parse_chain("cpu:top_k=2;greedy", params, 1).place(0), SamplerChain::Place::cpu);
    for (const char* wrong :
         {"mirostat=3", "mirostat", "top_k=1,2;greedy", "xtc_threshold;greedy", "penalties=0;greedy", "dist;dist",
          "min_p=5;greedy", "top_p=-3;greedy", "xtc=7;greedy", "xtc=0.1,-1;greedy", "mirostat=2,-5", "top_k=2.5;greedy",
          "top_k=5;temp=1;top_k=3;dist", "dist=-1", "dist=4294967296", "dist=1.5"}) {
        EXPECT_THROW(parse_chain(wrong, params, 1), Error) << wrong;
    }
}

TEST(Settings, AChainOfItsOwnMayNameAnySeed) {
    const auto draws = [](const std::string& chain, uint32_t seed) {
        SamplerChain c = parse_chain(chain, {}, seed);
        std::vector<int32_t> tokens;
        for (int i = 0; i < 20; ++i) {
            tokens.push_back(c.choose(std::vector<float>(100, 1.0F)));
        }
        return tokens;
    };
    EXPECT_EQ(draws("dist=4000000000", 1), draws("dist", 4000000000U));
    EXPECT_NE(draws("dist=4000000000", 1), draws("dist=2500000000", 1));
    EXPECT_EQ(draws("penalty-repeat=1;dist=7", 1), draws("dist", 7));
}

TEST(Settings, WhatIsOutOfItsRangeIsNamedWithWhereItStands) {
    SamplingMetadata m;
    m.file = "model.gguf";
    m.number = [](std::string_view key) { return key == "top_k" ? std::optional(-9.5) : std::nullopt; };
    const auto message = [](const SamplingOptions& options, const SamplingMetadata& metadata) -> std::string {
        try {
            resolve(options, metadata);
        } catch (const Error& error) {
            return std::to_string(error.exit_code()) + " " + error.what();
        }
        return "";
    };
    EXPECT_EQ(message({}, m), "3 model.gguf: general.sampling.top_k can't be -9.5: a whole number from -1 up");
    SamplingOptions o;
    o.min_p = 2;
    EXPECT_EQ(message(o, {}), "2 --min-p: can't be 2: a number from 0 to 1");
}

TEST(Settings, AnEmptySequenceInTheMetadataChangesNothing) {
    SamplingMetadata m;
    m.text = [](std::string_view) { return std::optional<std::string>(""); };
    EXPECT_EQ(resolve({}, m).sequence, SamplingParams().sequence);
}

TEST(LogitBias, WhatIsForbiddenStaysSo) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float most = std::numeric_limits<float>::max();
    const std::pair<int32_t, float> biases[] = {{1, most}, {1, most}, {2, most}, {2, -infinity}};
    Candidates c;
    c.fill(std::vector<float>{0, 0, 0});
    make_logit_bias(biases)->apply(c);
    EXPECT_EQ(c.items[1].logit, most);
    EXPECT_EQ(c.items[2].logit, -infinity);
}

TEST(Settings, MirostatOfTheMetadataTakesTheSequencesPlace) {
    SamplingMetadata m;
    m.number = [](std::string_view key) -> std::optional<double> {
        return key == "mirostat" ? std::optional(2.0) : key == "mirostat_tau" ? std::optional(4.0) : std::nullopt;
    };
    const SamplingParams p = resolve({}, m);
    EXPECT_FLOAT_EQ(p.mirostat.tau, 4.0F);
    const SamplerChain chain = make_chain(p, 1);
    std::vector<std::string_view> names;
    for (const auto& s : chain.samplers()) {
        names.push_back(s->name());
    }
    EXPECT_THAT(names, ::testing::ElementsAre("temp", "mirostat_v2"));
}

} // namespace
