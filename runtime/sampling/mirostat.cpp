#include "runtime/numbers.h"
#include "runtime/sampling/samplers.h"
#include "runtime/sampling/uniform.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

/// Both versions: cut off, choose, and move the bound of surprise by how far what was chosen is from the aim.
class MirostatSampler : public Sampler {
public:
    MirostatSampler(const Mirostat& m, uint32_t seed) : m_(m), mu_(2.0 * m.tau), random_(seed) {}

    void apply(Candidates& c) final {
        c.sort_first(c.items.size());
        c.softmax();
        c.keep_first(n_kept(c));
        c.softmax();
        c.choose(random_.next());
        const auto chosen = std::find_if(c.items.begin(), c.items.end(), [&](const Candidate& i) { return i.id == c.chosen; });
        mu_ -= m_.eta * (surprise(*chosen) - m_.tau);
    }
    void reset() final {
        mu_ = 2.0 * m_.tau;
        random_.reset();
    }

protected:
    MirostatSampler(const MirostatSampler&) = default;
    static double surprise(const Candidate& i) noexcept { return -std::log2(to_double(i.p)); }
    /// How many of the sorted candidates stay, at least 1.
    virtual size_t n_kept(const Candidates& c) const = 0;

    Mirostat m_;
    double mu_; ///< bits
    Uniform random_;
};

/// Estimates the exponent of Zipf's law from the likeliest tokens, and from it how many keep the surprise below the bound.
class Mirostat1 final : public MirostatSampler {
public:
    Mirostat1(const Mirostat& m, int32_t n_vocab, uint32_t seed) : MirostatSampler(m, seed), n_vocab_(n_vocab) {}
    Mirostat1(const Mirostat1&) = default;
    std::string_view name() const noexcept override { return "mirostat"; }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Mirostat1>(*this); }

private:
    size_t n_kept(const Candidates& c) const override {
        constexpr size_t m = 100;
        double tb = 0, tt = 0;
        for (size_t i = 0; i + 1 < std::min(m, c.items.size()) && c.items[i + 1].p > 0; ++i) {
            const double t = std::log(to_double(i + 2) / to_double(i + 1));
            tb += t * std::log(to_double(c.items[i].p) / c.items[i + 1].p);
            tt += t * t;
        }
        if (tt <= 0 || tb <= 0) { // one candidate, or all alike: nothing to estimate from
            return c.items.size();
        }
        const double s = tb / tt, epsilon = s - 1;
        const double k = std::pow(epsilon * std::exp2(mu_) / (1 - std::pow(n_vocab_, -epsilon)), 1 / s);
        return std::isfinite(k) ? static_cast<size_t>(std::clamp(k, 1.0, to_double(c.items.size()))) : c.items.size();
    }
    double n_vocab_;
};

/// Cuts off what is more surprising than the bound.
class Mirostat2 final : public MirostatSampler {
public:
    using MirostatSampler::MirostatSampler;
    Mirostat2(const Mirostat2&) = default;
    std::string_view name() const noexcept override { return "mirostat_v2"; }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Mirostat2>(*this); }

private:
    size_t n_kept(const Candidates& c) const override {
        const auto too_surprising =
            std::find_if(c.items.begin(), c.items.end(), [&](const Candidate& i) { return surprise(i) > mu_; });
        return std::max<size_t>(too_surprising - c.items.begin(), 1);
    }
};

} // namespace

std::unique_ptr<Sampler> make_mirostat(const Mirostat& mirostat, int32_t n_vocab, uint32_t seed) {
    if (mirostat.version == 1) {
        return std::make_unique<Mirostat1>(mirostat, n_vocab, seed);
    }
    return std::make_unique<Mirostat2>(mirostat, seed);
}

} // namespace schedscope
