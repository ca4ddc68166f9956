#pragma once

#include "runtime/tensor/ops.h"

#include <initializer_list>
#include <string>
#include <string_view>

/// What the operator families share: results, views and refusals.
namespace schedscope::ops {

/// Throws Error(usage) "OP: why".
[[noreturn]] void refuse(Op op, const std::string& why);

/// A tensor in a refusal: 'Qcur-0' f32 [64, 16]
std::string described(const Tensor& t);

/// A fresh contiguous result of `op` with these sources (null ones allowed).
Tensor* make_result(Graph& g, Op op, Type type, const Shape& ne, std::initializer_list<Tensor*> sources);

/// The same, of the shape that the catalogue's rule makes of the sources' shapes; the operator has one.
Tensor* make_result(Graph& g, Op op, Type type, std::initializer_list<Tensor*> sources);

/// A result that lies in a's data, `offset` bytes behind its begin. Refers to the root when `a` is itself a view.
/// Named after a with the suffix, as in "Qcur-0 (view)". Same type, shape and strides as a.
Tensor* make_view(Graph& g, Op op, Tensor* a, size_t offset, std::string_view suffix, std::initializer_list<Tensor*> sources);

void set_name(Tensor& t, std::string_view name);

void require_type(Op op, const Tensor& t, Type wanted, const char* role);
void require_float(Op op, const Tensor& t); ///< F32, F16 or BF16
void require_same_shape(Op op, const Tensor& a, const Tensor& b);

constexpr bool is_integer(Type t) noexcept { return t == Type::I8 || t == Type::I16 || t == Type::I32 || t == Type::I64; }

} // namespace schedscope::ops
