#include "runtime/backend/cpu/kernels/operators.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <numeric>

namespace schedscope::cpu {

namespace {

/// One value from each row.
template <typename Row> void reduce(const Work& work, Row row) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    float* room = work.room(a.ne[0]);
    const auto [first, end] = work.share(n_rows(a));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(a, r);
        const float value = static_cast<float>(row(read_row(a, row_data(a, i), room, work.vector), a.ne[0]));
        std::byte* target = row_data(node, i);
        write_row(node, target, &value, work.vector);
    }
}

/// The ids of a row's elements, the first k in order of value (equal values: lower id first).
void sort_row(const float* x, int32_t* ids, int64_t n, int64_t k, bool descending) {
    std::iota(ids, ids + n, 0);
    std::partial_sort(ids, ids + k, ids + n, [x, descending](int32_t a, int32_t b) {
        if (x[a] != x[b]) {
            return descending ? x[a] > x[b] : x[a] < x[b];
        }
        return a < b;
    });
}

template <typename Use> void sorted_rows(const Work& work, int64_t k, bool descending, Use use) {
    const Tensor& a = *work.node().src[0];
    const int64_t n = a.ne[0];
    float* room = work.room(2 * n);
    auto* ids = reinterpret_cast<int32_t*>(room + n);
    const auto [first, end] = work.share(n_rows(a));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(a, r);
        sort_row(read_row(a, row_data(a, i), room, work.vector), ids, n, k, descending);
        use(i, ids);
    }
}

void run_sum_rows(const Work& work) { reduce(work, work.vector.sum); }

void run_mean(const Work& work) {
    reduce(work, [&](const float* x, int64_t n) { return work.vector.sum(x, n) / static_cast<double>(n); });
}

void run_sum(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    if (work.part != 0) { // one sum in one order
        return;
    }
    float* room = work.room(a.ne[0]);
    double sum = 0;
    for (int64_t r = 0; r < n_rows(a); ++r) {
        sum += work.vector.sum(read_row(a, row_data(a, row_index(a, r)), room, work.vector), a.ne[0]);
    }
    const auto value = static_cast<float>(sum);
    write_row(node, host_data(node), &value, work.vector);
}

void run_cumsum(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    float* room = work.room(a.ne[0]);
    const auto [first, end] = work.share(n_rows(node));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(node, r);
        const float* x = read_row(a, row_data(a, i), room, work.vector);
        auto* out = reinterpret_cast<float*>(row_data(node, i));
        double sum = 0;
        for (int64_t j = 0; j < node.ne[0]; ++j) {
            sum += x[j];
            out[j] = static_cast<float>(sum);
        }
    }
}

void run_argmax(const Work& work) {
    const Tensor& node = work.node();
    const Tensor& a = *node.src[0];
    float* room = work.room(a.ne[0]);
    auto* out = host_data_as<int32_t>(node);
    const auto [first, end] = work.share(a.ne[1]);
    for (int64_t r = first; r < end; ++r) {
        const float* x = read_row(a, row_data(a, {r, 0, 0}), room, work.vector);
        out[r] = int_of(std::max_element(x, x + a.ne[0]) - x);
    }
}

void run_argsort(const Work& work) {
    const Tensor& node = work.node();
    sorted_rows(work, node.ne[0], params_of<Op::ARGSORT>(node).descending != 0, [&](const RowIndex& i, const int32_t* ids) {
        std::copy(ids, ids + node.ne[0], reinterpret_cast<int32_t*>(row_data(node, i)));
    });
}

void run_top_k(const Work& work) {
    const Tensor& node = work.node();
    sorted_rows(work, node.ne[0], true, [&](const RowIndex& i, const int32_t* ids) {
        std::copy(ids, ids + node.ne[0], reinterpret_cast<int32_t*>(row_data(node, i)));
    });
}

Answer supports_float_source(const Tensor& node) {
    return is_float(node.src[0]->type) ? yes : Answer::no(Refusal::type, "source 0 is not of a float type");
}

constexpr CpuOperator reduce_entries[] = {
    {Op::SUM_ROWS, "sum_rows", floats_only, run_sum_rows},
    {Op::SUM, "sum", floats_only, run_sum},
    {Op::MEAN, "mean", floats_only, run_mean},
    {Op::CUMSUM, "cumsum", f32_rows, run_cumsum},
    {Op::ARGMAX, "argmax", supports_float_source, run_argmax},
    {Op::ARGSORT, "argsort", supports_float_source, run_argsort},
    {Op::TOP_K, "top_k", supports_float_source, run_top_k},
};

} // namespace

std::span<const CpuOperator> reduce_operators() noexcept { return reduce_entries; }

} // namespace schedscope::cpu
