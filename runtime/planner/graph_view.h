#pragma once

#include "runtime/ops/catalogue.h"
#include "runtime/ops/home.h"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

using BackendId = int16_t;    ///< index by priority, 0 highest; the last one is the CPU
using BufferTypeId = int16_t; ///< index into the session's buffer types
constexpr BackendId no_backend = -1;
constexpr BufferTypeId no_buffer_type = -1;

/// One tensor as the planner sees it: no data, no backend objects.
struct TensorInfo {
    Op op = Op::NONE;
    Type type = Type::F32;
    uint8_t flags = 0;                         ///< TensorFlags, as they were before planning
    BufferUsage usage = BufferUsage::any;      ///< of its own buffer
    BufferTypeId buffer_type = no_buffer_type; ///< of its own buffer (views have none of their own)
    BackendId user_backend = no_backend;       ///< pinned by the user
    Home home = Home::none; ///< who decided where it lies or is pinned; no decision of the planner depends on it
    int32_t layer = -1;     ///< of the model; the output behind the last; −1: none
    TensorId view_source = no_tensor;
    std::array<TensorId, max_sources> src{no_tensor, no_tensor, no_tensor, no_tensor, no_tensor,
                                          no_tensor, no_tensor, no_tensor, no_tensor, no_tensor}; ///< inner holes are possible
    Shape ne{1, 1, 1, 1};
    Strides nb{};
    size_t view_offset = 0;
    Params params{};
    std::string_view name; ///< owned by whoever owns the graph

    bool is_view() const noexcept { return view_source != no_tensor; }
};

/// A graph as the planner sees it: dense ids. ids: leafs and nodes share one numbering; a tensor reachable only as a source or view
/// source has an id too, but stands in neither list.
struct GraphView {
    std::span<const TensorInfo> tensors; ///< [n_tensors] by id
    std::span<const TensorId> leafs;     ///< in the graph's order
    std::span<const TensorId> nodes;     ///< in evaluation order
};

/// A GraphView that owns what it shows: read from a trace, a log, a corpus case, or described from a live graph.
class OwnedGraph {
public:
    std::vector<TensorInfo> tensors;
    std::vector<TensorId> leafs;
    std::vector<TensorId> nodes;

    OwnedGraph() = default;
    OwnedGraph(OwnedGraph&&) = default;
    OwnedGraph& operator=(OwnedGraph&&) = default;
    OwnedGraph(const OwnedGraph&) = delete;
    OwnedGraph& operator=(const OwnedGraph&) = delete;

    /// Keeps the text alive as long as the graph; use for TensorInfo::name.
    std::string_view keep(std::string_view text) { return names_.emplace_back(text); }
    /// A deep copy of a view.
    static OwnedGraph copy_of(const GraphView& view);
    void clear();

    GraphView view() const noexcept { return {tensors, leafs, nodes}; }

private:
    std::deque<std::string> names_;
};

} // namespace schedscope
