#pragma once

#include "traces/store/reading/trace_index.h"
#include "traces/store/reading/trace_rows.h"
#include "traces/store/sqlite.h"

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// The rows of one graph's tensors and edges. Every id that they give is one of its tensors, and every size can be computed with.
/// Throws Damage or sqlite::Failure.
class GraphRows {
public:
    static constexpr int64_t least_bytes = 32; ///< that a tensor takes in the file

    GraphRows(const TraceIndex& index, GraphId id, const KeptBytes& kept);

    /// A tensor's place among the leafs or the nodes.
    using Place = std::pair<int64_t, TensorId>;
    struct Lists {
        std::vector<Place> leafs, nodes;
        std::vector<std::pair<TensorId, ForeignWords>> foreign; ///< what TensorInfo::foreign is to say
    };
    /// Fills in [first, end) of the graph's tensors, but for their words, which lie beside them and are not counted as kept
    /// yet. Parts may be read at once, each through its own connection.
    Lists read(sqlite::Database& database, int64_t first, int64_t end, std::span<TensorInfo> tensors,
               std::span<std::string> names) const; ///< [n_tensors] each

private:
    GraphId id_;
    const KeptBytes& kept_;
    const GraphSize& size_;
    int64_t n_types_, n_backends_;
};

/// Throws Damage for sizes that a computation with strides could overflow, and for a word that shows badly.
void check_extent(const TensorInfo& tensor);
void check_foreign(const ForeignWords& words);
/// What a word is planned as: `known`, or where this build does not have it `stand_in`; `own` keeps the word then.
template <typename T> T known_or_foreign(const std::optional<T>& known, std::string_view word, T stand_in, std::string& own) {
    if (!known) {
        own = word;
    }
    return known.value_or(stand_in);
}

/// The tensors of all parts by their place. `what`: "leaf". Throws Damage unless there is one for each of [0, n).
std::vector<TensorId> in_order(std::initializer_list<std::span<const GraphRows::Place>> parts, int64_t n,
                               const std::string& what);

} // namespace schedscope
