#pragma once

#include "runtime/ops/catalogue.h"
#include "runtime/ops/params.h"
#include "runtime/ops/role.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace schedscope {

class Buffer;

constexpr size_t max_name = 63; ///< bytes of a tensor's name; longer ones are cut, as in ggml

/// One tensor of a graph: what it is, what it is made from, and where its data lies. Plain data; owned by its Graph
/// (or, for weights and caches, by a TensorStore that outlives the graphs).
struct Tensor {
    TensorId id = no_tensor; ///< number in the graph that lists it last (Graph::number)
    Op op = Op::NONE;
    Type type = Type::F32;
    uint8_t flags = 0;
    Shape ne{1, 1, 1, 1};
    Strides nb{};
    Params params{}; ///< by name: params.h
    std::array<Tensor*, max_sources> src{};
    Tensor* view_source = nullptr; ///< always the root: a view of a view points to the first one's source
    size_t view_offset = 0;        ///< bytes into view_source's data
    Buffer* buffer = nullptr;      ///< a view has its source's; null until allocated
    size_t offset = 0;             ///< bytes into the buffer; a view's includes view_offset
    int32_t readers = 0;           ///< how often nodes of the graph name it as a source (Graph::number)
    int16_t pinned = -1;           ///< backend (by priority) that the user wants; −1: the scheduler decides
    Role role = Role::none;        ///< the part of the model that it belongs to,
    int32_t layer = -1;            ///< and its layer, the output behind the last; −1: none
    std::string_view why_here;     ///< for people: why it lies there or is pinned; the text outlives the tensor
    std::string name;              ///< at most max_name bytes

    ModelPart part() const noexcept { return {role, layer}; }
};

inline int64_t n_elements(const Tensor& t) noexcept { return t.ne[0] * t.ne[1] * t.ne[2] * t.ne[3]; }
inline int64_t n_rows(const Tensor& t) noexcept { return t.ne[1] * t.ne[2] * t.ne[3]; }

/// Its operator's parameters: params_of<Op::SCALE>(node).bias. See params.h.
template <Op op> OpParams<op> params_of(const Tensor& node) noexcept { return params_of<op>(node.params); }

inline size_t n_bytes(const Tensor& t) noexcept { return n_bytes(t.type, t.ne, t.nb); }

bool is_contiguous(const Tensor& t) noexcept;
/// Contiguous, except that steps of dimensions up to `dim` may leave gaps (0: no gaps at all). ggml's is_contiguous_N.
bool is_contiguous_above(const Tensor& t, int dim) noexcept;
/// Dimensions 0 and 1 were swapped.
bool is_transposed(const Tensor& t) noexcept;
/// Elements of a row lie side by side (rows may not).
bool has_contiguous_rows(const Tensor& t) noexcept;
bool same_shape(const Tensor& a, const Tensor& b) noexcept;
/// b can be repeated to the shape of a (each dimension of a is a multiple of b's).
bool can_repeat(const Tensor& b, const Tensor& a) noexcept;

} // namespace schedscope
