#include "viz/pictures/uses.h"

#include <algorithm>
#include <utility>

namespace schedscope {

Uses::Uses(const Subject& subject) : subject_(subject) {
    read_order();
    place_copies();
    for (size_t i = 0; i < reads_.size(); ++i) {
        for (const TensorId source : reads_[i]) {
            place_source(source, subject.state.order[i]);
        }
    }
    for (const TensorId copy : all_copies_) {
        if (draws_original(copy)) {
            place_source(subject.made_by(copy)->of, copy);
        }
    }
}

bool Uses::draws_original(TensorId copy) const {
    const TensorId of = subject_.made_by(copy)->of;
    const bool only_named = !subject_.all_assigned_known() && is_leaf(of) && subject_.backend_of(of) == no_backend;
    return !subject_.is_weight(of) && !only_named;
}

void Uses::read_order() {
    const size_t n_ids = subject_.n_ids();
    const auto& order = subject_.state.order;
    readers_.assign(n_ids, 0);
    reads_.resize(order.size());
    std::vector<uint8_t> seen(n_ids, 0);
    for (size_t i = 0; i < order.size(); ++i) {
        for (const TensorId source : subject_.sources(order[i])) {
            const bool is_copy = subject_.made_by(source) != nullptr;
            if (!is_copy && subject_.is_weight(source)) {
                continue;
            }
            if (std::find(reads_[i].begin(), reads_[i].end(), source) != reads_[i].end()) {
                continue;
            }
            reads_[i].push_back(source);
            ++readers_[source];
            if (is_copy && std::exchange(seen[source], uint8_t{1}) == 0) {
                all_copies_.push_back(source);
            }
        }
    }
}

void Uses::place_copies() {
    const auto& splits = subject_.state.splits;
    copies_.resize(splits.size());
    split_of_copy_.assign(subject_.n_ids(), -1);
    std::map<std::pair<TensorId, BackendId>, size_t> split_that_lists;
    for (size_t s = 0; s < splits.size(); ++s) {
        for (const record::SplitInput& input : splits[s].inputs) {
            split_that_lists.emplace(std::pair{input.tensor, splits[s].backend()}, s);
        }
    }
    for (const TensorId copy : all_copies_) {
        const record::CopyMade& made = *subject_.made_by(copy);
        if (draws_original(copy)) {
            ++readers_[made.of];
        }
        const auto split = split_that_lists.find({made.of, made.backend});
        if (split == split_that_lists.end()) {
            loose_copies_.push_back(copy);
        } else {
            copies_[split->second].push_back(copy);
            split_of_copy_[copy] = splits[split->second].begin.index;
        }
    }
}

void Uses::place_source(TensorId source, TensorId reader) {
    if (stands_in(source, reader)) {
        any_stands_in_ = true;
    } else if (is_leaf(source) && !subject_.is_weight(source) && places_of_leaf_[source].insert(place_of(reader)).second) {
        leafs_at_[place_of(reader)].push_back(source);
    }
}

std::vector<TensorId> Uses::leafs_at(int32_t place) const {
    const auto leafs = leafs_at_.find(place);
    return leafs == leafs_at_.end() ? std::vector<TensorId>{} : leafs->second;
}

bool Uses::stands_in(TensorId source, TensorId reader) const {
    const bool is_copy = subject_.made_by(source) != nullptr;
    return is_hub(source) || (is_copy && split_of_copy_[source] != place_of(reader));
}

std::string Uses::source_id(TensorId source, TensorId reader) const {
    if (stands_in(source, reader)) {
        return subject_.id(source) + ">" + subject_.id(reader);
    }
    return is_leaf(source) ? leaf_id(source, place_of(reader)) : subject_.id(source);
}

std::string Uses::leaf_id(TensorId leaf, int32_t place) const {
    const bool once = places_of_leaf_.at(leaf).size() == 1;
    return subject_.id(leaf) + (once ? "" : place < 0 ? ">copy" : ">split " + std::to_string(place));
}

} // namespace schedscope
