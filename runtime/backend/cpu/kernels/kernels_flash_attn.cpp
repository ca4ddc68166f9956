// Attention in one pass over keys and values: a tile of queries that share them meets one stretch of keys after the other; what
// was summed before is scaled down whenever a higher score turns up.

#include "runtime/backend/cpu/kernels/alibi.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>

namespace schedscope::cpu {

namespace {

constexpr int64_t tile_rows = 60;  ///< queries; a multiple of every tile of the matrix kernels
constexpr int64_t tile_keys = 120; ///< keys; with their values some hundred KiB as floats

/// One node's tensors and parameters. A row is a query of one head; rows of heads that share keys and values lie together: row r
/// of a group is token r / group, head r % group of it.
struct Attention {
    explicit Attention(const Tensor& node)
        : q(*node.src[0]), k(*node.src[1]), v(*node.src[2]), mask(node.src[3]), scale(params_of<Op::FLASH_ATTN_EXT>(node).scale),
          max_bias(params_of<Op::FLASH_ATTN_EXT>(node).max_bias), cap(params_of<Op::FLASH_ATTN_EXT>(node).logit_cap),
          group(q.ne[2] / k.ne[2]), repeat(q.ne[3] / k.ne[3]) {}

    RowIndex query(int64_t kv_head, int64_t sequence, int64_t row) const {
        return {row / group, kv_head * group + row % group, sequence};
    }

    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
    const Tensor* mask;
    float scale, max_bias, cap;
    int64_t group;  ///< heads that share keys and values
    int64_t repeat; ///< sequences that do
};

/// What a thread works in, cut from its scratch memory.
struct Room {
    Room(const Work& work, int64_t d, int64_t dv, int64_t rows) {
        float* at = work.room(rows * (d + tile_keys + dv + 2) + tile_keys * (d + dv + 1));
        const auto take = [&at](int64_t n) {
            float* here = at;
            at += n;
            return here;
        };
        queries = take(rows * d);
        scores = take(rows * tile_keys);
        sums = take(rows * dv);
        top = take(rows);
        weight = take(rows);
        keys = take(tile_keys * d);
        values = take(tile_keys * dv);
        mask = take(tile_keys);
    }
    float* queries; ///< [rows, d]
    float* scores;  ///< [rows, tile_keys]
    float* sums;    ///< [rows, dv] values, weighted
    float* top;     ///< [rows] highest score so far
    float* weight;  ///< [rows] sum of weights so far
    float* keys;
    float* values;
    float* mask;
};

/// n rows of keys or values as floats, `stride` floats apart: where they lie, or expanded.
const float* read_rows(const Tensor& t, const std::byte* first, int64_t n, float* room, int64_t& stride,
                       const VectorOps& vector) {
    if (t.type == Type::F32 && t.nb[1] % sizeof(float) == 0) {
        stride = t.nb[1] / sizeof(float);
        return reinterpret_cast<const float*>(first);
    }
    stride = t.ne[0];
    for (int64_t j = 0; j < n; ++j) {
        read_row(t, first + j * t.nb[1], room + j * stride, vector);
    }
    return room;
}

/// Does any of the queries see any of the keys?
bool any_seen(const Attention& a, int64_t kv_head, int64_t sequence, int64_t first_row, int64_t rows, int64_t key, int64_t keys) {
    if (a.mask == nullptr) {
        return true;
    }
    constexpr uint16_t minus_infinity = 0xFC00;
    for (int64_t r = 0; r < rows; ++r) {
        const RowIndex i = a.query(kv_head, sequence, first_row + r);
        const auto* row =
            reinterpret_cast<const uint16_t*>(row_data(*a.mask, {i.i1, i.i2 % a.mask->ne[2], i.i3 % a.mask->ne[3]})) + key;
        if (std::any_of(row, row + keys, [](uint16_t h) { return h != minus_infinity; })) {
            return true;
        }
    }
    return false;
}

/// Scores of one row to weights; what the row has summed so far is brought to the same scale.
void weigh(const Attention& a, const RowIndex& i, int64_t r, int64_t key, int64_t keys, const Room& room,
           const VectorOps& vector) {
    float* s = room.scores + r * tile_keys;
    vector.scale(s, a.scale, 0.0F, s, keys);
    if (a.cap != 0.0F) {
        for (int64_t j = 0; j < keys; ++j) {
            s[j] = a.cap * std::tanh(s[j] / a.cap);
        }
    }
    if (a.mask != nullptr) {
        const auto* row =
            reinterpret_cast<const uint16_t*>(row_data(*a.mask, {i.i1, i.i2 % a.mask->ne[2], i.i3 % a.mask->ne[3]}));
        vector.half_to_floats(row + key, room.mask, keys);
        vector.add_scaled(s, room.mask, alibi_slope(a.max_bias, i.i2, a.q.ne[2]), keys);
        for (int64_t j = 0; j < keys; ++j) {
            s[j] = room.mask[j] == -INFINITY ? -INFINITY : s[j]; // what is not seen may hold anything
        }
    }
    const float top = std::max(room.top[r], vector.max(s, keys));
    // Nothing seen yet. A score that is not a number is seen: it makes the result none either.
    if (top == -INFINITY && std::none_of(s, s + keys, [](float x) { return std::isnan(x); })) {
        std::fill(s, s + keys, 0.0F);
        return;
    }
    const float shrink = std::exp(room.top[r] - top);
    if (shrink != 1.0F) {
        float* sums = room.sums + r * a.v.ne[0];
        vector.scale(sums, shrink, 0.0F, sums, a.v.ne[0]);
    }
    room.top[r] = top;
    room.weight[r] = room.weight[r] * shrink + to_float(vector.exp_sum(s, top, s, keys));
}

/// Rows [first, first + rows) of the queries that share the keys and values of one head.
void attend(const Work& work, const Attention& a, int64_t kv_head, int64_t sequence, int64_t first, int64_t rows,
            const Room& room) {
    const VectorOps& vector = work.vector;
    const int64_t d = a.q.ne[0];
    const int64_t dv = a.v.ne[0];
    for (int64_t r = 0; r < rows; ++r) {
        const RowIndex i = a.query(kv_head, sequence, first + r);
        const float* x = read_row(a.q, row_data(a.q, i), room.queries + r * d, vector);
        if (x != room.queries + r * d) {
            std::copy(x, x + d, room.queries + r * d);
        }
        room.top[r] = -INFINITY;
        room.weight[r] = 0.0F;
    }
    std::fill(room.sums, room.sums + rows * dv, 0.0F);
    for (int64_t key = 0; key < a.k.ne[1]; key += tile_keys) {
        const int64_t keys = std::min(tile_keys, a.k.ne[1] - key);
        if (!any_seen(a, kv_head, sequence, first, rows, key, keys)) {
            continue;
        }
        int64_t stride = 0;
        const float* k = read_rows(a.k, row_data(a.k, {key, kv_head, sequence / a.repeat}), keys, room.keys, stride, vector);
        vector.multiply(k, stride, keys, room.queries, d, rows, d, room.scores, tile_keys);
        for (int64_t r = 0; r < rows; ++r) {
            weigh(a, a.query(kv_head, sequence, first + r), r, key, keys, room, vector);
        }
        const float* v = read_rows(a.v, row_data(a.v, {key, kv_head, sequence / a.repeat}), keys, room.values, stride, vector);
        vector.accumulate(v, stride, dv, room.scores, tile_keys, rows, keys, room.sums, dv);
    }
    for (int64_t r = 0; r < rows; ++r) {
        const RowIndex i = a.query(kv_head, sequence, first + r);
        const float weight = room.weight[r];
        vector.scale(room.sums + r * dv, weight == 0 ? 0.0F : 1.0F / weight, 0.0F,
                     reinterpret_cast<float*>(row_data(work.node(), {i.i2, i.i1, i.i3})), dv);
    }
}

void run_flash_attn(const Work& work) {
    const Attention a(work.node());
    const int64_t kv_heads = a.k.ne[2];
    const int64_t n_rows = a.q.ne[1] * a.group; // of one head of keys
    // Tiles as large as leave each thread some.
    const int64_t per_thread = std::max<int64_t>(1, n_rows * kv_heads * a.q.ne[3] / work.n_parts);
    const int64_t rows_at_once = std::min({tile_rows, n_rows, per_thread});
    const int64_t tiles = (n_rows + rows_at_once - 1) / rows_at_once;
    const Room room(work, a.q.ne[0], a.v.ne[0], rows_at_once);
    const auto [first, end] = work.share(tiles * kv_heads * a.q.ne[3]);
    for (int64_t i = first; i < end; ++i) {
        const int64_t row = i % tiles * rows_at_once;
        attend(work, a, i / tiles % kv_heads, i / tiles / kv_heads, row, std::min(rows_at_once, n_rows - row), room);
    }
}

Answer supports_flash_attn(const Tensor& node) {
    if (node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "queries are not f32");
    }
    for (const Tensor* source : {node.src[1], node.src[2]}) {
        if (!has_contiguous_rows(*source)) {
            return Answer::no(Refusal::layout, "rows of keys or values are not contiguous");
        }
        if (const Answer a = readable(*source, "keys or values can't be expanded to floats"); !a.yes) {
            return a;
        }
    }
    return yes;
}

constexpr CpuOperator flash_attn_entries[] = {{Op::FLASH_ATTN_EXT, "flash_attn", supports_flash_attn, run_flash_attn}};

} // namespace

std::span<const CpuOperator> flash_attn_operators() noexcept { return flash_attn_entries; }

} // namespace schedscope::cpu
