// Attention in one pass over keys and values. Many queries: a tile of those that share keys and values meets one stretch of keys,
// expanded to floats, after the other; what was summed before is scaled down whenever a higher score turns up. Few queries: a
// stretch of keys meets all of them, of all heads, where it lies; what the stretches give is put together at the end.

#include "runtime/backend/cpu/kernels/alibi.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace schedscope::cpu {

namespace {

constexpr int64_t tile_queries = 60; ///< queries; a multiple of every tile of the matrix kernels
constexpr int64_t tile_keys = 128;   ///< keys, the same; with their values some hundred KiB as floats
static_assert(tile_keys % widest_vector == 0);
/// So many queries of a head of keys are few, and so are those of one token: what all stretches give is little memory beside the
/// keys. With more of them it is not, though tiles are slower for some.
constexpr int64_t few_rows = 16;
constexpr int64_t stretch_keys = 128;   ///< of few queries: what they give does not depend on the number of threads
constexpr int64_t most_strip_keys = 16; ///< of a stretch; a strip of all heads, which lies side by side, stays in the L1 cache

/// One node's tensors and parameters. A row is a query of one head; rows of heads that share keys and values lie together: row r
/// of a group is token r / group, head r % group of it.
struct Attention {
    explicit Attention(const Tensor& node)
        : q(*node.src[0]), k(*node.src[1]), v(*node.src[2]), mask(node.src[3]), scale(params_of<Op::FLASH_ATTN_EXT>(node).scale),
          max_bias(params_of<Op::FLASH_ATTN_EXT>(node).max_bias), cap(params_of<Op::FLASH_ATTN_EXT>(node).logit_cap),
          group(q.ne[2] / k.ne[2]), repeat(q.ne[3] / k.ne[3]), d(q.ne[0]), dv(v.ne[0]), rows(q.ne[1] * group) {}

    RowIndex query(int64_t kv_head, int64_t sequence, int64_t row) const {
        return {row / group, kv_head * group + row % group, sequence};
    }
    /// A query's row of the mask, from key 0.
    const uint16_t* mask_row(const RowIndex& query) const {
        return reinterpret_cast<const uint16_t*>(row_data(*mask, {query.i1, query.i2 % mask->ne[2], query.i3 % mask->ne[3]}));
    }
    /// Where keys or values (`t`) of a head lie, from a key on.
    const std::byte* rows_of(const Tensor& t, int64_t key, int64_t kv_head, int64_t sequence) const {
        return row_data(t, {key, kv_head, sequence / repeat});
    }

    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
    const Tensor* mask;
    float scale, max_bias, cap;
    int64_t group;  ///< heads that share keys and values
    int64_t repeat; ///< sequences that do
    int64_t d, dv;  ///< elements of a key, of a value
    int64_t rows;   ///< that share the keys of one head
};

/// Cuts memory into pieces.
class Pieces {
public:
    explicit Pieces(float* at) : at_(at) {}
    float* take(int64_t n) { return std::exchange(at_, at_ + n); }

private:
    float* at_;
};

/// What a thread works in, cut from its scratch memory, for `rows` queries at once.
struct Room {
    /// `n_keys`: of which it has scores; `expanded`: of which it has keys or values as floats; `more`: floats behind all.
    Room(const Work& work, const Attention& a, int64_t rows, int64_t n_keys, int64_t expanded, int64_t more) {
        Pieces pieces(work.room(rows * (a.d + n_keys) + expanded * std::max(a.d, a.dv) + more));
        queries = pieces.take(rows * a.d);
        scores = pieces.take(rows * n_keys);
        floats = pieces.take(expanded * std::max(a.d, a.dv));
        behind = pieces.take(more);
    }
    float* queries; ///< [rows, d]
    float* scores;  ///< [rows, n_keys]
    float* floats;  ///< [expanded, d or dv] keys, then values
    float* behind;
};

/// What rows of queries got from the keys that they have met.
struct Sums {
    static int64_t floats(const Attention& a, int64_t rows) { return rows * (a.dv + 2); }
    Sums(const Attention& a, int64_t rows, float* at) {
        Pieces pieces(at);
        values = pieces.take(rows * a.dv);
        top = pieces.take(rows);
        weight = pieces.take(rows);
    }
    void clear(const Attention& a, int64_t rows) const {
        std::fill_n(values, rows * a.dv, 0.0F);
        std::fill_n(top, rows, -INFINITY);
        std::fill_n(weight, rows, 0.0F);
    }
    float* values; ///< [rows, dv] weighted by exp(score − top)
    float* top;    ///< [rows] highest score so far
    float* weight; ///< [rows] sum of weights so far; 0: no key was seen
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

/// n queries as floats, side by side.
void read_queries(const Attention& a, int64_t kv_head, int64_t sequence, int64_t first, int64_t n, float* to,
                  const VectorOps& vector) {
    for (int64_t r = 0; r < n; ++r) {
        float* const query = to + r * a.d;
        const float* x = read_row(a.q, row_data(a.q, a.query(kv_head, sequence, first + r)), query, vector);
        if (x != query) {
            std::copy(x, x + a.d, query);
        }
    }
}

/// How many of the keys [key, key + keys) there are up to the last one that any of the queries sees; behind it no query looks.
int64_t seen_keys(const Attention& a, int64_t kv_head, int64_t sequence, int64_t first_row, int64_t rows, int64_t key,
                  int64_t keys) {
    if (a.mask == nullptr) {
        return keys;
    }
    constexpr uint16_t unseen = 0xFC00; // −∞
    constexpr uint64_t four_unseen = 0xFC00FC00FC00FC00;
    int64_t seen = 0;
    for (int64_t r = rows; r-- > 0;) { // mostly later queries see more
        const uint16_t* const row = a.mask_row(a.query(kv_head, sequence, first_row + r)) + key;
        int64_t end = keys;
        while (end - seen >= 4 && read_as<uint64_t>(reinterpret_cast<const std::byte*>(row + end - 4)) == four_unseen) {
            end -= 4;
        }
        while (end > seen && row[end - 1] == unseen) {
            --end;
        }
        seen = end;
    }
    return seen;
}

/// Brings what row r has summed to the scale of a score that is no lower.
void shrink_to(const Attention& a, const Sums& sums, int64_t r, float top, const VectorOps& vector) {
    const float shrink = sums.weight[r] == 0.0F ? 1.0F : std::exp(sums.top[r] - top);
    if (shrink != 1.0F) {
        float* const values = sums.values + r * a.dv;
        vector.scale(values, shrink, 0.0F, values, a.dv);
        sums.weight[r] *= shrink;
    }
    sums.top[r] = top;
}

/// Products of one row with keys to weights; what the row has summed so far is brought to the same scale.
void weigh(const Attention& a, const RowIndex& query, int64_t key, int64_t keys, float* s, const Sums& sums, int64_t r,
           const VectorOps& vector) {
    const float slope = a.mask != nullptr ? alibi_slope(a.max_bias, query.i2, a.q.ne[2]) : 1.0F;
    const float highest = vector.scores(s, keys, {a.scale, a.cap, slope, a.mask != nullptr ? a.mask_row(query) + key : nullptr});
    const float top = std::max(sums.top[r], highest);
    // Nothing seen yet. A score that is not a number is seen: it makes the result none either.
    if (top == -INFINITY && std::none_of(s, s + keys, [](float x) { return std::isnan(x); })) {
        std::fill(s, s + keys, 0.0F);
        return;
    }
    shrink_to(a, sums, r, top, vector);
    sums.weight[r] += to_float(vector.exp_sum(s, top, s, keys));
}

/// The result of one row.
void write_result(const Work& work, const Attention& a, const RowIndex& query, const Sums& sums, int64_t r) {
    const float weight = sums.weight[r];
    work.vector.scale(sums.values + r * a.dv, weight == 0 ? 0.0F : 1.0F / weight, 0.0F,
                      reinterpret_cast<float*>(row_data(work.node(), {query.i2, query.i1, query.i3})), a.dv);
}

/// Rows [first, first + rows) of the queries that share the keys and values of one head.
void attend(const Work& work, const Attention& a, int64_t kv_head, int64_t sequence, int64_t first, int64_t rows,
            const Room& room) {
    const VectorOps& vector = work.vector;
    read_queries(a, kv_head, sequence, first, rows, room.queries, vector);
    const Sums sums(a, rows, room.behind);
    float* const side_by_side = room.behind + Sums::floats(a, rows); // [d, tile_keys]
    sums.clear(a, rows);
    for (int64_t key = 0; key < a.k.ne[1]; key += tile_keys) {
        const int64_t keys = seen_keys(a, kv_head, sequence, first, rows, key, std::min(tile_keys, a.k.ne[1] - key));
        if (keys == 0) {
            continue;
        }
        int64_t stride = 0;
        // Keys are short: where those of a vector of scores lie side by side, no sum has to be put together from its parts.
        const float* k = read_rows(a.k, a.rows_of(a.k, key, kv_head, sequence), keys, room.floats, stride, vector);
        const int64_t whole_vectors = (keys + widest_vector - 1) / widest_vector * widest_vector;
        if (keys < whole_vectors) {
            std::fill_n(side_by_side, a.d * tile_keys, 0.0F);
        }
        vector.transpose(k, stride, keys, a.d, side_by_side, tile_keys);
        std::fill_n(room.scores, rows * tile_keys, 0.0F);
        vector.accumulate(side_by_side, tile_keys, whole_vectors, room.queries, a.d, rows, a.d, room.scores, tile_keys);
        for (int64_t r = 0; r < rows; ++r) {
            weigh(a, a.query(kv_head, sequence, first + r), key, keys, room.scores + r * tile_keys, sums, r, vector);
        }
        const float* v = read_rows(a.v, a.rows_of(a.v, key, kv_head, sequence), keys, room.floats, stride, vector);
        vector.accumulate(v, stride, a.dv, room.scores, tile_keys, rows, keys, sums.values, a.dv);
    }
    for (int64_t r = 0; r < rows; ++r) {
        write_result(work, a, a.query(kv_head, sequence, first + r), sums, r);
    }
}

void run_tiles(const Work& work, const Attention& a) {
    const int64_t kv_heads = a.k.ne[2];
    // Tiles as large as leave each thread some.
    const int64_t per_thread = std::max<int64_t>(1, a.rows * kv_heads * a.q.ne[3] / work.n_parts);
    const int64_t rows_at_once = std::min({tile_queries, a.rows, per_thread});
    const int64_t tiles = (a.rows + rows_at_once - 1) / rows_at_once;
    const Room room(work, a, rows_at_once, tile_keys, tile_keys, Sums::floats(a, rows_at_once) + a.d * tile_keys);
    const auto [first, end] = work.share(tiles * kv_heads * a.q.ne[3]);
    for (int64_t i = first; i < end; ++i) {
        const int64_t row = i % tiles * rows_at_once;
        attend(work, a, i / tiles % kv_heads, i / tiles / kv_heads, row, std::min(rows_at_once, a.rows - row), room);
    }
}

/// Is the next strip read from its begin to its end while this one's heads are met one after the other? Where asking for memory
/// takes from what is read (fetches_in_order) that is the faster, unless so many queries share a head that computing takes
/// longer.
bool is_read_meanwhile(const Tensor& t, int64_t queries) noexcept {
    return !fetches_in_order() && queries <= 4 && t.nb[1] == static_cast<size_t>(t.ne[2]) * t.nb[2];
}
/// How many keys or values of all heads are met before the next ones: few if both are to be in the cache, as what streams by is.
int64_t strip_of(const Tensor& t, bool meanwhile) noexcept {
    constexpr int64_t bytes = 6144, together = 4; // rows of RowOps
    const int64_t few = bytes / static_cast<int64_t>(t.nb[1]) / together * together;
    return meanwhile ? std::clamp(few, together, most_strip_keys) : most_strip_keys;
}
/// One of `shares` shares of n rows of all heads.
void read_share(const Tensor& t, const std::byte* rows, int64_t n, int64_t share, int64_t shares) noexcept {
    constexpr int64_t line = 64;
    const int64_t lines = n * static_cast<int64_t>(t.nb[1]) / line;
    for (int64_t i = share * lines / shares; i < (share + 1) * lines / shares; ++i) {
        static_cast<void>(*static_cast<const volatile std::byte*>(rows + i * line));
    }
}

/// Rows of keys or values of one head for so many queries: where they lie, or, of types for which that is faster, as floats in
/// the L1 cache.
struct Strip {
    /// next: so many rows further the next strip lies, which the processor does not see by itself, as heads come between; 0: it
    /// is read otherwise.
    Strip(const Tensor& t, const std::byte* first, int64_t n, int64_t next, int64_t queries, float* room, const VectorOps& vector)
        : ops(vector.rows[ordinal(t.type)]), rows(first), stride(t.nb[1]), ahead(next) {
        if (queries > ops.columns_at_once) {
            for (int64_t i = 0; i < n; ++i) {
                const std::byte* const row = first + i * t.nb[1];
                if (next != 0) {
                    __builtin_prefetch(row + next * t.nb[1]);
                }
                to_floats(t.type, row, room + i * t.ne[0], t.ne[0], vector);
            }
            ahead = 0;
            ops = vector.rows[ordinal(Type::F32)];
            rows = reinterpret_cast<const std::byte*>(room);
            stride = t.ne[0] * sizeof(float);
        }
    }
    RowOps ops;
    const std::byte* rows;
    size_t stride;
    int64_t ahead; ///< of RowOps: `next`, unless its rows were asked for when these were expanded
};

/// All queries of a sequence, which room.queries holds, with [key, key + most_keys).
void attend_stretch(const Work& work, const Attention& a, int64_t sequence, int64_t key, int64_t most_keys, const Room& room,
                    const Sums& sums) {
    const VectorOps& vector = work.vector;
    const int64_t heads = a.k.ne[2], rows = a.rows;
    int64_t keys = 0;
    for (int64_t head = 0; head < (a.mask == nullptr || a.mask->ne[2] == 1 ? 1 : heads); ++head) {
        keys = std::max(keys, seen_keys(a, head, sequence, 0, rows, key, most_keys));
    }
    if (keys == 0) {
        return;
    }
    // meet(a head's strip, its first key, keys, head)
    const auto each_strip = [&](const Tensor& t, auto meet) {
        const bool meanwhile = is_read_meanwhile(t, rows);
        const int64_t at_once = strip_of(t, meanwhile);
        for (int64_t i = 0; i < keys; i += at_once) {
            const int64_t n = std::min(at_once, keys - i), of_next = std::min(at_once, keys - i - n);
            for (int64_t head = 0; head < heads; ++head) {
                if (meanwhile) {
                    read_share(t, a.rows_of(t, key + i + n, 0, sequence), of_next, head, heads);
                }
                const int64_t next = meanwhile ? 0 : most_strip_keys;
                meet(Strip(t, a.rows_of(t, key + i, head, sequence), n, next, rows, room.floats, vector), i, n, head);
            }
        }
    };
    each_strip(a.k, [&](const Strip& k, int64_t i, int64_t n, int64_t head) {
        k.ops.multiply(k.rows, k.stride, n, k.ahead, room.queries + head * rows * a.d, a.d, rows, a.d,
                       room.scores + head * rows * stretch_keys + i, stretch_keys);
    });
    for (int64_t r = 0; r < rows * heads; ++r) {
        weigh(a, a.query(r / rows, sequence, r % rows), key, keys, room.scores + r * stretch_keys, sums, r, vector);
    }
    each_strip(a.v, [&](const Strip& v, int64_t i, int64_t n, int64_t head) {
        v.ops.accumulate(v.rows, v.stride, n, v.ahead, room.scores + head * rows * stretch_keys + i, stretch_keys, rows, a.dv,
                         sums.values + head * rows * a.dv, a.dv);
    });
}

/// Adds what rows got from other keys, both brought to one scale.
void merge(const Attention& a, int64_t rows, const Sums& into, const Sums& from, const VectorOps& vector) {
    for (int64_t r = 0; r < rows; ++r) {
        if (from.weight[r] == 0.0F) { // nothing was seen
            continue;
        }
        float* const values = into.values + r * a.dv;
        const float top = std::max(into.top[r], from.top[r]);
        const float grown = std::exp(from.top[r] - top);
        shrink_to(a, into, r, top, vector);
        into.weight[r] += from.weight[r] * grown;
        vector.add_scaled(values, from.values + r * a.dv, grown, a.dv);
    }
}

void run_few(const Work& work, const Attention& a) {
    const int64_t rows = a.rows * a.k.ne[2], n_keys = a.k.ne[1], sequences = a.q.ne[3];
    const int64_t stretches = std::max<int64_t>(1, (n_keys + stretch_keys - 1) / stretch_keys);
    const Room room(work, a, rows, stretch_keys, most_strip_keys, 0);
    float* const common = work.common_room(sequences * stretches * Sums::floats(a, rows));
    const auto sums_of = [&](int64_t i) { return Sums(a, rows, common + i * Sums::floats(a, rows)); };
    int64_t read_for = -1; // whose queries are in the room
    work.each_stretch(sequences * stretches, 1, [&](int64_t i, int64_t) {
        const int64_t sequence = i / stretches, key = i % stretches * stretch_keys;
        for (int64_t head = 0; head < a.k.ne[2] && sequence != read_for; ++head) {
            read_queries(a, head, sequence, 0, a.rows, room.queries + head * a.rows * a.d, work.vector);
        }
        read_for = sequence;
        const Sums sums = sums_of(i);
        sums.clear(a, rows);
        attend_stretch(work, a, sequence, key, std::min(stretch_keys, n_keys - key), room, sums);
    });
    if (!work.ends_last()) {
        return;
    }
    for (int64_t sequence = 0; sequence < sequences; ++sequence) {
        const Sums sums = sums_of(sequence * stretches);
        for (int64_t i = 1; i < stretches; ++i) {
            merge(a, rows, sums, sums_of(sequence * stretches + i), work.vector);
        }
        for (int64_t r = 0; r < rows; ++r) {
            write_result(work, a, a.query(r / a.rows, sequence, r % a.rows), sums, r);
        }
    }
}

void run_flash_attn(const Work& work) {
    const Attention a(work.node());
    a.rows <= few_rows || a.q.ne[1] == 1 ? run_few(work, a) : run_tiles(work, a);
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
