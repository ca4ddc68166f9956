#include "runtime/sampling/samplers.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace schedscope {

namespace {

/// z[i]: how many elements from i on are those from the beginning on. z[0] is not filled. Linear (Gusfield).
std::vector<size_t> common_beginnings(const std::vector<int32_t>& s) {
    std::vector<size_t> z(s.size());
    size_t left = 0, right = 0; // the stretch that reaches farthest and repeats the beginning
    for (size_t i = 1; i < s.size(); ++i) {
        size_t n = i < right ? std::min(right - i, z[i - left]) : 0;
        while (i + n < s.size() && s[n] == s[i + n]) {
            ++n;
        }
        if (i + n > right) {
            left = i;
            right = i + n;
        }
        z[i] = n;
    }
    return z;
}

class DontRepeatYourself final : public Sampler {
public:
    explicit DontRepeatYourself(Dry dry) : dry_(std::move(dry)), breakers_(dry_.breakers.begin(), dry_.breakers.end()) {}
    DontRepeatYourself(const DontRepeatYourself&) = default;

    std::string_view name() const noexcept override { return "dry"; }
    void apply(Candidates& c) override {
        if (off()) {
            return;
        }
        // Backwards, and not across a breaker: what follows an earlier stretch that ends as the text does would repeat it.
        std::vector<int32_t> text(last_.rbegin(), last_.rend());
        const size_t reach =
            std::find_if(text.begin(), text.end(), [&](int32_t t) { return breakers_.contains(t); }) - text.begin();
        const std::vector<size_t> repeated = common_beginnings(text);
        std::unordered_map<int32_t, size_t> longest; // repetition that a token would continue
        for (size_t i = 1; i < text.size(); ++i) {
            const size_t n = std::min(repeated[i], reach);
            if (n >= static_cast<size_t>(std::max(dry_.allowed_length, 1))) {
                size_t& most = longest[text[i - 1]];
                most = std::max(most, n);
            }
        }
        for (Candidate& i : c.items) {
            if (const auto found = longest.find(i.id); found != longest.end()) {
                const auto beyond = to_double(found->second) - dry_.allowed_length;
                i.logit -= to_float(dry_.multiplier * std::pow(dry_.base, beyond));
            }
        }
        c.n_sorted = longest.empty() ? c.n_sorted : 0;
    }
    void accept(int32_t token) override {
        if (off()) {
            return;
        }
        last_.push_back(token);
        if (dry_.last_n > 0 && last_.size() > static_cast<size_t>(dry_.last_n)) {
            last_.erase(last_.begin());
        }
    }
    void reset() override { last_.clear(); }
    std::unique_ptr<Sampler> clone() const override { return std::make_unique<DontRepeatYourself>(*this); }

private:
    bool off() const noexcept { return dry_.multiplier == 0 || dry_.base < 1 || dry_.last_n == 0; }

    Dry dry_;
    std::unordered_set<int32_t> breakers_;
    std::vector<int32_t> last_;
};

} // namespace

std::unique_ptr<Sampler> make_dry(Dry dry) { return std::make_unique<DontRepeatYourself>(std::move(dry)); }

} // namespace schedscope
