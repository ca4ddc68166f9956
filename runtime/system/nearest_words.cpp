#include "runtime/system/nearest_words.h"

#include "runtime/letter_case.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace schedscope {

namespace {

bool same_letter(char a, char b) noexcept {
    const auto plain = [](char c) { return c == '_' ? '-' : lower(c); };
    return plain(a) == plain(b);
}

/// How many letters must be changed, added, dropped, or swapped with the one before.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        next[0] = i + 1;
        for (size_t k = 0; k < b.size(); ++k) {
            const size_t changed = row[k] + (same_letter(a[i], b[k]) ? 0 : 1);
            next[k + 1] = std::min({row[k + 1] + 1, next[k] + 1, changed});
            if (i > 0 && k > 0 && same_letter(a[i], b[k - 1]) && same_letter(a[i - 1], b[k])) {
                next[k + 1] = std::min(next[k + 1], before[k - 1] + 1);
            }
        }
        before.swap(row);
        row.swap(next);
    }
    return row.back();
}

} // namespace

std::string nearest_words(std::span<const std::string_view> known, std::string_view word) {
    constexpr size_t shown = 3, least = 2;
    if (word.size() < least) {
        return {};
    }
    // Of two letters or three, one that stays says nothing.
    const size_t farthest = std::min(std::max<size_t>(2, word.size() / 3), word.size() / 2);
    std::vector<std::pair<size_t, std::string_view>> near;
    bool any_begins_so = false;
    for (const std::string_view each : known) {
        const bool begins_so = word.size() < each.size() && std::equal(word.begin(), word.end(), each.begin(), same_letter);
        const size_t far = begins_so ? 1 : distance(word, each);
        any_begins_so |= begins_so;
        if (far <= farthest && std::none_of(near.begin(), near.end(), [&](const auto& n) { return n.second == each; })) {
            near.emplace_back(far, each);
        }
    }
    if (any_begins_so) {
        std::erase_if(near, [](const auto& n) { return n.first > 1; });
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    const size_t n = std::min(shown, near.size());
    for (size_t i = 0; i < n; ++i) {
        text += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(near[i].second);
    }
    return text;
}

std::string did_you_mean(std::span<const std::string_view> known, std::string_view word) {
    const std::string near = nearest_words(known, word);
    return near.empty() ? "" : "; did you mean " + near + "?";
}

} // namespace schedscope
