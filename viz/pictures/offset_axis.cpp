#include "viz/pictures/offset_axis.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr double worth_folding = 0.06; ///< of all that is used
constexpr double strip = 7, most_in_strips = 0.4;
constexpr double longest_without_tick = 75; // points

} // namespace

OffsetAxis::OffsetAxis(std::vector<std::pair<int64_t, int64_t>> used, int64_t size, double points)
    : size_(std::max<int64_t>(1, size)), points_(points) {
    std::sort(used.begin(), used.end());
    std::vector<std::pair<int64_t, int64_t>> empty;
    int64_t end = 0, in_use = 0;
    for (const auto& [first, last] : used) {
        if (first > end) {
            empty.emplace_back(end, first);
        }
        in_use += std::max<int64_t>(0, last - std::max(first, end));
        end = std::max(end, last);
    }
    if (end < size_) {
        empty.emplace_back(end, size_);
    }
    const double least = worth_folding * to_double(in_use);
    int64_t shown = size_;
    for (const auto& [first, last] : empty) {
        if (in_use > 0 && to_double(last - first) > least) {
            folds_.push_back({first, last, 0, 0});
            shown -= last - first;
        }
    }
    const double height = folds_.empty() ? 0 : std::min(strip, most_in_strips * points / to_double(folds_.size()));
    scale_ = (points - height * to_double(folds_.size())) / to_double(std::max<int64_t>(1, shown));
    int64_t folded = 0;
    double strips = 0;
    for (Fold& fold : folds_) {
        fold.bottom = to_double(fold.first - folded) * scale_ + strips;
        fold.top = fold.bottom + height;
        folded += fold.end - fold.first;
        strips += height;
    }
}

double OffsetAxis::y(int64_t offset) const {
    double at = 0;
    int64_t from = 0;
    for (const Fold& fold : folds_) {
        if (offset < fold.first) {
            break;
        }
        if (offset < fold.end) {
            return fold.bottom + (fold.top - fold.bottom) * to_double(offset - fold.first) / to_double(fold.end - fold.first);
        }
        at = fold.top;
        from = fold.end;
    }
    return at + to_double(offset - from) * scale_;
}

std::vector<OffsetAxis::Tick> OffsetAxis::ticks(double apart) const {
    std::vector<Tick> ticks;
    const auto add = [&](int64_t offset) {
        const double at = y(offset);
        if (ticks.empty() || at - ticks.back().y >= apart) {
            ticks.push_back({offset, at});
        }
    };
    if (folds_.empty()) {
        for (int64_t quarter = 0; quarter <= 4; ++quarter) {
            add(size_ * quarter / 4);
        }
        return ticks;
    }
    const auto add_stretch = [&](int64_t first, int64_t end) { // its beginning, and more where it is long
        const auto parts = std::max<int64_t>(1, static_cast<int64_t>((y(end) - y(first)) / longest_without_tick));
        for (int64_t part = 0; part < parts; ++part) {
            const int64_t offset = first + (end - first) * part / parts;
            if (points_ - y(offset) >= apart) {
                add(offset);
            }
        }
    };
    int64_t first = 0;
    for (const Fold& fold : folds_) {
        add_stretch(first, fold.first);
        first = fold.end;
    }
    add_stretch(first, size_);
    add(size_);
    return ticks;
}

} // namespace schedscope
