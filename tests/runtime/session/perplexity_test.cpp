#include "runtime/session/perplexity.h"

#include "runtime/error.h"
#include "tests/support/models/reference.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace schedscope;
using namespace schedscope::test;

namespace {

struct PerplexityOfStories : ::testing::Test {
    RunOptions options(const std::string& devices = "cpu", int32_t n_gpu_layers = 0) const {
        RunOptions o = greedy_options(teller.model());
        o.devices = devices;
        o.n_gpu_layers = n_gpu_layers;
        o.cache_type_k = o.cache_type_v = Type::F32;
        o.n_ctx = 256;
        return o;
    }
    static std::vector<Token> tokens_of(const Session& session, const std::string& text) {
        return session.tokenizer().encode(text, true, false);
    }
    const Storyteller teller;
    Registry registry;
};

/// −ln of the probability of the token `came`, from logits.
double surprise(const float* logits, size_t n, int32_t came) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        sum += std::exp(static_cast<double>(logits[i]) - logits[came]);
    }
    return std::log(sum);
}

TEST_F(PerplexityOfStories, is_what_the_logits_say) {
    Session session(registry, options());
    const std::vector<Token> tokens = tokens_of(session, teller.text().substr(0, 180));
    const std::vector<float> rows = all_logits(session, tokens);
    constexpr size_t n_vocab = 512;
    std::vector<double> nats;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        nats.push_back(surprise(&rows[i * n_vocab], n_vocab, tokens[i + 1]));
    }
    const auto n = static_cast<double>(nats.size());
    const double mean = std::accumulate(nats.begin(), nats.end(), 0.0) / n;
    double squares = 0;
    for (const double v : nats) {
        squares += (v - mean) * (v - mean);
    }
    const Perplexity p = perplexity(session, tokens);
    EXPECT_EQ(p.n_tokens, static_cast<int64_t>(nats.size()));
    EXPECT_NEAR(p.value, std::exp(mean), 1e-4);
    EXPECT_NEAR(p.error, std::exp(mean) * std::sqrt(squares / n / (n - 1)), 1e-4);
    EXPECT_LT(p.value, 3) << "a story that it tells itself does not surprise it";
}

TEST_F(PerplexityOfStories, long_texts_are_scored_in_the_second_half_of_each_window) {
    Session session(registry, options());
    std::vector<Token> tokens;
    while (tokens.size() < 700) {
        const std::vector<Token> more = session.tokenizer().encode(teller.text(), tokens.empty(), false);
        tokens.insert(tokens.end(), more.begin(), more.end());
    }
    tokens.resize(700); // two windows of 256, and a rest
    const Perplexity both = perplexity(session, tokens);
    EXPECT_EQ(both.n_tokens, 2 * 127);

    double nats = 0;
    for (const size_t at : {size_t{0}, size_t{256}}) {
        std::vector<Token> window(tokens.begin() + static_cast<ptrdiff_t>(at), tokens.begin() + static_cast<ptrdiff_t>(at) + 256);
        window[0] = tokens[0];
        const std::vector<float> rows = all_logits(session, window);
        for (size_t i = 128; i + 1 < window.size(); ++i) {
            nats += surprise(&rows[i * 512], 512, window[i + 1]);
        }
    }
    EXPECT_NEAR(both.value, std::exp(nats / 254), 1e-3);
}

TEST_F(PerplexityOfStories, is_the_same_on_every_device_and_however_the_text_is_cut) {
    std::vector<Token> tokens;
    double expected = 0;
    {
        Session session(registry, options());
        tokens = tokens_of(session, teller.text());
        expected = perplexity(session, tokens).value;
    }
    for (const char* devices : {"cpu", "blas,cpu", "vulkan0,cpu"}) {
        if (!missing_device(registry, devices).empty()) {
            continue;
        }
        const bool vulkan = std::string_view(devices).starts_with("vulkan");
        for (const int32_t layers : vulkan ? std::vector<int32_t>{0, 1, 3, 99} : std::vector<int32_t>{0}) {
            for (const int32_t n_ubatch : {1, 7, 512}) {
                if (vulkan && n_ubatch == 1) {
                    continue; // a token at a time takes software Vulkan seconds
                }
                RunOptions o = options(devices, layers);
                o.n_ubatch = n_ubatch;
                Session session(registry, o);
                EXPECT_NEAR(perplexity(session, tokens).value, expected, 5e-5 * expected)
                    << devices << " -ngl " << layers << " -ub " << n_ubatch;
            }
        }
    }
}

TEST_F(PerplexityOfStories, needs_two_tokens) {
    Session session(registry, options());
    const std::vector<Token> one{1};
    EXPECT_THROW(perplexity(session, one), Error);
}

} // namespace
