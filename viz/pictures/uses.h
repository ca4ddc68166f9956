#pragma once

#include "viz/pictures/subject.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace schedscope {

/// What more tensors than this read is drawn once per use: edges from one place to everywhere are what layouts take minutes over.
constexpr int32_t max_readers = 4;

/// Who reads what in the nodes view, and where a tensor is drawn for each reader. Weights are left out: they are lines in their
/// reader's label.
///
/// What a log names only as the original of a copy is left out too: the copy says all that is known of it.
///
/// A node or a copy is drawn once, in its split. A leaf is drawn once in each split that reads it, and beside the splits for
/// copies. A hub (read by more than max_readers) and a copy that a later split uses again have a small stand-in beside each such
/// reader.
class Uses {
public:
    explicit Uses(const Subject& subject);

    /// What the node at this position of the order reads, each once.
    const std::vector<TensorId>& reads(size_t position) const { return reads_[position]; }
    int32_t readers(TensorId id) const { return readers_[id]; }
    /// Is the original of this copy drawn, and an edge from it?
    bool draws_original(TensorId copy) const;
    bool is_hub(TensorId id) const { return readers(id) > max_readers; }

    /// Copies that nodes read, by entry of state.splits that lists them as input; `loose`: that no split lists.
    const std::vector<std::vector<TensorId>>& copies() const { return copies_; }
    const std::vector<TensorId>& loose_copies() const { return loose_copies_; }
    /// Leafs to be drawn in the split of this index; −1: beside the splits.
    std::vector<TensorId> leafs_at(int32_t place) const;

    bool stands_in(TensorId source, TensorId reader) const;
    bool any_stands_in() const { return any_stands_in_; }
    /// The id of `source` as drawn for `reader`, a node or a copy.
    std::string source_id(TensorId source, TensorId reader) const;
    std::string leaf_id(TensorId leaf, int32_t place) const;

private:
    void read_order();
    void place_copies();
    void place_source(TensorId source, TensorId reader);
    bool is_leaf(TensorId id) const { return id < subject_.n_tensors() && !subject_.is_node(id); }
    int32_t place_of(TensorId reader) const { return subject_.made_by(reader) != nullptr ? -1 : subject_.split_of(reader); }

    const Subject& subject_;
    std::vector<std::vector<TensorId>> reads_;
    std::vector<int32_t> readers_;     ///< [n_ids]
    std::vector<TensorId> all_copies_; ///< in the order in which they are first read
    std::vector<std::vector<TensorId>> copies_;
    std::vector<TensorId> loose_copies_;
    std::vector<int32_t> split_of_copy_;                   ///< [n_ids] index of the split that lists it; −1: none
    std::map<TensorId, std::set<int32_t>> places_of_leaf_; ///< of leafs that are no hubs
    std::map<int32_t, std::vector<TensorId>> leafs_at_;
    bool any_stands_in_ = false;
};

} // namespace schedscope
