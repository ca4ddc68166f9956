#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/kernels/product_rows.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

namespace schedscope::cpu {

namespace {

constexpr int64_t columns_gathered = 240; ///< of one expert's tokens

/// What is to be computed, one expert after the other; first, as expert −1, what was sent to none.
void sort_by_expert(const Tensor& ids, int64_t n_experts, std::vector<Routed>& routed) {
    routed.clear();
    for (int64_t token = 0; token < ids.ne[1]; ++token) {
        for (int64_t slot = 0; slot < ids.ne[0]; ++slot) {
            const auto id = read_as<int32_t>(host_data(ids) + slot * ids.nb[0] + token * ids.nb[1]);
            routed.push_back({id >= 0 && id < n_experts ? id : -1, slot, token});
        }
    }
    std::sort(routed.begin(), routed.end(), [](const Routed& x, const Routed& y) {
        return std::tie(x.expert, x.token, x.slot) < std::tie(y.expert, y.token, y.slot);
    });
}

void run_mul_mat(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& weights = *node.src[0];
    const Tensor& b = *node.src[1];
    const int64_t n = b.ne[1];
    const int64_t m = node.ne[0];
    const int64_t for_columns = room_of_columns(work, weights, b);
    float* room = work.room(for_columns + room_of_rows(work, weights, n));
    float* expanded = room + for_columns;

    Columns columns{};
    int64_t columns_in = -1; // the matrix whose columns these are
    const auto multiply = [&](int64_t matrix, int64_t first, int64_t end) {
        const int64_t i2 = matrix % node.ne[2];
        const int64_t i3 = matrix / node.ne[2];
        const std::byte* a = weights_data(weights) + i2 / (node.ne[2] / weights.ne[2]) * weights.nb[2] +
                             i3 / (node.ne[3] / weights.ne[3]) * weights.nb[3];
        if (columns_in != matrix) {
            columns = columns_of(work, weights, b, i2, i3, room);
            columns_in = matrix;
        }
        multiply_rows(work, weights, a, first, end, columns, n, reinterpret_cast<float*>(row_data(node, {0, i2, i3})),
                      node.nb[1] / sizeof(float), expanded);
    };
    // Whole matrices are shared out where there are many (attention heads), rows of each where there are few.
    const int64_t matrices = node.ne[2] * node.ne[3];
    if (matrices >= work.n_parts && matrices > 1) {
        work.each_stretch(matrices, 1, [&](int64_t matrix, int64_t) { multiply(matrix, 0, m); });
        return;
    }
    const int64_t stretches = (m + rows_at_once - 1) / rows_at_once;
    work.each_stretch(matrices * stretches, 1, [&](int64_t i, int64_t) {
        const int64_t first = i % stretches * rows_at_once;
        multiply(i / stretches, first, std::min(first + rows_at_once, m));
    });
}

/// The columns of one expert's tokens, side by side in `floats` or `room`.
Columns gather(const Work& work, const Tensor& experts, const Tensor& b, std::span<const Routed> routed, float* floats,
               float* room) {
    const int64_t n = std::ssize(routed), k = b.ne[0];
    const std::optional<Rounding> rounding = rounding_for(work.products, work.vector, experts, n);
    if (rounding && work.common.columns.has(b, *rounding)) {
        const RoundedColumns rounded(*rounding, room, k, n);
        for (int64_t j = 0; j < n; ++j) {
            rounded.copy(work.common.columns.columns().from(routed[j].slot % b.ne[1] + routed[j].token * b.ne[1]), j);
        }
        return {floats, k, rounded.columns()};
    }
    for (int64_t j = 0; j < n; ++j) {
        float* const column = floats + j * k;
        const float* x = read_row(b, row_data(b, {routed[j].slot % b.ne[1], routed[j].token, 0}), column, work.vector);
        if (x != column) {
            std::copy(x, x + k, column);
        }
    }
    return with_rounded(work, experts, {floats, k}, n, room);
}

void run_mul_mat_id(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& experts = *node.src[0];
    const Tensor& b = *node.src[1];
    const int64_t k = experts.ne[0];
    // Each part takes its rows of every expert's matrix, so that all threads have the same work however tokens are routed.
    const std::pair<int64_t, int64_t> share = work.share(node.ne[0]);
    const int64_t first = share.first, rows = share.second - first;
    const int64_t for_rounded = room_of_rounded(work, experts, columns_gathered);
    float* columns = work.room(columns_gathered * (k + rows) + for_rounded + room_of_rows(work, experts, columns_gathered));
    float* results = columns + columns_gathered * k;
    float* rounded = results + columns_gathered * rows;
    float* expanded = rounded + for_rounded;
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
            ++n;
        }
        const Columns gathered = gather(work, experts, b, {from, from + n}, columns, rounded);
        const std::byte* matrix = host_data(experts) + expert * experts.nb[2];
        multiply_rows(work, experts, matrix + first * experts.nb[1], 0, rows, gathered, n, results, rows, expanded);
        for (int64_t j = 0; j < n; ++j) {
            std::copy(results + j * rows, results + (j + 1) * rows, out(from[j]));
        }
        from += n;
    }
}

Answer supports_product(const Tensor& node) {
    const Tensor& weights = *node.src[0];
    if (const Answer a = readable(weights, "source 0 can't be expanded to floats"); !a.yes) {
        return a;
    }
    if (!has_contiguous_rows(weights)) {
        return Answer::no(Refusal::layout, "rows of source 0 are not contiguous");
    }
    if (weights.type == Type::F32 && weights.nb[1] % sizeof(float) != 0) {
        return Answer::no(Refusal::layout, "rows of source 0 are not aligned");
    }
    return is_float(node.src[1]->type) ? yes : Answer::no(Refusal::type, "source 1 is not of a float type");
}

constexpr CpuOperator product_entries[] = {
    {Op::MUL_MAT, "mul_mat", supports_product, run_mul_mat},
    {Op::MUL_MAT_ID, "mul_mat_id", supports_product, run_mul_mat_id},
};

} // namespace

std::span<const CpuOperator> product_operators() noexcept { return product_entries; }

} // namespace schedscope::cpu
