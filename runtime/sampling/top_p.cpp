#include "runtime/sampling/samplers.h"

#include <algorithm>

namespace schedscope {

namespace {

class TopP final : public Sampler {
public:
    explicit TopP(float p) : p_(p) {}
    TopP(const TopP&) = default;

    std::string_view name() const noexcept override { return "top_p"; }
    void apply(Candidates& c) override {
        if (p_ >= 1.0F) {
            return;
        }
        c.softmax();
        double sum = 0;
        size_t n = 0;
        while (n < c.items.size()) {
            // A few tokens usually hold the mass, so sorting a large vocabulary to its end would be wasted.
            if (n == c.n_sorted) {
                c.sort_first(std::max<size_t>(64, 4 * n));
            }
            sum += c.items[n++].p;
            if (sum >= p_) {
                break;
            }
        }
        c.keep_first(n);
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<TopP>(*this); }

private:
    float p_;
};

} // namespace

std::unique_ptr<Sampler> make_top_p(float p) { return std::make_unique<TopP>(p); }

} // namespace schedscope
