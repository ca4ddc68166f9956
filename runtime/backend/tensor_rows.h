#pragma once

#include "runtime/tensor/tensor.h"

#include <cstddef>
#include <span>
#include <vector>

namespace schedscope {

/// The elements of a tensor as numbers, row by row in order of its dimensions: any type (quantised ones expanded), any strides,
/// wherever the data lies. The work that writes it must be complete. Memory of the host is read in place and must stay; other
/// memory is copied once.
class TensorRows {
public:
    explicit TensorRows(const Tensor& tensor);

    int64_t n_rows() const noexcept { return n_rows_; } ///< 0: the tensor has no elements
    /// Row `index` of n_rows, [ne[0]]; valid until the next call.
    std::span<const double> row(int64_t index);

private:
    const std::byte* address(int64_t index) const noexcept;

    const Tensor& tensor_;
    int64_t n_rows_;
    const std::byte* data_ = nullptr;
    std::vector<std::byte> copied_;
    std::vector<float> floats_;
    std::vector<double> row_;
};

} // namespace schedscope
