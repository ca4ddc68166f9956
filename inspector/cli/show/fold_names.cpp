#include "inspector/cli/show/fold_names.h"

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
    return std::pair{n, end - text.data()};
}

/// Where a name says its layer.
struct LayerPlace {
    int layer = -1;
    size_t first = 0, end = 0;     ///< of what is left out with the number: "blk.3.", "-3", "_l3"
    size_t number = 0, behind = 0; ///< of the number
};

std::optional<LayerPlace> find_layer(std::string_view name) {
    constexpr std::string_view block = "blk.";
    const size_t at = name.rfind(block);
    if (at != std::string_view::npos && (at == 0 || ends_word(name, at - 1))) {
        const size_t digits = at + block.size();
        if (const auto n = number_at(name, digits); n && n->second < name.size() && name[n->second] == '.') {
            return LayerPlace{n->first, at, n->second + 1, digits, n->second};
        }
    }
    for (const std::string_view before : {"-", "_l"}) {
        if (const size_t sign = name.rfind(before); sign != std::string_view::npos) {
            const size_t digits = sign + before.size();
            if (const auto n = number_at(name, digits); n && ends_word(name, n->second)) {
                return LayerPlace{n->first, sign, n->second, digits, n->second};
            }
        }
    }
    return std::nullopt;
}

LayerName layer_of(const std::string& name) {
    const std::optional<LayerPlace> place = find_layer(name);
    return place ? LayerName{place->layer, name.substr(0, place->first) + name.substr(place->end)} : LayerName{-1, name};
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

std::string in_any_layer(const std::string& text, const std::string& subject) {
    const std::optional<LayerPlace> place = find_layer(text), own = find_layer(subject);
    const bool same = place && own && place->layer == own->layer;
    return same ? text.substr(0, place->number) + "N" + text.substr(place->behind) : text;
}

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
