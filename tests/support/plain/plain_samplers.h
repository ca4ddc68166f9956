#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

/// Every sampler once more, in double precision and as its definition reads: no shortcuts, nothing shared with the program. A
/// token that is not in the list was removed.
namespace schedscope::plain {

struct PlainToken {
    int32_t id;
    double logit; ///< −∞: forbidden
};
using Tokens = std::vector<PlainToken>;

/// Whether a decision was a close one: how far the number that decided was from the bound, at the closest. Floats may decide it
/// the other way.
struct Closest {
    double margin = 1e300;
    void saw(double distance);
};

Tokens of(const std::vector<float>& logits);
std::vector<double> probabilities(const Tokens& tokens);
/// Likeliest first; of equals the lower id first.
Tokens sorted(Tokens tokens);

int32_t greedy(const Tokens& tokens);
/// The first whose cumulated probability is above u, in the given order.
int32_t dist(const Tokens& tokens, double u, Closest& closest);
Tokens top_k(const Tokens& tokens, size_t k);
Tokens top_p(const Tokens& tokens, double p, Closest& closest);
Tokens min_p(const Tokens& tokens, double p, Closest& closest);
Tokens temperature(Tokens tokens, double t);
Tokens dynamic_temperature(Tokens tokens, double t, double range, double exponent);
Tokens penalties(Tokens tokens, const std::vector<int32_t>& last, double repeat, double frequency, double presence);
Tokens logit_bias(Tokens tokens, const std::map<int32_t, double>& biases);
Tokens typical(const Tokens& tokens, double p, Closest& closest);
Tokens top_n_sigma(const Tokens& tokens, double n, Closest& closest);
/// When it acts.
Tokens exclude_top_choices(const Tokens& tokens, double threshold);
Tokens dry(Tokens tokens, const std::vector<int32_t>& text, double multiplier, double base, size_t allowed_length,
           const std::vector<int32_t>& breakers);
/// What mirostat keeps, likeliest first, at this bound of surprise.
Tokens mirostat_1(const Tokens& tokens, double mu, double n_vocab);
Tokens mirostat_2(const Tokens& tokens, double mu);

/// The numbers that a seed gives: the upper 24 bits of mt19937's.
class PlainUniform {
public:
    explicit PlainUniform(uint32_t seed) : random_(seed) {}
    double next() { return static_cast<double>(random_() / 256U) / 16777216.0; }

private:
    std::mt19937 random_;
};

/// The chi-square statistic of counts against expected shares, and the value that chance exceeds once in a thousand times.
double chi_square(const std::vector<int64_t>& counts, const std::vector<double>& shares);
double chi_square_limit(size_t degrees_of_freedom);

} // namespace schedscope::plain
