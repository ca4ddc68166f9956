#include "viz/pictures/offset_axis.h"

#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"

#include <algorithm>
#include <array>
#include <optional>

namespace schedscope {

namespace {

constexpr double worth_folding = 0.06; ///< of all that is used
constexpr double strip = 7, most_in_strips = 0.4;

/// "1.25 MiB"; nothing where more than three digits would have to be said.
std::optional<std::string> exact(int64_t bytes) {
    constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    int64_t size = 1;
    while (unit + 1 < units.size() && bytes >= size * 1024) {
        size *= 1024;
        ++unit;
    }
    const int64_t hundredths = bytes % size * 100 / size;
    if (hundredths * size != bytes % size * 100 || (hundredths != 0 && bytes / size >= 100)) {
        return std::nullopt;
    }
    if (hundredths == 0) {
        return words::bytes(bytes); // as sizes beside it are said
    }
    return joined({std::to_string(bytes / size), hundredths < 10 ? ".0" : ".",
                   std::to_string(hundredths % 10 == 0 ? hundredths / 10 : hundredths), " ", units[unit]});
}

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
    const auto add = [&](int64_t offset, std::string label) {
        const double at = y(offset);
        if (ticks.empty() || at - ticks.back().y >= apart) {
            ticks.push_back({offset, at, std::move(label)});
        }
    };
    int64_t step = 1; // powers of two are round in all units
    while (to_double(step) * scale_ < 2 * apart && step < size_) {
        step *= 2;
    }
    const auto add_stretch = [&](int64_t first, int64_t end) {
        if (points_ - y(first) < apart) {
            return;
        }
        add(first, exact(first).value_or(words::bytes(first)));
        for (int64_t offset = (first / step + 1) * step; offset < end && points_ - y(offset) >= apart; offset += step) {
            if (std::optional<std::string> label = exact(offset)) {
                add(offset, std::move(*label));
            }
        }
    };
    int64_t first = 0;
    for (const Fold& fold : folds_) {
        if (fold.first > first) {
            add_stretch(first, fold.first);
        }
        first = fold.end;
    }
    if (first < size_) {
        add_stretch(first, size_);
    }
    add(size_, exact(size_).value_or(words::bytes(size_)));
    return ticks;
}

} // namespace schedscope
