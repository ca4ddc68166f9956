#pragma once

#include "runtime/known.h"
#include "runtime/ops/catalogue.h"
#include "runtime/ops/layout.h"
#include "runtime/ops/params.h"
#include "runtime/ops/role.h"

#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace schedscope {

using BackendId = int16_t;    ///< index by priority, 0 highest; the last one is the CPU
using BufferTypeId = int16_t; ///< index into the session's buffer types
constexpr BackendId no_backend = -1;
constexpr BufferTypeId no_buffer_type = -1;

/// What an operator and a type are planned as that this build has no number for: no rule is made for CUSTOM, and strides say
/// how many bytes there are.
constexpr Op foreign_op = Op::CUSTOM;
constexpr Type foreign_type = Type::I8;
constexpr size_t longest_foreign_word = 63; ///< bytes
/// Words of another program for them; empty: this build has a number, or they are not known.
struct ForeignWords {
    std::string op, type;
    bool operator==(const ForeignWords&) const = default;
    bool operator<(const ForeignWords& other) const { return std::tie(op, type) < std::tie(other.op, other.type); }
};

/// One tensor as the planner sees it: no data, no backend objects. A graph of another program may lack what is optional, and
/// all of it is there in one that is planned.
struct TensorInfo {
    Known<Op> op = Op::NONE;
    Known<Type> type = Type::F32;
    uint8_t flags = 0;                         ///< TensorFlags, as they were before planning
    BufferUsage usage = BufferUsage::any;      ///< of its own buffer
    BufferTypeId buffer_type = no_buffer_type; ///< of its own buffer (views have none of their own)
    BackendId user_backend = no_backend;       ///< pinned by the user
    Role role = Role::none;                    ///< the part of the model that it belongs to; no pass depends on it
    int32_t layer = -1;                        ///< of the model; the output behind the last; −1: none
    TensorId view_source = no_tensor;
    std::array<TensorId, max_sources> src{no_tensor, no_tensor, no_tensor, no_tensor, no_tensor,
                                          no_tensor, no_tensor, no_tensor, no_tensor, no_tensor}; ///< inner holes are possible
    Known<Shape> ne = Shape{1, 1, 1, 1};
    Known<Strides> nb = Strides{};
    size_t view_offset = 0;
    std::optional<Params> params = Params{};
    const ForeignWords* foreign = nullptr; ///< null: this build has all words; owned, as the name, by whoever owns the graph
    std::string_view name;

    bool is_view() const noexcept { return view_source != no_tensor; }
    ModelPart part() const noexcept { return {role, layer}; }
    bool is_leaf() const noexcept { return op == Op::NONE; }
    /// That its elements reach over, strides included; nothing: not known.
    std::optional<int64_t> bytes() const noexcept;
};

/// Bytes from the first to the last element of a tensor all of which is known. The strides alone say it where this build does not
/// have the type: rows then lie close, or this is too much; without them it is 0.
size_t n_bytes(const TensorInfo& t) noexcept;

/// As its program calls them: "MUL_MAT", "SWIGLU" of a GLU, "f32"; or a word that this build does not have. Empty: not known.
inline std::string_view op_name(const TensorInfo& t) noexcept {
    return t.foreign != nullptr && !t.foreign->op.empty() ? t.foreign->op : t.op ? op_name(*t.op) : std::string_view();
}
inline std::string_view op_description(const TensorInfo& t) noexcept { // older logs have UNARY and GLU, but not which
    return t.op && t.params && (t.foreign == nullptr || t.foreign->op.empty()) ? op_description(*t.op, *t.params) : op_name(t);
}
inline std::string_view type_name(const TensorInfo& t) noexcept {
    return t.foreign != nullptr && !t.foreign->type.empty() ? t.foreign->type : t.type ? type_name(*t.type) : std::string_view();
}
inline std::optional<int64_t> TensorInfo::bytes() const noexcept {
    return type && ne && nb ? std::optional(static_cast<int64_t>(n_bytes(*this))) : std::nullopt;
}
/// The same type, whether this build has it or not?
inline bool same_type(const TensorInfo& a, const TensorInfo& b) noexcept {
    return a.type == b.type && (a.foreign == b.foreign || type_name(a) == type_name(b));
}

/// A graph as the planner sees it: dense ids. ids: leafs and nodes share one numbering; a tensor reachable only as a source or
/// view source has an id too, but stands in neither list.
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
    /// The same for TensorInfo::foreign; null where both words are empty.
    const ForeignWords* keep(ForeignWords words) {
        return words == ForeignWords{} ? nullptr : &*foreign_.insert(std::move(words)).first;
    }
    /// A deep copy of a view.
    static OwnedGraph copy_of(const GraphView& view);
    void clear();

    GraphView view() const noexcept { return {tensors, leafs, nodes}; }

private:
    std::deque<std::string> names_;
    std::set<ForeignWords> foreign_;
};

} // namespace schedscope
