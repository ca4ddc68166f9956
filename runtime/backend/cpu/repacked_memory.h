#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"

namespace schedscope {

/// Memory that lays weights of matrix products out for the widest instruction set as they are written, and gives them back as
/// they were when they are read: "CPU_Repack". Of panels of 16 rows of floats, F16 or BF16, floats_laid_out_together numbers of
/// each row lie one behind the other, then the next ones of each. The host has no address of them; products ask for
/// `repacked_data`. Each tensor is to be announced (Buffer::hold) before it is written.
const BufferType& cpu_repack_buffer_type() noexcept;

/// Can such weights lie there? Matrices of a type that can be laid out, with whole panels of rows. Rows from a multiple of
/// rows_laid_out_together on, as many or a multiple, can be written by threads at once: they share nothing with others.
bool can_be_repacked(Type type, const Shape& ne) noexcept;

/// A tensor's rows as they are laid out, and what multiplies them; null: it lies in other memory.
const std::byte* repacked_data(const Tensor& t) noexcept;
const RepackedRows* repacked_rows(const Tensor& t) noexcept;

} // namespace schedscope
