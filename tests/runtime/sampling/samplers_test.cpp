#include "runtime/error.h"
#include "runtime/sampling/samplers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

using namespace schedscope;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Candidates of(const std::vector<float>& logits) {
    Candidates c;
    c.fill(logits);
    return c;
}

/// Logits whose softmax is exactly these probabilities.
Candidates of_probabilities(const std::vector<float>& p) {
    std::vector<float> logits;
    for (const float x : p) {
        logits.push_back(std::log(x));
    }
    return of(logits);
}

std::vector<int32_t> ids(const Candidates& c) {
    std::vector<int32_t> out;
    for (const Candidate& i : c.items) {
        out.push_back(i.id);
    }
    return out;
}

std::vector<float> logits_by_id(const Candidates& c) {
    std::vector<float> out(c.items.size());
    for (const Candidate& i : c.items) {
        out[static_cast<size_t>(i.id)] = i.logit;
    }
    return out;
}

int32_t chosen_by(Sampler& s, Candidates c) {
    s.apply(c);
    return c.chosen;
}

TEST(Candidates, softmax_sums_to_one_and_survives_large_logits) {
    Candidates c = of({1000.0F, 999.0F, -infinity});
    c.softmax();
    EXPECT_NEAR(c.items[0].p, 1 / (1 + std::exp(-1.0)), 1e-6);
    EXPECT_NEAR(c.items[1].p, 1 / (1 + std::exp(1.0)), 1e-6);
    EXPECT_EQ(c.items[2].p, 0);
}

TEST(Candidates, partial_sorting_grows_without_disturbing_what_is_sorted) {
    Candidates c = of({1, 5, 3, 5, 2, 4});
    c.sort_first(2);
    EXPECT_EQ((std::vector{c.items[0].id, c.items[1].id}), (std::vector{1, 3})) << "equal logits: the lower id first";
    c.sort_first(6);
    EXPECT_THAT(ids(c), ElementsAre(1, 3, 5, 2, 4, 0));
}

TEST(Greedy, takes_the_largest_and_of_equals_the_first) {
    EXPECT_EQ(chosen_by(*make_greedy(), of({1, 7, 3})), 1);
    EXPECT_EQ(chosen_by(*make_greedy(), of({2, 7, 7})), 1);
}

TEST(Candidates, what_is_not_a_number_is_an_error_that_says_how_much) {
    Candidates c;
    const std::vector<float> logits{1, std::nanf(""), 2, -infinity};
    const std::vector<int32_t> tokens{4, 5, 6, 7};
    for (const auto& fill :
         {std::function<void()>([&] { c.fill(logits); }), std::function<void()>([&] { c.fill(tokens, logits, false); })}) {
        try {
            fill();
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::device);
            EXPECT_STREQ(error.what(), "sampling: 1 of 4 logits are NaN; --watch and verify tell where it began");
        }
    }
}

TEST(Greedy, refuses_when_nothing_can_be_chosen) {
    Candidates c = of({-infinity, -infinity});
    EXPECT_THROW(make_greedy()->apply(c), Error);
    EXPECT_THROW(make_dist(1)->apply(c), Error);
}

TEST(TopK, keeps_the_k_largest) {
    Candidates c = of({0.1F, 0.4F, 0.3F, 0.2F});
    make_top_k(2)->apply(c);
    EXPECT_THAT(ids(c), ElementsAre(1, 2));
    make_top_k(0)->apply(c);
    make_top_k(99)->apply(c);
    EXPECT_EQ(c.items.size(), 2U);
}

TEST(TopP, keeps_the_smallest_set_that_holds_the_mass) {
    const std::vector<float> p{0.1F, 0.4F, 0.3F, 0.2F};
    struct Case {
        float p;
        std::vector<int32_t> kept;
    };
    for (const Case& expected :
         {Case{0.0F, {1}}, Case{0.39F, {1}}, Case{0.65F, {1, 2}}, Case{0.8F, {1, 2, 3}}, Case{0.95F, {1, 2, 3, 0}}}) {
        Candidates c = of_probabilities(p);
        make_top_p(expected.p)->apply(c);
        EXPECT_EQ(ids(c), expected.kept) << expected.p;
    }
}

TEST(TopP, works_over_a_vocabulary_larger_than_its_first_look) {
    std::vector<float> logits(10000, 0.0F);
    logits[1234] = 1.0F;
    Candidates c = of(logits);
    make_top_p(0.5F)->apply(c);
    EXPECT_EQ(c.items.front().id, 1234);
    EXPECT_NEAR(static_cast<double>(c.items.size()), 5000, 2);
}

TEST(MinP, keeps_what_is_at_least_a_share_as_likely_as_the_likeliest) {
    const std::vector<float> p{0.1F, 0.4F, 0.3F, 0.2F};
    Candidates half = of_probabilities(p);
    make_min_p(0.49F)->apply(half);
    EXPECT_THAT(ids(half), UnorderedElementsAre(1, 2, 3));
    Candidates most = of_probabilities(p);
    make_min_p(0.74F)->apply(most);
    EXPECT_THAT(ids(most), UnorderedElementsAre(1, 2));
    Candidates all = of_probabilities(p);
    make_min_p(0.0F)->apply(all);
    EXPECT_EQ(all.items.size(), 4U);
    make_min_p(1.0F)->apply(all);
    EXPECT_THAT(ids(all), ElementsAre(1));
}

TEST(Temperature, divides_and_at_zero_leaves_the_largest) {
    Candidates c = of({1, 3, -2});
    make_temperature(0.5F)->apply(c);
    EXPECT_THAT(logits_by_id(c), ElementsAre(2, 6, -4));
    make_temperature(0)->apply(c);
    EXPECT_THAT(ids(c), ElementsAre(1));
}

TEST(Penalties, repeat_divides_positive_and_multiplies_negative_logits) {
    const auto s = make_penalties({.last_n = 64, .repeat = 2.0F});
    s->accept(0);
    s->accept(1);
    Candidates c = of({4, -4, 4});
    s->apply(c);
    EXPECT_THAT(logits_by_id(c), ElementsAre(2, -8, 4));
}

TEST(Penalties, frequency_counts_and_presence_does_not) {
    const auto s = make_penalties({.last_n = -1, .repeat = 1.0F, .frequency = 0.5F, .presence = 1.0F});
    for (const int32_t t : {0, 0, 0, 1}) {
        s->accept(t);
    }
    Candidates c = of({10, 10, 10});
    s->apply(c);
    EXPECT_THAT(logits_by_id(c), ElementsAre(7.5F, 8.5F, 10));
}

TEST(Penalties, look_back_only_so_far) {
    const auto s = make_penalties({.last_n = 2, .repeat = 2.0F});
    for (const int32_t t : {0, 1, 2}) {
        s->accept(t);
    }
    Candidates c = of({4, 4, 4});
    s->apply(c);
    EXPECT_THAT(logits_by_id(c), ElementsAre(4, 2, 2));
    s->reset();
    Candidates fresh = of({4, 4, 4});
    s->apply(fresh);
    EXPECT_THAT(logits_by_id(fresh), ElementsAre(4, 4, 4));
}

TEST(LogitBias, adds_and_forbids) {
    const std::vector<std::pair<int32_t, float>> biases{{0, 2.0F}, {2, -infinity}, {99, 5.0F}};
    Candidates c = of({1, 1, 9});
    make_logit_bias(biases)->apply(c);
    EXPECT_THAT(logits_by_id(c), ElementsAre(3, 1, -infinity));
}

TEST(Dist, draws_from_the_distribution) {
    const std::vector<float> p{0.5F, 0.25F, 0.15F, 0.07F, 0.03F};
    constexpr int draws = 100000;
    const auto s = make_dist(42);
    std::vector<double> counts(p.size());
    Candidates c;
    for (int i = 0; i < draws; ++i) {
        c = of_probabilities(p);
        s->apply(c);
        ++counts[static_cast<size_t>(c.chosen)];
    }
    double chi_square = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        const double expected = draws * static_cast<double>(p[i]);
        chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    EXPECT_LT(chi_square, 18.47) << "four degrees of freedom: exceeded by chance once in a thousand seeds";
    EXPECT_GT(chi_square, 0.09) << "fits better than chance once in a thousand seeds";
}

TEST(Dist, follows_the_published_mt19937) {
    // The standard's own check value: the 10000th number of a default-seeded (5489) generator is 4123659995.
    const auto s = make_dist(5489);
    Candidates c;
    for (int i = 0; i < 10000; ++i) {
        c = of(std::vector<float>(1024, 0.0F));
        s->apply(c);
    }
    EXPECT_EQ(c.chosen, static_cast<int32_t>(4123659995ULL * 1024 / 4294967296ULL));
}

TEST(Dist, repeats_with_its_seed_and_after_a_reset) {
    const auto draw = [](Sampler& s) {
        std::vector<int32_t> out;
        for (int i = 0; i < 50; ++i) {
            out.push_back(chosen_by(s, of(std::vector<float>(100, 0.0F))));
        }
        return out;
    };
    const auto a = make_dist(7);
    const auto b = make_dist(7);
    const auto other = make_dist(8);
    const auto first = draw(*a);
    EXPECT_EQ(first, draw(*b));
    EXPECT_NE(first, draw(*other));
    a->reset();
    EXPECT_EQ(first, draw(*a));
    const auto copy = a->clone();
    EXPECT_EQ(draw(*a), draw(*copy));
}

} // namespace
