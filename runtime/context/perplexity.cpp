#include "runtime/context/perplexity.h"

#include "runtime/error.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

/// Sums over −ln p.
struct Sums {
    double first = 0, square = 0;
    int64_t n = 0;

    void add(double nats) {
        first += nats;
        square += nats * nats;
        ++n;
    }
};

double surprise(std::span<const float> logits, Token came) {
    const double most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float v : logits) {
        sum += std::exp(v - most);
    }
    return std::log(sum) + most - logits[static_cast<size_t>(came)];
}

/// Decodes a window in ubatches; scores the tokens from `from` on.
void score(Session& session, std::span<const Token> window, size_t from, Sums& sums, const std::atomic<bool>* stop) {
    Context& context = session.context();
    context.cells().clear();
    const auto step = static_cast<size_t>(context.options().n_ubatch); // rows of logits are many: a ubatch's at a time
    for (size_t at = 0; at < window.size() && !(stop != nullptr && *stop); at += step) {
        const size_t end = std::min(at + step, window.size());
        Batch batch;
        for (size_t i = at; i < end; ++i) {
            batch.add(window[i], static_cast<int32_t>(i), only_sequence(0), i + 1 >= from && i + 1 < window.size());
        }
        context.decode(batch);
        int32_t row = 0;
        for (size_t i = at; i < end; ++i) {
            if (i + 1 >= from && i + 1 < window.size()) {
                sums.add(surprise(context.logits(row++), window[i + 1]));
            }
        }
    }
}

} // namespace

Perplexity perplexity(Session& session, std::span<const Token> tokens, const std::atomic<bool>* stop) {
    const auto n_ctx = static_cast<size_t>(session.context().options().n_ctx);
    if (tokens.size() < 2) {
        throw Error(ErrorKind::usage, "perplexity: the text has no two tokens");
    }
    Sums sums;
    if (tokens.size() < n_ctx) {
        score(session, tokens, 1, sums, stop);
    } else {
        const bool begins = tokens.front() == session.tokenizer().bos();
        std::vector<Token> window(n_ctx);
        for (size_t at = 0; at + n_ctx <= tokens.size() && !(stop != nullptr && *stop); at += n_ctx) {
            std::copy_n(tokens.begin() + static_cast<ptrdiff_t>(at), n_ctx, window.begin());
            if (begins) {
                window[0] = tokens[0];
            }
            score(session, window, n_ctx / 2 + 1, sums, stop);
        }
    }
    if (sums.n == 0) {
        return {};
    }
    const auto n = static_cast<double>(sums.n);
    const double mean = sums.first / n;
    const double variance = std::max(0.0, sums.square / n - mean * mean);
    const double error = sums.n > 1 ? std::exp(mean) * std::sqrt(variance / (n - 1)) : 0;
    return {std::exp(mean), error, sums.n};
}

} // namespace schedscope
