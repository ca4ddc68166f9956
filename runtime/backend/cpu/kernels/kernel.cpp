#include "runtime/backend/cpu/kernels/kernel.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

namespace schedscope::cpu {

void to_floats(Type type, const std::byte* from, float* to, int64_t n, const VectorOps& vector) {
    switch (type) {
    case Type::F32: std::memcpy(to, from, n * sizeof(float)); return;
    case Type::F16: vector.half_to_floats(reinterpret_cast<const uint16_t*>(from), to, n); return;
    case Type::I32:
        for (int64_t i = 0; i < n; ++i) {
            to[i] = to_float(read_as<int32_t>(from + 4 * i));
        }
        return;
    default:
        if (const BlockOps& blocks = vector.blocks[ordinal(type)]; blocks.expand != nullptr) {
            blocks.expand(from, to, n);
        } else {
            row_to_float(type, from, to, n);
        }
    }
}

const float* read_row(const Tensor& t, const std::byte* row, float* room, const VectorOps& vector) {
    const int64_t n = t.ne[0];
    if (has_contiguous_rows(t)) {
        if (t.type == Type::F32) {
            return reinterpret_cast<const float*>(row);
        }
        to_floats(t.type, row, room, n, vector);
        return room;
    }
    for (int64_t i = 0; i < n; ++i) {
        row_to_float(t.type, row + i * t.nb[0], room + i, 1);
    }
    return room;
}

void write_row(const Tensor& t, std::byte* row, const float* values, const VectorOps& vector) {
    const int64_t n = t.ne[0];
    if (reinterpret_cast<const std::byte*>(values) == row && has_contiguous_rows(t)) {
        return;
    }
    if (has_contiguous_rows(t)) {
        switch (t.type) {
        case Type::F32: std::memcpy(row, values, n * sizeof(float)); return;
        case Type::F16: vector.floats_to_half(values, reinterpret_cast<uint16_t*>(row), n); return;
        default: row_from_float(t.type, values, row, n); return;
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        row_from_float(t.type, values + i, row + i * t.nb[0], 1);
    }
}

} // namespace schedscope::cpu
