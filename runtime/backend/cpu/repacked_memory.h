#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/backend/products.h"
#include "runtime/planner/placement/plan_settings.h"

#include <algorithm>
#include <optional>

namespace schedscope {

/// Memory that lays weights of matrix products out as they are written, quantised ones for the instruction set that this process
/// has chosen (best_vector_ops), and gives them back as they were when they are read: "CPU_Repack". The host has no address of
/// them; products ask for `repacked_data`. Each tensor is to be announced (Buffer::hold) before it is written.
const BufferType& cpu_repack_buffer_type() noexcept;

/// Can quantised weights that lie there be multiplied so? In whole numbers alone, and by what they were laid out for.
bool multiplies_laid_out(Products products, const VectorOps& vector) noexcept;

/// Rows from a multiple of this on, as many or a multiple, can be written by threads at once: they share nothing with others.
constexpr int64_t rows_laid_out_together = 64;

/// Rows of F32, F16 and BF16 that are longer than the second lie in panels of rows_laid_out_together of them: so many numbers of
/// each row as the first says, one behind the other, then the next ones of each. So a column's are in the nearest cache while
/// those of all rows pass by, and memory is read from its begin to its end all the same.
constexpr int64_t floats_laid_out_together = 2048, longest_row_as_it_is = 4096;
/// use(first, count) for each such stretch of rows of n numbers; in its panel it begins with number
/// first × rows_laid_out_together.
template <typename Use> void each_stretch_of_floats(int64_t n, Use use) {
    for (int64_t first = 0; first < n; first += floats_laid_out_together) {
        use(first, std::min(floats_laid_out_together, n - first));
    }
}

/// Which weights of this type can lie there, once each; nothing: none.
std::optional<LaidOutType> layout_of(Type type) noexcept;
bool can_be_repacked(Type type, const Shape& ne) noexcept;

/// A tensor's rows as they are laid out; null: it lies in other memory.
const std::byte* repacked_data(const Tensor& t) noexcept;

} // namespace schedscope
