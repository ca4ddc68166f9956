#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/backend/products.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope::cpu {

/// A token's row for one of the experts that it was sent to.
struct Routed {
    int64_t expert, slot, token;
};

/// Memory of one part, kept from kernel to kernel; its contents are lost between them.
struct Scratch {
    std::vector<float> floats;
    std::vector<Routed> routed;
};

class SharedColumns;

/// What all parts of a kernel share.
struct Common {
    std::vector<float>& floats;       ///< kept from kernel to kernel
    const SharedColumns& columns;     ///< of products
    std::mutex growing{};             ///< them
    std::atomic<int64_t> taken{0};    ///< stretches that threads have asked for
    std::atomic<int64_t> ended{0};    ///< parts
    std::atomic<bool> in_bf16{false}; ///< some columns were multiplied so
};

/// A part of a kernel.
struct Work {
    std::span<Tensor* const> nodes; ///< one, or the nodes of a fused group
    int part = 0, n_parts = 1;
    const VectorOps& vector;
    Products products;
    Scratch& scratch; ///< the part's own
    Common& common;

    const Tensor& node() const noexcept { return *nodes.back(); }
    /// The part's share of n pieces: [first, end).
    std::pair<int64_t, int64_t> share(int64_t n) const noexcept { return {n * part / n_parts, n * (part + 1) / n_parts}; }
    /// Calls stretch(first, end) until all of [0, n) is done, by whichever thread is free: one that is held up (somebody else
    /// uses its core) keeps the others waiting for one stretch at most. A stretch is `most` pieces or less. Once in a kernel, by
    /// all of its parts.
    template <typename Stretch> void each_stretch(int64_t n, int64_t most, Stretch stretch) const {
        const int64_t count = (n + most - 1) / most;
        for (int64_t i = common.taken.fetch_add(1, std::memory_order_relaxed); i < count;
             i = common.taken.fetch_add(1, std::memory_order_relaxed)) {
            stretch(i * most, std::min((i + 1) * most, n));
        }
    }
    /// Room for n floats.
    float* room(int64_t n) const {
        if (scratch.floats.size() < static_cast<size_t>(n)) {
            scratch.floats.resize(n);
        }
        return scratch.floats.data();
    }
    /// Room for n floats that all parts see. Each asks for the same n before it writes there.
    float* common_room(int64_t n) const {
        const std::lock_guard lock(common.growing);
        if (common.floats.size() < static_cast<size_t>(n)) {
            common.floats.resize(n);
        }
        return common.floats.data();
    }
    /// Said once at a part's end: is it the last? Then it sees what all others have written.
    bool ends_last() const { return common.ended.fetch_add(1, std::memory_order_acq_rel) + 1 == n_parts; }
};

using Kernel = void (*)(const Work&);

/// Code, and what records call it. Null code: nothing to run.
struct KernelEntry {
    std::string_view name;
    Kernel run = nullptr;
};

/// A row's place in dimensions 1 to 3.
struct RowIndex {
    int64_t i1 = 0, i2 = 0, i3 = 0;
};
inline RowIndex row_index(const Tensor& t, int64_t row) noexcept {
    const int64_t i1 = row % t.ne[1];
    const int64_t rest = row / t.ne[1];
    return {i1, rest % t.ne[2], rest / t.ne[2]};
}
inline std::byte* row_data(const Tensor& t, const RowIndex& i) noexcept {
    return host_data(t) + i.i1 * t.nb[1] + i.i2 * t.nb[2] + i.i3 * t.nb[3];
}
/// The row that is repeated to i.
inline std::byte* repeated_row(const Tensor& t, const RowIndex& i) noexcept {
    return row_data(t, {i.i1 % t.ne[1], i.i2 % t.ne[2], i.i3 % t.ne[3]});
}
template <typename T> T read_as(const std::byte* p) noexcept {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

/// n numbers, side by side, as floats.
void to_floats(Type type, const std::byte* from, float* to, int64_t n, const VectorOps& vector);
/// A row as floats: where it lies if it is F32 side by side, else expanded into `room` (ne[0] floats).
const float* read_row(const Tensor& t, const std::byte* row, float* room, const VectorOps& vector);
/// Floats into a row of the tensor's type and stride. Nothing to do when `values` is the row itself.
void write_row(const Tensor& t, std::byte* row, const float* values, const VectorOps& vector);
/// Where SET_ROWS puts row i.
int64_t row_to_set(const Tensor& ids, const RowIndex& i) noexcept;
/// Where to compute a row: the row itself if it is F32 side by side, else `room`.
inline float* row_to_fill(const Tensor& t, std::byte* row, float* room) noexcept {
    return t.type == Type::F32 && t.nb[0] == sizeof(float) ? reinterpret_cast<float*>(row) : room;
}

/// Each row of `a` (a source of the node's shape) through `row(in, out, n, i)`: n floats of row i.
/// Behind the two rows that it may take, work.room has space for another one.
template <typename Row> void by_row(const Work& work, const Tensor& a, Row row) {
    const Tensor& node = work.node();
    const int64_t n = node.ne[0];
    float* room = work.room(3 * n);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        std::byte* target = row_data(node, i);
        float* out = row_to_fill(node, target, room + n);
        row(read_row(a, row_data(a, i), room, work.vector), out, n, i);
        write_row(node, target, out, work.vector);
    }
}

// Of groups (fusion.h).
void run_norm_group(const Work&); ///< NORM or RMS_NORM, MUL, maybe ADD
void run_add_chain(const Work&);
void run_mul_mat_add(const Work&); ///< with or without a function behind it
void run_gate_up(const Work&);
void run_rope_set_rows(const Work&);

} // namespace schedscope::cpu
