#include "runtime/sampling/samplers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedscope {

namespace {

class MinP final : public Sampler {
public:
    explicit MinP(float p) : p_(p) {}
    MinP(const MinP&) = default;

    std::string_view name() const noexcept override { return "min_p"; }
    void apply(Candidates& c) override {
        if (p_ <= 0 || c.items.empty()) {
            return;
        }
        float max = -std::numeric_limits<float>::infinity();
        for (const Candidate& i : c.items) {
            max = std::max(max, i.logit);
        }
        // p(i) ≥ p × p(likeliest), without computing a probability.
        const float least = max + std::log(std::min(p_, 1.0F));
        const auto removed = std::remove_if(c.items.begin(), c.items.end(), [&](const Candidate& i) { return i.logit < least; });
        c.items.erase(removed, c.items.end());
        c.n_sorted = std::min(c.n_sorted, c.items.size());
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<MinP>(*this); }

private:
    float p_;
};

} // namespace

std::unique_ptr<Sampler> make_min_p(float p) { return std::make_unique<MinP>(p); }

} // namespace schedscope
