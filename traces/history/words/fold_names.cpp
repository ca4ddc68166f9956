#include "traces/history/words/fold_names.h"

#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "traces/history/words/layer_in_name.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace schedscope {

namespace {

struct LayerName {
    int layer = -1;   ///< −1: of none
    std::string rest; ///< without the layer's number
};

LayerName layer_of(const std::string& name) {
    const std::optional<LayerInName> place = layer_in_name(name);
    return place ? LayerName{place->layer, name.substr(0, place->first) + name.substr(place->end)} : LayerName{-1, name};
}

std::string listed(const std::vector<std::string>& names) {
    constexpr size_t most = 10;
    const std::string text = joined(std::span(names).first(std::min(names.size(), most)), ", ");
    return names.size() > most ? text + ", " + words::and_more(names.size() - most) : text;
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
    const std::optional<LayerInName> place = layer_in_name(text), own = layer_in_name(subject);
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
            group = groups.emplace(groups.end(), std::move(layers), std::vector<std::string>{});
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
