#include "inspector/cli/fold_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace schedscope {

namespace {

struct LayerName {
    int layer = -1;   ///< −1: of none
    std::string rest; ///< without the layer's number
};

bool ends_word(std::string_view text, size_t at) noexcept { return at >= text.size() || text[at] == ' ' || text[at] == '#'; }

/// The number at a place, and where it ends.
std::optional<std::pair<int, size_t>> number_at(std::string_view text, size_t at) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), n);
    if (at >= text.size() || std::isdigit(static_cast<unsigned char>(text[at])) == 0 || error != std::errc()) {
        return std::nullopt;
    }
    return std::pair{n, static_cast<size_t>(end - text.data())};
}

LayerName layer_of(std::string_view name) {
    const auto without = [&](size_t first, size_t end, int layer) {
        return LayerName{layer, std::string(name.substr(0, first)).append(name.substr(end))};
    };
    constexpr std::string_view block = "blk.";
    if (const size_t at = name.find(block); at == 0 || (at != std::string_view::npos && name[at - 1] == '#')) {
        if (const auto n = number_at(name, at + block.size()); n && n->second < name.size() && name[n->second] == '.') {
            return without(at, n->second + 1, n->first);
        }
    }
    for (const std::string_view before : {"-", "_l"}) {
        if (const size_t at = name.rfind(before); at != std::string_view::npos) {
            if (const auto n = number_at(name, at + before.size()); n && ends_word(name, n->second)) {
                return without(at, n->second, n->first);
            }
        }
    }
    return {-1, std::string(name)};
}

/// "0…5", "0…2,5"
std::string ranges(const std::vector<int>& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size();) {
        size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
            ++last;
        }
        text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
        if (last > i) {
            text += (last == i + 1 ? "," : "…") + std::to_string(numbers[last]);
        }
        i = last + 1;
    }
    return text;
}

std::string listed(const std::vector<std::string>& names) {
    constexpr size_t most = 10;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > most ? text + ", and " + std::to_string(names.size() - most) + " more" : text;
}

} // namespace

std::string fold_names(const std::vector<std::string>& names) {
    std::map<std::string, std::set<int>> layers_of; // by the name without a layer
    std::map<std::string, std::string> first_name;
    std::vector<std::string> rests; // in order
    for (const std::string& name : names) {
        const LayerName parsed = layer_of(name);
        if (first_name.emplace(parsed.rest, name).second) {
            rests.push_back(parsed.rest);
        }
        layers_of[parsed.rest].insert(parsed.layer);
    }
    std::vector<std::pair<std::vector<int>, std::vector<std::string>>> groups; // what the same layers have
    for (const std::string& rest : rests) {
        const std::set<int>& set = layers_of[rest];
        std::vector<int> layers(set.begin(), set.end());
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == layers; });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {std::move(layers), {}});
        }
        group->second.push_back(rest);
    }
    std::string text;
    for (auto& [layers, members] : groups) {
        text += text.empty() ? "" : "; ";
        const bool mixed = layers.size() > 1 && layers.front() == -1; // "norm" is of no layer, "norm-0" of one
        const bool single = layers.size() == 1 && (layers.front() == -1 || members.size() == 1);
        if (single) {
            for (std::string& member : members) {
                member = first_name[member];
            }
            text += listed(members);
        } else {
            text += "blk." + ranges(mixed ? std::vector<int>(layers.begin() + 1, layers.end()) : layers) + ": " + listed(members);
            text += mixed ? "; " + listed(members) : "";
        }
    }
    return text;
}

} // namespace schedscope
