#include "runtime/error.h"
#include "runtime/sampling/make_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace schedscope;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

std::vector<std::string> names(const SamplerChain& chain) {
    std::vector<std::string> out;
    for (const auto& s : chain.samplers()) {
        out.emplace_back(s->name());
    }
    return out;
}

SamplingMetadata metadata(std::map<std::string, double> numbers, std::map<std::string, std::string> texts = {}) {
    SamplingMetadata m;
    m.number = [numbers](std::string_view key) -> std::optional<double> {
        const auto found = numbers.find(std::string(key));
        return found == numbers.end() ? std::nullopt : std::optional(found->second);
    };
    m.text = [texts](std::string_view key) -> std::optional<std::string> {
        const auto found = texts.find(std::string(key));
        return found == texts.end() ? std::nullopt : std::optional(found->second);
    };
    return m;
}

std::string sentence(auto&& work) {
    try {
        work();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        return e.what();
    }
    return "";
}

TEST(Chain, tells_how_many_candidates_each_sampler_left) {
    SamplerChain chain = parse_chain("top_k=4;top_p=0.6;temp=0.8;greedy", {}, 1);
    const std::vector<float> logits{std::log(0.4F), std::log(0.3F), std::log(0.2F), std::log(0.06F), std::log(0.04F)};
    EXPECT_EQ(chain.choose(logits), 0);
    std::vector<std::pair<std::string, int>> steps;
    for (const SamplerStep& s : chain.steps()) {
        steps.emplace_back(s.name, s.candidates);
    }
    EXPECT_THAT(steps, ElementsAre(std::pair("top_k", 4), std::pair("top_p", 2), std::pair("temp", 2), std::pair("greedy", 1)));
}

TEST(Chain, accepts_into_every_sampler_and_copies_its_state) {
    SamplingParams params;
    params.penalties = {.last_n = 8, .repeat = 4.0F};
    SamplerChain chain = parse_chain("penalties;greedy", params, 1);
    const std::vector<float> logits{3, 2};
    EXPECT_EQ(chain.choose(logits), 0);
    chain.accept(0);
    EXPECT_EQ(chain.choose(logits), 1);
    SamplerChain copy = chain;
    chain.reset();
    EXPECT_EQ(chain.choose(logits), 0);
    EXPECT_EQ(copy.choose(logits), 1);
}

TEST(Chain, by_default_samples_in_llama_cpps_order) {
    EXPECT_THAT(names(make_chain(resolve({}, {}), 1)), ElementsAre("penalties", "top_k", "top_p", "min_p", "temp", "dist"));
}

TEST(Chain, at_temperature_zero_is_greedy) {
    SamplingOptions o;
    o.temperature = 0.0F;
    EXPECT_THAT(names(make_chain(resolve(o, {}), 1)), ElementsAre("penalties", "greedy"));
}

TEST(Settings, metadata_beats_defaults_and_options_beat_both) {
    const auto m = metadata({{"temp", 0.5}, {"top_k", 7}, {"min_p", 0.2}, {"penalty_repeat", 1.5}, {"penalty_last_n", 9}});
    SamplingOptions o;
    o.top_k = 3;
    const SamplingParams p = resolve(o, m);
    EXPECT_FLOAT_EQ(p.temperature, 0.5F);
    EXPECT_EQ(p.top_k, 3);
    EXPECT_FLOAT_EQ(p.top_p, 0.95F);
    EXPECT_FLOAT_EQ(p.min_p, 0.2F);
    EXPECT_FLOAT_EQ(p.penalties.repeat, 1.5F);
    EXPECT_EQ(p.penalties.last_n, 9);
}

TEST(Settings, metadata_may_change_the_sequence) {
    const auto m = metadata({}, {{"sequence", "top_k;temperature;xtc"}});
    EXPECT_THAT(names(make_chain(resolve({}, m), 1)), ElementsAre("top_k", "temp", "dist"));
}

TEST(Settings, ignore_eos_forbids_every_end_token) {
    SamplingOptions o;
    o.ignore_eos = true;
    o.temperature = 0.0F;
    const std::vector<int32_t> ends{2, 3};
    SamplerChain chain = make_chain(resolve(o, {}, ends), 1);
    EXPECT_EQ(chain.choose(std::vector<float>{1, 0, 9, 8}), 0);
}

TEST(Settings, impossible_values_are_refused_by_who_gave_them) {
    SamplingOptions o;
    o.top_p = -0.1F;
    EXPECT_THAT(sentence([&] { resolve(o, {}); }), HasSubstr("--top-p: can't be -0.1: a number from 0 up"));
    try {
        resolve({}, metadata({{"min_p", 3.0}}));
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
    }
}

TEST(ChainText, understands_names_values_and_prefixes) {
    EXPECT_THAT(names(parse_chain("cpu:top_k=40; top_p=0.9 ;min_p=0.1;temp=0.8;dist", {}, 1)),
                ElementsAre("top_k", "top_p", "min_p", "temp", "dist"));
    EXPECT_THAT(names(parse_chain("top_k;greedy", {}, 1)), ElementsAre("top_k", "greedy"));
}

TEST(ChainText, says_what_it_does_not_understand) {
    EXPECT_THAT(sentence([] { parse_chain("top_q=1;dist", {}, 1); }), HasSubstr("top_q"));
    EXPECT_THAT(sentence([] { parse_chain("top_k=four;dist", {}, 1); }), HasSubstr("four"));
    EXPECT_THAT(sentence([] { parse_chain("top_k=4", {}, 1); }), HasSubstr("greedy or dist"));
    EXPECT_THAT(sentence([] { parse_chain("greedy;dist", {}, 1); }), HasSubstr("dist"));
    EXPECT_THAT(sentence([] { parse_chain("", {}, 1); }), HasSubstr("greedy or dist"));
}

} // namespace
