#include "runtime/sampling/candidates.h"

#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace schedscope {

namespace {

bool likelier(const Candidate& a, const Candidate& b) noexcept {
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/// What is not a number can't be compared. To choose among the others would hide that something went wrong before.
[[noreturn]] void refuse_nan(std::span<const float> logits) {
    const auto n = std::count_if(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
    throw Error(ErrorKind::device, "sampling: " + std::to_string(n) + " of " + std::to_string(logits.size()) +
                                       " logits are NaN; --watch and verify tell where it began");
}

} // namespace

void Candidates::fill(std::span<const float> logits) {
    items.resize(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i])) {
            refuse_nan(logits);
        }
        items[i] = {int_of(i), logits[i], 0.0F};
    }
    n_sorted = 0;
    chosen = -1;
}

void Candidates::fill(std::span<const int32_t> ids, std::span<const float> logits, bool sorted) {
    items.clear();
    for (size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i])) {
            refuse_nan(logits);
        }
        if (logits[i] > -std::numeric_limits<float>::infinity()) {
            items.push_back({ids[i], logits[i], 0.0F});
        }
    }
    n_sorted = sorted ? items.size() : 0;
    chosen = -1;
}

void Candidates::sort_first(size_t n) {
    n = std::min(n, items.size());
    if (n <= n_sorted) {
        return;
    }
    const auto begin = items.begin() + n_sorted;
    const auto end = items.begin() + n;
    if (end != items.end()) {
        std::nth_element(begin, end, items.end(), likelier);
    }
    std::sort(begin, end, likelier);
    n_sorted = n;
}

void Candidates::keep_first(size_t n) {
    if (n < items.size()) {
        sort_first(n);
        items.resize(n);
    }
}

void Candidates::softmax() {
    float max = -std::numeric_limits<float>::infinity();
    for (const Candidate& c : items) {
        max = std::max(max, c.logit);
    }
    if (!std::isfinite(max)) {
        throw Error(ErrorKind::device, "sampling: no token has a finite logit");
    }
    double sum = 0;
    for (Candidate& c : items) {
        c.p = std::exp(c.logit - max);
        sum += c.p;
    }
    for (Candidate& c : items) {
        c.p = to_float(c.p / sum);
    }
}

void Candidates::choose(double u) noexcept {
    double sum = 0;
    for (const Candidate& i : items) {
        sum += i.p;
        if (i.p > 0) {
            chosen = i.id;
            if (sum > u) {
                return;
            }
        }
    }
}

} // namespace schedscope
