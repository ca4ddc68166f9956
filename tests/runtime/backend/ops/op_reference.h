#pragma once

#include "runtime/tensor/tensor.h"

#include <cstddef>
#include <span>
#include <vector>

namespace schedscope::test {

/// Memory that tensors lie in for the reference: a tensor's data begins at its `offset`; its `buffer` is not looked at.
using Memory = std::span<std::byte>;

/// A tensor's elements as doubles.
struct Elements {
    Shape ne{1, 1, 1, 1};
    std::vector<double> values; ///< dimension 0 fastest, without gaps

    double& at(int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        return values[static_cast<size_t>(((i3 * ne[2] + i2) * ne[1] + i1) * ne[0] + i0)];
    }
    double at(int64_t i0, int64_t i1, int64_t i2, int64_t i3) const { return const_cast<Elements*>(this)->at(i0, i1, i2, i3); }
    /// The element that is repeated to this place.
    double repeated(int64_t i0, int64_t i1, int64_t i2, int64_t i3) const {
        return at(i0 % ne[0], i1 % ne[1], i2 % ne[2], i3 % ne[3]);
    }
};

/// Blocks are expanded, strides followed. Integers are exact below 2^53.
Elements read_elements(const Tensor& t, std::span<const std::byte> memory);
/// Rounds to the tensor's type, or where floats can't be quantised to it writes what row_of_floats gives. Bytes between its
/// elements stay as they are.
void write_elements(const Tensor& t, Memory memory, const Elements& elements);

/// Runs one node as its operator is defined, in double precision, element by element: what every backend must agree with. Shares
/// no code with them. Throws std::logic_error for an operator it does not know. Nothing happens for leafs and views.
void evaluate(const Tensor& node, Memory memory);

} // namespace schedscope::test
