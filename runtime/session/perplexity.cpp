#include "runtime/session/perplexity.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

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
    return std::log(sum) + most - logits[came];
}

/// Reads a text window by window, each in ubatches: rows of logits are many, and a ubatch's are held at a time.
class Windows {
public:
    Windows(Session& session, std::span<const Token> tokens, const std::atomic<bool>* stop)
        : context_(session.context()), tokens_(tokens), n_ctx_(context_.options().n_ctx), stop_(stop) {
        if (tokens.size() < 2) {
            throw Error(ErrorKind::usage, "perplexity: the text has no two tokens");
        }
        begins_ = tokens.front() == session.tokenizer().bos();
    }

    /// `read` takes a batch, and the tokens that its rows of logits foretell.
    template <typename Read> void each(Read read) {
        if (tokens_.size() < n_ctx_) {
            one(tokens_, 1, read);
            return;
        }
        std::vector<Token> window(n_ctx_);
        for (size_t at = 0; at + n_ctx_ <= tokens_.size() && !stopped(); at += n_ctx_) {
            std::copy_n(tokens_.begin() + at, n_ctx_, window.begin());
            if (begins_) {
                window[0] = tokens_[0];
            }
            one(window, n_ctx_ / 2 + 1, read);
        }
    }

private:
    bool stopped() const noexcept { return stop_ != nullptr && *stop_; }

    /// The tokens from `from` on are foretold.
    template <typename Read> void one(std::span<const Token> window, size_t from, Read& read) {
        context_.cells().clear();
        const size_t step = context_.options().n_ubatch;
        for (size_t at = 0; at < window.size() && !stopped(); at += step) {
            Batch batch;
            std::vector<Token> came;
            for (size_t i = at; i < std::min(at + step, window.size()); ++i) {
                const bool foretells = i + 1 >= from && i + 1 < window.size();
                batch.add(window[i], int_of(i), only_sequence(0), foretells);
                if (foretells) {
                    came.push_back(window[i + 1]);
                }
            }
            read(batch, came);
        }
    }

    InferenceContext& context_;
    std::span<const Token> tokens_;
    size_t n_ctx_;
    bool begins_ = false;
    const std::atomic<bool>* stop_;
};

} // namespace

Perplexity perplexity(Session& session, std::span<const Token> tokens, const std::atomic<bool>* stop) {
    InferenceContext& context = session.context();
    Sums sums;
    Windows(session, tokens, stop).each([&](const Batch& batch, const std::vector<Token>& came) {
        context.decode(batch);
        for (size_t row = 0; row < came.size(); ++row) {
            sums.add(surprise(context.logits(int_of(row)), came[row]));
        }
    });
    if (sums.n == 0) {
        return {};
    }
    const auto n = static_cast<double>(sums.n);
    const double mean = sums.first / n;
    const double variance = std::max(0.0, sums.square / n - mean * mean);
    const double error = sums.n > 1 ? std::exp(mean) * std::sqrt(variance / (n - 1)) : INFINITY;
    return {std::exp(mean), error, sums.n};
}

void plan_perplexity(Session& session, std::span<const Token> tokens) {
    Windows(session, tokens, nullptr).each([&](const Batch& batch, const std::vector<Token>&) {
        session.context().plan_only(batch);
    });
}

} // namespace schedscope
