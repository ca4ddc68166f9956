#include "runtime/sampling/samplers.h"
#include "runtime/sampling/uniform.h"

#include <algorithm>

namespace schedscope {

namespace {

class ExcludeTopChoices final : public Sampler {
public:
    ExcludeTopChoices(const Xtc& xtc, uint32_t seed) : xtc_(xtc), random_(seed) {}
    ExcludeTopChoices(const ExcludeTopChoices&) = default;

    std::string_view name() const noexcept override { return "xtc"; }
    void apply(Candidates& c) override {
        if (xtc_.probability <= 0 || xtc_.threshold > 0.5F || c.items.size() < 2 || random_.next() >= xtc_.probability) {
            return;
        }
        c.softmax();
        const size_t n = std::count_if(c.items.begin(), c.items.end(), [&](const Candidate& i) { return i.p >= xtc_.threshold; });
        if (n < 2) {
            return;
        }
        c.sort_first(n);
        c.items.erase(c.items.begin(), c.items.begin() + (n - 1));
        c.n_sorted -= n - 1;
    }
    void reset() override { random_.reset(); }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<ExcludeTopChoices>(*this); }

private:
    Xtc xtc_;
    Uniform random_;
};

} // namespace

std::unique_ptr<Sampler> make_xtc(const Xtc& xtc, uint32_t seed) { return std::make_unique<ExcludeTopChoices>(xtc, seed); }

} // namespace schedscope
