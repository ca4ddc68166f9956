#include "traces/history/words/layer_in_name.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace schedscope {

namespace {

bool ends_word(std::string_view text, size_t at) noexcept { return at >= text.size() || text[at] == ' ' || text[at] == '#'; }

/// The number at a place, and where it ends.
std::optional<std::pair<int32_t, size_t>> number_at(std::string_view text, size_t at) noexcept {
    int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), n);
    if (at >= text.size() || text[at] < '0' || text[at] > '9' || error != std::errc()) {
        return std::nullopt;
    }
    return std::pair{n, end - text.data()};
}

} // namespace

std::optional<LayerInName> layer_in_name(std::string_view name) noexcept {
    constexpr std::string_view block = "blk.";
    const size_t at = name.rfind(block);
    if (at != std::string_view::npos && (at == 0 || ends_word(name, at - 1))) {
        const size_t digits = at + block.size();
        if (const auto n = number_at(name, digits); n && n->second < name.size() && name[n->second] == '.') {
            return LayerInName{n->first, at, n->second + 1, digits, n->second};
        }
    }
    for (const std::string_view before : {"-", "_l"}) {
        if (const size_t sign = name.rfind(before); sign != std::string_view::npos) {
            const size_t digits = sign + before.size();
            if (const auto n = number_at(name, digits); n && ends_word(name, n->second)) {
                return LayerInName{n->first, sign, n->second, digits, n->second};
            }
        }
    }
    return std::nullopt;
}

std::optional<int32_t> layer_of_name(std::string_view name) noexcept {
    const std::optional<LayerInName> found = layer_in_name(name);
    return found ? std::optional(found->layer) : std::nullopt;
}

} // namespace schedscope
