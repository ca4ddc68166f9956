// Products. With few columns each weight is read once, as it lies (the speed of memory decides); with many, stretches of rows are expanded to floats
// once and multiplied with all columns (the speed of arithmetic decides).

#include "runtime/backend/cpu/kernel.h"

#include <algorithm>
#include <tuple>

namespace schedscope::cpu {

namespace {

constexpr int64_t few_columns = 4;
constexpr int64_t rows_at_once = 60;         ///< a multiple of every tile height
constexpr int64_t columns_gathered = 240;    ///< of one expert's tokens
constexpr int64_t column_bytes = 384 * 1024; ///< columns that are kept near while the rows pass by

/// out[j × out_stride] = a row of weights times column j, for a few columns.
void dot_row(const Tensor& weights, const std::byte* row, const float* x, int64_t stride, int64_t n_columns, float* out,
             int64_t out_stride, float* room, const VectorOps& v) {
    const int64_t k = weights.ne[0];
    const auto each = [&](auto dot, const auto* data) {
        for (int64_t j = 0; j < n_columns; ++j) {
            out[j * out_stride] = dot(data, x + j * stride, k);
        }
    };
    switch (weights.type) {
    case Type::F32: return each(v.dot_f32, reinterpret_cast<const float*>(row));
    case Type::F16: return each(v.dot_f16, reinterpret_cast<const uint16_t*>(row));
    case Type::BF16: return each(v.dot_bf16, reinterpret_cast<const uint16_t*>(row));
    default: break;
    }
    const BlockOps& blocks = v.blocks[static_cast<size_t>(weights.type)];
    if (blocks.dot == nullptr) {
        return each(v.dot_f32, read_row(weights, row, room, v));
    }
    float results[BlockOps::max_columns];
    for (int64_t j = 0; j < n_columns; j += BlockOps::max_columns) {
        const auto some = static_cast<int>(std::min<int64_t>(BlockOps::max_columns, n_columns - j));
        blocks.dot(row, x + j * stride, stride, some, k, results);
        for (int i = 0; i < some; ++i) {
            out[(j + i) * out_stride] = results[i];
        }
    }
}

/// Columns of source 1 as rows of floats, `stride` floats apart: in place if they lie so.
struct Columns {
    const float* data;
    int64_t stride;
};

/// out[column × out_stride + row] for rows [first, end) of one matrix of weights and n columns.
void multiply_rows(const Work& work, const Tensor& weights, const std::byte* matrix, int64_t first, int64_t end,
                   const Columns& columns, int64_t n, float* out, int64_t out_stride, float* room) {
    const int64_t k = weights.ne[0];
    const VectorOps& v = work.vector;
    if (n <= few_columns) {
        for (int64_t row = first; row < end; ++row) {
            dot_row(weights, matrix + static_cast<size_t>(row) * weights.nb[1], columns.data, columns.stride, n, out + row,
                    out_stride, room, v);
        }
        return;
    }
    const bool in_place = weights.type == Type::F32;
    const int64_t block = std::max<int64_t>(60, column_bytes / static_cast<int64_t>(sizeof(float)) / k / 60 * 60);
    for (int64_t row = first; row < end; row += rows_at_once) {
        const int64_t rows = std::min(rows_at_once, end - row);
        const float* a = reinterpret_cast<const float*>(matrix + static_cast<size_t>(row) * weights.nb[1]);
        int64_t lda = static_cast<int64_t>(weights.nb[1] / sizeof(float));
        if (!in_place) {
            for (int64_t i = 0; i < rows; ++i) {
                read_row(weights, matrix + static_cast<size_t>(row + i) * weights.nb[1], room + i * k, v);
            }
            a = room;
            lda = k;
        }
        for (int64_t j = 0; j < n; j += block) {
            v.multiply(a, lda, rows, columns.data + j * columns.stride, columns.stride, std::min(block, n - j), k,
                       out + j * out_stride + row, out_stride);
        }
    }
}

bool is_plain(const Tensor& t) noexcept { return t.type == Type::F32 && has_contiguous_rows(t) && t.nb[1] % sizeof(float) == 0; }

/// What is to be computed, one expert after the other; first, as expert −1, what was sent to none.
void sort_by_expert(const Tensor& ids, int64_t n_experts, std::vector<Routed>& routed) {
    routed.clear();
    for (int64_t token = 0; token < ids.ne[1]; ++token) {
        for (int64_t slot = 0; slot < ids.ne[0]; ++slot) {
            const auto id =
                read_as<int32_t>(host_data(ids) + static_cast<size_t>(slot) * ids.nb[0] + static_cast<size_t>(token) * ids.nb[1]);
            routed.push_back({id >= 0 && id < n_experts ? id : -1, slot, token});
        }
    }
    std::sort(routed.begin(), routed.end(), [](const Routed& x, const Routed& y) {
        return std::tie(x.expert, x.token, x.slot) < std::tie(y.expert, y.token, y.slot);
    });
}

} // namespace

void run_mul_mat(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& weights = *node.src[0];
    const Tensor& b = *node.src[1];
    const int64_t k = b.ne[0];
    const int64_t n = b.ne[1];
    const int64_t m = node.ne[0];
    const bool plain = is_plain(b);
    const int64_t expanded_rows = n <= few_columns ? 1 : rows_at_once;
    float* room = work.room((plain ? 0 : n * k) + expanded_rows * k);
    float* expanded = room + (plain ? 0 : n * k);

    // Whole matrices are shared out where there are many (attention heads), rows of each where there are few.
    const int64_t matrices = node.ne[2] * node.ne[3];
    const bool by_matrix = matrices >= work.n_threads;
    const auto [first_matrix, end_matrix] = by_matrix ? work.share(matrices) : std::pair<int64_t, int64_t>{0, matrices};
    const auto [first_row, end_row] = by_matrix ? std::pair<int64_t, int64_t>{0, m} : work.share(m);
    for (int64_t matrix = first_matrix; matrix < end_matrix; ++matrix) {
        const int64_t i2 = matrix % node.ne[2];
        const int64_t i3 = matrix / node.ne[2];
        const std::byte* a = row_data(weights, {0, i2 / (node.ne[2] / weights.ne[2]), i3 / (node.ne[3] / weights.ne[3])});
        Columns columns{reinterpret_cast<const float*>(row_data(b, {0, i2, i3})), static_cast<int64_t>(b.nb[1] / sizeof(float))};
        if (!plain) {
            for (int64_t j = 0; j < n; ++j) {
                float* column = room + j * k;
                const float* read = read_row(b, row_data(b, {j, i2, i3}), column, work.vector);
                if (read != column) {
                    std::copy(read, read + k, column);
                }
            }
            columns = {room, k};
        }
        multiply_rows(work, weights, a, first_row, end_row, columns, n, reinterpret_cast<float*>(row_data(node, {0, i2, i3})),
                      static_cast<int64_t>(node.nb[1] / sizeof(float)), expanded);
    }
}

void run_mul_mat_id(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& experts = *node.src[0];
    const Tensor& b = *node.src[1];
    const int64_t k = experts.ne[0];
    // Each thread takes its rows of every expert's matrix, so that all threads have the same work however tokens are routed.
    const auto [first, end] = work.share(node.ne[0]);
    const int64_t rows = end - first;
    float* columns = work.room(columns_gathered * (k + rows) + rows_at_once * k);
    float* results = columns + columns_gathered * k;
    float* expanded = results + columns_gathered * rows;
    const auto out = [&](const Routed& r) { return reinterpret_cast<float*>(row_data(node, {r.slot, r.token, 0})) + first; };

    std::vector<Routed>& routed = work.scratch.routed;
    sort_by_expert(*node.src[2], experts.ne[2], routed);
    for (auto from = routed.cbegin(); from != routed.cend();) {
        const int64_t expert = from->expert;
        if (expert < 0) {
            std::fill(out(*from), out(*from) + rows, 0.0F);
            ++from;
            continue;
        }
        int64_t n = 0;
        while (n < columns_gathered && from + n != routed.cend() && from[n].expert == expert) {
            const Routed& r = from[n];
            const float* x = read_row(b, row_data(b, {r.slot % b.ne[1], r.token, 0}), columns + n * k, work.vector);
            if (x != columns + n * k) {
                std::copy(x, x + k, columns + n * k);
            }
            ++n;
        }
        const std::byte* matrix = host_data(experts) + static_cast<size_t>(expert) * experts.nb[2];
        multiply_rows(work, experts, matrix + static_cast<size_t>(first) * experts.nb[1], 0, rows, {columns, k}, n, results, rows,
                      expanded);
        for (int64_t j = 0; j < n; ++j) {
            std::copy(results + j * rows, results + (j + 1) * rows, out(from[j]));
        }
        from += n;
    }
}

} // namespace schedscope::cpu
