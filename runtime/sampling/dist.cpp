#include "runtime/sampling/samplers.h"

#include <random>

namespace schedscope {

namespace {

class Dist final : public Sampler {
public:
    explicit Dist(uint32_t seed) : seed_(seed), random_(seed) {}
    Dist(const Dist&) = default;

    std::string_view name() const noexcept override { return "dist"; }
    void apply(Candidates& c) override {
        c.softmax();
        // The standard's distributions differ between libraries; the generator itself does not.
        const double u = static_cast<double>(random_()) * 0x1p-32;
        double sum = 0;
        for (const Candidate& i : c.items) {
            sum += i.p;
            if (i.p > 0) {
                c.chosen = i.id;
                if (sum > u) {
                    return;
                }
            }
        }
    }
    void reset() override { random_.seed(seed_); }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Dist>(*this); }

private:
    uint32_t seed_;
    std::mt19937 random_;
};

} // namespace

std::unique_ptr<Sampler> make_dist(uint32_t seed) { return std::make_unique<Dist>(seed); }

} // namespace schedscope
