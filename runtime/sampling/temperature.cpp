#include "runtime/sampling/samplers.h"

namespace schedscope {

namespace {

class Temperature final : public Sampler {
public:
    explicit Temperature(float t) : t_(t) {}
    Temperature(const Temperature&) = default;

    std::string_view name() const noexcept override { return "temp"; }
    void apply(Candidates& c) override {
        if (t_ <= 0) {
            c.keep_first(1);
            return;
        }
        for (Candidate& i : c.items) {
            i.logit /= t_;
        }
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Temperature>(*this); }

private:
    float t_;
};

} // namespace

std::unique_ptr<Sampler> make_temperature(float t) { return std::make_unique<Temperature>(t); }

} // namespace schedscope
