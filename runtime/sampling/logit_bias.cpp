#include "runtime/sampling/samplers.h"

#include <unordered_map>

namespace schedscope {

namespace {

class LogitBias final : public Sampler {
public:
    explicit LogitBias(std::span<const std::pair<int32_t, float>> biases) {
        for (const auto& [id, bias] : biases) {
            biases_[id] += bias;
        }
    }
    LogitBias(const LogitBias&) = default;

    std::string_view name() const noexcept override { return "logit_bias"; }
    void apply(Candidates& c) override {
        if (biases_.empty()) {
            return;
        }
        for (Candidate& i : c.items) {
            const auto found = biases_.find(i.id);
            if (found != biases_.end()) {
                i.logit += found->second;
            }
        }
        c.n_sorted = 0;
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<LogitBias>(*this); }

private:
    std::unordered_map<int32_t, float> biases_;
};

} // namespace

std::unique_ptr<Sampler> make_logit_bias(std::span<const std::pair<int32_t, float>> biases) {
    return std::make_unique<LogitBias>(biases);
}

} // namespace schedscope
