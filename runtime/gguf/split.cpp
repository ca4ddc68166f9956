#include "runtime/gguf/split.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace schedscope::gguf {

namespace {

constexpr uint32_t max_parts = budget::model_parts;

std::string suffix(uint32_t number, uint32_t count) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "-%05u-of-%05u.gguf", number + 1, count);
    return text.data();
}

} // namespace

SplitName::SplitName(const std::string& path, uint32_t number, uint32_t count) : count_(count) {
    const auto fail = [&path](const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); };
    if (count > max_parts || number >= count) {
        fail("is damaged: it calls itself part " + std::to_string(uint64_t{number} + 1) + " of " + std::to_string(count));
    }
    const std::string ending = suffix(number, count);
    const bool named = path.size() > ending.size() && path.ends_with(ending);
    prefix_ = named ? path.substr(0, path.size() - ending.size()) : "";
    if (number != 0) {
        fail("is part " + std::to_string(number + 1) + " of a split model; open its first part" +
             (named ? ", " + of_part(0) : ""));
    }
    if (!named) {
        fail("is the first part of a split model, but its name does not end in " + ending + ": the other parts can't be found");
    }
}

std::string SplitName::of_part(uint32_t number) const { return prefix_ + suffix(number, count_); }

std::vector<std::string> parts_by_name(const std::string& path) {
    constexpr std::string_view shape = "-00001-of-00002.gguf"; // with any digits
    const size_t at = path.size() - std::min(path.size(), shape.size());
    const std::string_view ending = std::string_view(path).substr(at);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool named = std::equal(ending.begin(), ending.end(), shape.begin(), shape.end(),
                                  [&](char c, char like) { return digit(like) ? digit(c) : c == like; });
    uint32_t count = 0;
    if (named) {
        std::from_chars(ending.data() + ending.size() - 10, ending.data() + ending.size() - 5, count);
    }
    std::vector<std::string> parts;
    for (uint32_t number = 0; number < std::min(count, max_parts); ++number) {
        parts.push_back(path.substr(0, at) + suffix(number, count));
    }
    if (std::find(parts.begin(), parts.end(), path) == parts.end()) {
        parts.push_back(path);
    }
    return parts;
}

void check_part(const ParsedFile& parsed, int part, const std::string& path) {
    const auto found =
        std::find_if(parsed.entries.begin(), parsed.entries.end(), [](const MetadataEntry& e) { return e.key == "split.no"; });
    const auto number = found != parsed.entries.end() ? found->value.as_i64() : std::nullopt;
    if (number != part) {
        throw Error(ErrorKind::input, path + ": is not part " + std::to_string(part + 1) + " of the model, as its name says");
    }
}

} // namespace schedscope::gguf
