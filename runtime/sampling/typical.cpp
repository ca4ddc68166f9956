#include "runtime/sampling/samplers.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

class Typical final : public Sampler {
public:
    explicit Typical(float p) : p_(p) {}
    Typical(const Typical&) = default;

    std::string_view name() const noexcept override { return "typ_p"; }
    void apply(Candidates& c) override {
        if (p_ >= 1.0F) {
            return;
        }
        c.softmax();
        std::erase_if(c.items, [](const Candidate& i) { return i.p <= 0; }); // infinitely surprising
        double entropy = 0;
        for (const Candidate& i : c.items) {
            entropy -= i.p * std::log(to_double(i.p));
        }
        const auto distance = [&](const Candidate& i) { return std::abs(-std::log(to_double(i.p)) - entropy); };
        std::sort(c.items.begin(), c.items.end(), [&](const Candidate& a, const Candidate& b) {
            const double x = distance(a), y = distance(b);
            return x < y || (x == y && a.id < b.id);
        });
        double sum = 0;
        size_t n = 0;
        while (n < c.items.size() && sum <= p_) {
            sum += c.items[n++].p;
        }
        c.items.resize(n);
        c.n_sorted = 0;
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Typical>(*this); }

private:
    float p_;
};

} // namespace

std::unique_ptr<Sampler> make_typical(float p) { return std::make_unique<Typical>(p); }

} // namespace schedscope
