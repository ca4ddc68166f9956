#include "runtime/sampling/samplers.h"

#include <deque>
#include <unordered_map>

namespace schedscope {

namespace {

class Penalise final : public Sampler {
public:
    explicit Penalise(const Penalties& p) : p_(p) {}
    Penalise(const Penalise&) = default;

    std::string_view name() const noexcept override { return "penalties"; }
    void apply(Candidates& c) override {
        if (off() || counts_.empty()) {
            return;
        }
        for (Candidate& i : c.items) {
            const auto found = counts_.find(i.id);
            if (found == counts_.end()) {
                continue;
            }
            i.logit = i.logit > 0 ? i.logit / p_.repeat : i.logit * p_.repeat;
            i.logit -= static_cast<float>(found->second) * p_.frequency + p_.presence;
        }
        c.n_sorted = 0;
    }
    void accept(int32_t token) override {
        if (off()) {
            return;
        }
        ++counts_[token];
        last_.push_back(token);
        if (p_.last_n > 0 && last_.size() > static_cast<size_t>(p_.last_n)) {
            const auto oldest = counts_.find(last_.front());
            if (--oldest->second == 0) {
                counts_.erase(oldest);
            }
            last_.pop_front();
        }
    }
    void reset() override {
        last_.clear();
        counts_.clear();
    }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<Penalise>(*this); }

private:
    bool off() const noexcept { return p_.last_n == 0 || (p_.repeat == 1.0F && p_.frequency == 0 && p_.presence == 0); }

    Penalties p_;
    std::deque<int32_t> last_;
    std::unordered_map<int32_t, int32_t> counts_; ///< occurrences among last_
};

} // namespace

std::unique_ptr<Sampler> make_penalties(const Penalties& penalties) { return std::make_unique<Penalise>(penalties); }

} // namespace schedscope
