#include "tests/support/plain/plain_samplers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace schedscope::plain {

void Closest::saw(double distance) { margin = std::min(margin, std::abs(distance)); }

Tokens of(const std::vector<float>& logits) {
    Tokens tokens;
    for (size_t i = 0; i < logits.size(); ++i) {
        tokens.push_back({static_cast<int32_t>(i), static_cast<double>(logits[i])});
    }
    return tokens;
}

std::vector<double> probabilities(const Tokens& tokens) {
    double largest = -HUGE_VAL;
    for (const PlainToken& t : tokens) {
        largest = std::max(largest, t.logit);
    }
    std::vector<double> p;
    double sum = 0;
    for (const PlainToken& t : tokens) {
        p.push_back(std::exp(t.logit - largest));
        sum += p.back();
    }
    for (double& x : p) {
        x /= sum;
    }
    return p;
}

Tokens sorted(Tokens tokens) {
    std::sort(tokens.begin(), tokens.end(),
              [](const PlainToken& a, const PlainToken& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; });
    return tokens;
}

int32_t greedy(const Tokens& tokens) { return sorted(tokens).front().id; }

int32_t dist(const Tokens& tokens, double u, Closest& closest) {
    const std::vector<double> p = probabilities(tokens);
    double sum = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
        sum += p[i];
        if (p[i] > 0) {
            closest.saw(sum - u);
        }
        if (sum > u) {
            return tokens[i].id;
        }
    }
    return -1;
}

Tokens top_k(const Tokens& tokens, size_t k) {
    Tokens kept = sorted(tokens);
    kept.resize(std::min(k, kept.size()));
    return kept;
}

Tokens top_p(const Tokens& tokens, double p, Closest& closest) {
    const Tokens all = sorted(tokens);
    const std::vector<double> share = probabilities(all);
    Tokens kept;
    double sum = 0;
    for (size_t i = 0; i < all.size() && (i == 0 || sum < p); ++i) {
        kept.push_back(all[i]);
        sum += share[i];
        closest.saw(sum - p);
    }
    return kept;
}

Tokens min_p(const Tokens& tokens, double p, Closest& closest) {
    const std::vector<double> share = probabilities(tokens);
    const double most = *std::max_element(share.begin(), share.end());
    Tokens kept;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (share[i] != most) {
            closest.saw(share[i] / most - p);
        }
        if (share[i] >= p * most) {
            kept.push_back(tokens[i]);
        }
    }
    return kept;
}

Tokens temperature(Tokens tokens, double t) {
    if (t <= 0) {
        return top_k(tokens, 1);
    }
    for (PlainToken& token : tokens) {
        token.logit /= t;
    }
    return tokens;
}

Tokens dynamic_temperature(Tokens tokens, double t, double range, double exponent) {
    const std::vector<double> p = probabilities(tokens);
    double entropy = 0;
    int n = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
        entropy -= p[i] > 0 ? p[i] * std::log(p[i]) : 0.0;
        n += std::isfinite(tokens[i].logit) ? 1 : 0;
    }
    const double low = std::max(t - range, 0.0), high = t + range;
    const double share = n > 1 ? entropy / std::log(static_cast<double>(n)) : 0.0;
    return temperature(std::move(tokens), low + (high - low) * std::pow(share, exponent));
}

Tokens penalties(Tokens tokens, const std::vector<int32_t>& last, double repeat, double frequency, double presence) {
    for (PlainToken& token : tokens) {
        const auto times = static_cast<double>(std::count(last.begin(), last.end(), token.id));
        if (times > 0) {
            token.logit = token.logit > 0 ? token.logit / repeat : token.logit * repeat;
            token.logit -= times * frequency + presence;
        }
    }
    return tokens;
}

Tokens logit_bias(Tokens tokens, const std::map<int32_t, double>& biases) {
    for (PlainToken& token : tokens) {
        const auto bias = biases.find(token.id);
        token.logit += bias != biases.end() ? bias->second : 0.0;
    }
    return tokens;
}

Tokens typical(const Tokens& tokens, double p, Closest& closest) {
    const std::vector<double> share = probabilities(tokens);
    double entropy = 0;
    for (const double x : share) {
        entropy -= x > 0 ? x * std::log(x) : 0.0;
    }
    std::vector<size_t> order(tokens.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto distance = [&](size_t i) { return std::abs(-std::log(share[i]) - entropy); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
    Tokens kept;
    double sum = 0;
    for (size_t i = 0; i < order.size() && sum <= p && share[order[i]] > 0; ++i) {
        kept.push_back(tokens[order[i]]);
        sum += share[order[i]];
        closest.saw(sum - p);
        if (i + 1 < order.size()) {
            closest.saw(distance(order[i + 1]) - distance(order[i]));
        }
    }
    return kept;
}

Tokens top_n_sigma(const Tokens& tokens, double n, Closest& closest) {
    std::vector<double> finite;
    for (const PlainToken& t : tokens) {
        if (std::isfinite(t.logit)) {
            finite.push_back(t.logit);
        }
    }
    const auto count = static_cast<double>(finite.size());
    const double mean = std::accumulate(finite.begin(), finite.end(), 0.0) / count;
    double variance = 0;
    for (const double x : finite) {
        variance += (x - mean) * (x - mean) / count;
    }
    const double bound = *std::max_element(finite.begin(), finite.end()) - n * std::sqrt(variance);
    Tokens kept;
    for (const PlainToken& t : tokens) {
        closest.saw(t.logit - bound);
        if (t.logit >= bound) {
            kept.push_back(t);
        }
    }
    return kept;
}

Tokens exclude_top_choices(const Tokens& tokens, double threshold) {
    const Tokens all = sorted(tokens);
    const std::vector<double> p = probabilities(all);
    size_t above = 0;
    while (above < p.size() && p[above] >= threshold) {
        ++above;
    }
    return {all.begin() + static_cast<std::ptrdiff_t>(above > 1 ? above - 1 : 0), all.end()};
}

Tokens dry(Tokens tokens, const std::vector<int32_t>& text, double multiplier, double base, size_t allowed_length,
           const std::vector<int32_t>& breakers) {
    const auto breaks = [&](int32_t t) { return std::find(breakers.begin(), breakers.end(), t) != breakers.end(); };
    for (PlainToken& token : tokens) {
        size_t longest = 0;
        for (size_t at = 0; at < text.size(); ++at) { // the token stood here before
            if (text[at] != token.id) {
                continue;
            }
            size_t n = 0; // how much of what was before it then is before it now
            while (n < at && text[at - 1 - n] == text[text.size() - 1 - n] && !breaks(text[at - 1 - n])) {
                ++n;
            }
            longest = std::max(longest, n);
        }
        if (longest >= allowed_length) {
            token.logit -= multiplier * std::pow(base, static_cast<double>(longest - allowed_length));
        }
    }
    return tokens;
}

Tokens mirostat_1(const Tokens& tokens, double mu, double n_vocab) {
    const Tokens all = sorted(tokens);
    const std::vector<double> p = probabilities(all);
    double tb = 0, tt = 0;
    for (size_t i = 0; i + 1 < p.size() && i + 1 < 100; ++i) {
        const double t = std::log((static_cast<double>(i) + 2) / (static_cast<double>(i) + 1));
        tb += t * std::log(p[i] / p[i + 1]);
        tt += t * t;
    }
    const double s = tb / tt;
    const double k = std::pow((s - 1) * std::pow(2, mu) / (1 - std::pow(n_vocab, 1 - s)), 1 / s);
    return top_k(tokens, static_cast<size_t>(std::max(1.0, std::floor(k))));
}

Tokens mirostat_2(const Tokens& tokens, double mu) {
    const Tokens all = sorted(tokens);
    const std::vector<double> p = probabilities(all);
    size_t n = 0;
    while (n < p.size() && -std::log2(p[n]) <= mu) {
        ++n;
    }
    return top_k(tokens, std::max<size_t>(n, 1));
}

double chi_square(const std::vector<int64_t>& counts, const std::vector<double>& shares) {
    const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    double sum = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
        const double expected = all * shares[i];
        const double off = static_cast<double>(counts[i]) - expected;
        if (expected > 0) {
            sum += off * off / expected;
        } else if (counts[i] > 0) {
            return HUGE_VAL; // something impossible happened
        }
    }
    return sum;
}

double chi_square_limit(size_t degrees_of_freedom) {
    // Wilson and Hilferty: the cube root is nearly normal.
    const auto k = static_cast<double>(degrees_of_freedom);
    return k * std::pow(1 - 2 / (9 * k) + 3.0902 * std::sqrt(2 / (9 * k)), 3);
}

} // namespace schedscope::plain
