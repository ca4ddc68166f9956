#include "runtime/sampling/samplers.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

class TopNSigma final : public Sampler {
public:
    explicit TopNSigma(float n) : n_(n) {}
    TopNSigma(const TopNSigma&) = default;

    std::string_view name() const noexcept override { return "top_n_sigma"; }
    void apply(Candidates& c) override {
        if (n_ <= 0 || c.items.size() <= 1) {
            return;
        }
        double sum = 0, max = -HUGE_VAL;
        size_t count = 0;
        for (const Candidate& i : c.items) {
            if (std::isfinite(i.logit)) {
                sum += i.logit;
                max = std::max(max, to_double(i.logit));
                ++count;
            }
        }
        const double mean = count > 0 ? sum / to_double(count) : 0;
        double squares = 0;
        for (const Candidate& i : c.items) {
            squares += std::isfinite(i.logit) ? (i.logit - mean) * (i.logit - mean) : 0.0;
        }
        const double sigma = count > 0 ? std::sqrt(squares / to_double(count)) : 0;
        std::erase_if(c.items, [&](const Candidate& i) { return i.logit < max - n_ * sigma; });
        c.n_sorted = std::min(c.n_sorted, c.items.size());
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<TopNSigma>(*this); }

private:
    float n_;
};

} // namespace

std::unique_ptr<Sampler> make_top_n_sigma(float n) { return std::make_unique<TopNSigma>(n); }

} // namespace schedscope
