#include "runtime/backend/cpu/kernels/operators.h"

#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <algorithm>

namespace schedscope::cpu {

int64_t row_to_set(const Tensor& ids, const RowIndex& i) noexcept {
    const std::byte* p = host_data(ids) + i.i1 * ids.nb[0] + (i.i2 % ids.ne[1]) * ids.nb[1] + (i.i3 % ids.ne[2]) * ids.nb[2];
    return ids.type == Type::I64 ? read_as<int64_t>(p) : read_as<int32_t>(p);
}

namespace {

RowIndex position(const Tensor& t, int64_t element, int64_t& i0) noexcept {
    i0 = element % t.ne[0];
    return row_index(t, element / t.ne[0]);
}

/// Elements of `Size` bytes from one stride to another.
template <size_t Size> void move_elements(const std::byte* from, size_t from_stride, std::byte* to, size_t to_stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        std::memcpy(to + i * to_stride, from + i * from_stride, Size);
    }
}

/// n elements of a row as they are; of quantised types where they lie side by side.
void move_row(const Tensor& from, const std::byte* source, const Tensor& to, std::byte* target, int64_t n) {
    if (has_contiguous_rows(from) && has_contiguous_rows(to)) {
        std::memmove(target, source, row_bytes(to.type, n));
        return;
    }
    switch (traits(to.type).bytes) {
    case 1: return move_elements<1>(source, from.nb[0], target, to.nb[0], n);
    case 2: return move_elements<2>(source, from.nb[0], target, to.nb[0], n);
    case 4: return move_elements<4>(source, from.nb[0], target, to.nb[0], n);
    default: return move_elements<8>(source, from.nb[0], target, to.nb[0], n);
    }
}

/// Same shape: row by row.
void copy_rows(const Work& work, const Tensor& from, const Tensor& to) {
    const bool same = from.type == to.type;
    float* room = work.room(from.ne[0]);
    const auto [first, end] = work.share(n_rows(to));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(to, r);
        const std::byte* source = row_data(from, i);
        std::byte* target = row_data(to, i);
        if (same) {
            move_row(from, source, to, target, to.ne[0]);
        } else {
            write_row(to, target, read_row(from, source, room, work.vector), work.vector);
        }
    }
}

/// Any strides and shapes, element by element in order.
void copy_elements(const Work& work, const Tensor& from, const Tensor& to) {
    const size_t bytes = traits(to.type).bytes;
    const auto [first, end] = work.share(n_elements(to));
    for (int64_t e = first; e < end; ++e) {
        int64_t i0 = 0;
        const RowIndex source = position(from, e, i0);
        const std::byte* p = row_data(from, source) + i0 * from.nb[0];
        const RowIndex target = position(to, e, i0);
        std::byte* q = row_data(to, target) + i0 * to.nb[0];
        if (from.type == to.type) {
            std::memcpy(q, p, bytes);
        } else {
            float value = 0;
            row_to_float(from.type, p, &value, 1);
            row_from_float(to.type, &value, q, 1);
        }
    }
}

/// Rows of the target from elements of the source in order, where the target is quantised and the shapes differ.
void gather_rows(const Work& work, const Tensor& from, const Tensor& to) {
    float* room = work.room(to.ne[0]);
    const auto [first, end] = work.share(n_rows(to));
    for (int64_t r = first; r < end; ++r) {
        for (int64_t j = 0; j < to.ne[0]; ++j) {
            int64_t i0 = 0;
            const RowIndex source = position(from, r * to.ne[0] + j, i0);
            row_to_float(from.type, row_data(from, source) + i0 * from.nb[0], room + j, 1);
        }
        write_row(to, row_data(to, row_index(to, r)), room, work.vector);
    }
}

void run_copy(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& from = *node.src[0];
    if (same_shape(from, node)) {
        copy_rows(work, from, node);
    } else if (traits(node.type).quantised()) {
        gather_rows(work, from, node);
    } else {
        copy_elements(work, from, node);
    }
}

void run_repeat(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const std::byte* source = repeated_row(a, i);
        std::byte* target = row_data(node, i);
        for (int64_t j = 0; j < node.ne[0]; j += a.ne[0]) {
            move_row(a, source, node, target + j * node.nb[0], a.ne[0]);
        }
    }
}

void run_concat(const Work& work) {
    const Tensor& node = work.node();
    const Tensor &a = *node.src[0], &b = *node.src[1];
    const size_t dim = params_of<Op::CONCAT>(node).dim;
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        std::byte* target = row_data(node, i);
        if (dim == 0) {
            move_row(a, row_data(a, i), node, target, a.ne[0]);
            move_row(b, row_data(b, i), node, target + a.ne[0] * node.nb[0], b.ne[0]);
            continue;
        }
        int64_t at[4] = {0, i.i1, i.i2, i.i3};
        const bool is_first = at[dim] < a.ne[dim];
        const Tensor& from = is_first ? a : b;
        at[dim] -= is_first ? 0 : a.ne[dim];
        move_row(from, row_data(from, {at[1], at[2], at[3]}), node, target, node.ne[0]);
    }
}

void run_get_rows(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& table = *node.src[0];
    const Tensor& ids = *node.src[1];
    float* room = work.room(node.ne[0]);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const auto id = read_as<int32_t>(host_data(ids) + i.i1 * ids.nb[0] + i.i2 * ids.nb[1] + i.i3 * ids.nb[2]);
        std::byte* target = row_data(node, i);
        if (id < 0 || id >= table.ne[1]) {
            std::memset(target, 0, row_bytes(node.type, node.ne[0]));
            continue;
        }
        const std::byte* row = row_data(table, {id, i.i2, i.i3});
        if (table.type == node.type) {
            move_row(table, row, node, target, node.ne[0]);
        } else {
            write_row(node, target, read_row(table, row, room, work.vector), work.vector);
        }
    }
}

void run_set_rows(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& rows = *node.src[0];
    const Tensor& ids = *node.src[1];
    float* room = work.room(rows.ne[0]);
    const auto [first, end] = work.share(n_rows(rows));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(rows, r);
        const int64_t id = row_to_set(ids, i);
        if (id >= 0 && id < node.ne[1]) {
            write_row(node, row_data(node, {id, i.i2, i.i3}), read_row(rows, row_data(rows, i), room, work.vector), work.vector);
        }
    }
}

void run_pad(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    const auto [first, end] = work.share(n_rows(node));
    const auto p = params_of<Op::PAD>(node);
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        auto* out = reinterpret_cast<float*>(row_data(node, i));
        const RowIndex s{i.i1 - p.before_1, i.i2 - p.before_2, i.i3 - p.before_3};
        const bool inside = s.i1 >= 0 && s.i1 < a.ne[1] && s.i2 >= 0 && s.i2 < a.ne[2] && s.i3 >= 0 && s.i3 < a.ne[3];
        for (int64_t j = 0; j < node.ne[0]; ++j) {
            const int64_t j0 = j - p.before_0;
            out[j] = inside && j0 >= 0 && j0 < a.ne[0] ? read_as<float>(row_data(a, s) + j0 * a.nb[0]) : 0.0F;
        }
    }
}

void run_fill(const Work& work) {
    const Tensor& node = work.node();
    const float value = params_of<Op::FILL>(node).value;
    float* room = work.room(node.ne[0]);
    std::fill(room, room + node.ne[0], value);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        write_row(node, row_data(node, row_index(node, r)), room, work.vector);
    }
}

void run_arange(const Work& work) {
    const Tensor& node = work.node();
    const auto p = params_of<Op::ARANGE>(node);
    auto* out = reinterpret_cast<float*>(host_data(node));
    const auto [first, end] = work.share(node.ne[0]);
    for (int64_t j = first; j < end; ++j) {
        out[j] = p.start + p.step * to_float(j);
    }
}

Answer supports_copy(const Tensor& node) {
    const Type from = node.src[0]->type;
    if (from == node.type) {
        return !traits(from).quantised() ||
                       (has_contiguous_rows(*node.src[0]) && has_contiguous_rows(node) && same_shape(*node.src[0], node))
                   ? yes
                   : Answer::no(Refusal::layout, "blocks can only be copied in whole rows");
    }
    if (!can_expand(from)) {
        return Answer::no(Refusal::type, "source 0 can't be expanded to floats");
    }
    if (!can_quantise(node.type)) {
        return Answer::no(Refusal::type, "floats can't be written as this type");
    }
    if (traits(from).quantised() && !same_shape(*node.src[0], node)) {
        return Answer::no(Refusal::shape, "a quantised source can only be copied to its own shape");
    }
    return yes;
}

Answer supports_get_rows(const Tensor& node) {
    return node.src[0]->type == node.type ? yes : readable(*node.src[0], "source 0 can't be expanded to floats");
}

Answer supports_set_rows(const Tensor& node) {
    if (!can_quantise(node.type)) {
        return Answer::no(Refusal::type, "floats can't be written as this type");
    }
    return node.src[0]->type == Type::F32 ? yes : Answer::no(Refusal::type, "source 0 is not f32");
}

Answer supports_same_type(const Tensor& node) {
    if (traits(node.type).quantised()) {
        return Answer::no(Refusal::type, "blocks can't be taken apart");
    }
    return node.src[0]->type == node.type ? yes : Answer::no(Refusal::type, "source 0 is of another type than the result");
}

constexpr CpuOperator move_entries[] = {
    {Op::CPY, "copy", supports_copy, run_copy},
    {Op::CONT, "copy", supports_copy, run_copy},
    {Op::DUP, "copy", supports_copy, run_copy},
    {Op::REPEAT, "repeat", supports_same_type, run_repeat},
    {Op::CONCAT, "concat", supports_same_type, run_concat},
    {Op::GET_ROWS, "get_rows", supports_get_rows, run_get_rows},
    {Op::SET_ROWS, "set_rows", supports_set_rows, run_set_rows},
    {Op::PAD, "pad", f32_rows, run_pad},
    {Op::FILL, "fill", floats_only, run_fill},
    {Op::ARANGE, "arange", f32_rows, run_arange},
};

} // namespace

std::span<const CpuOperator> move_operators() noexcept { return move_entries; }

} // namespace schedscope::cpu
