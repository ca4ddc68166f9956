#pragma once

#include "runtime/planner/memory/allocate.h"
#include "runtime/planner/memory/memory_layout.h"

/// Private to the memory planner.
namespace schedscope {

/// The first thing that doesn't fit a layout.
struct Misfit {
    enum class Kind : uint8_t { nothing, n_nodes, n_leafs, node, source, order, reserve };
    Kind what = Kind::nothing;
    TensorId node = no_tensor;
    int32_t slot = -1;
    TensorId source = no_tensor;

    explicit operator bool() const noexcept { return what != Kind::nothing; }
};

/// In ggml's words: "node kq-0 is not valid".
std::string misfit_text(const MemoryGraph& graph, const Misfit& misfit);

/// Gives each tensor of a graph the place planned for its first position.
class PlaceList {
public:
    /// Fills `out`, unless a node, or a source of one, needs memory and has no place or a smaller one at its position: that is
    /// returned.
    Misfit fill(const MemoryGraph& graph, const MemoryLayout& layout, std::vector<PlacedTensor>& out);

    /// Leafs are only counted: the first one that needs memory where the layout has none, as an index into the leafs; −1: none.
    int32_t leaf_without_place() const noexcept { return leaf_without_place_; }

private:
    bool unlisted(TensorId id, int64_t bytes) const noexcept { return bytes >= 0 && listed_[id] == 0; }
    void list(TensorId id, int64_t bytes, int32_t place);

    const MemoryLayout* layout_ = nullptr;
    std::vector<PlacedTensor>* out_ = nullptr;
    std::vector<uint8_t> listed_; ///< [n_ids]
    std::vector<TensorId> owner_; ///< [layout.places] the tensor that has it now
    int32_t leaf_without_place_ = -1;
};

} // namespace schedscope
