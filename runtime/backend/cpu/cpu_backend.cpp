#include "runtime/backend/cpu/cpu_backend.h"

#include "runtime/backend/cpu/kernels/fused_kernels.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/backend/cpu/kernels/product_rows.h"
#include "runtime/backend/cpu/lap_clock.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/backend/op_cost.h"
#include "runtime/backend/order/fusion.h"
#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <optional>

namespace schedscope::cpu {

namespace {

/// Waking a thread costs some microseconds: what nodes move or compute must be worth it.
int worthwhile_threads(std::span<Tensor* const> nodes, int available) {
    constexpr int64_t work_per_thread = 32 * 1024;
    int64_t work = 0;
    for (const Tensor* node : nodes) {
        work += is_view_op(node->op) ? 0 : std::max(n_elements(*node), op_flops(*node) / 4);
    }
    return int_of(std::clamp<int64_t>(work / work_per_thread, 1, available));
}

bool is_product(const Tensor& node) noexcept { return node.op == Op::MUL_MAT || node.op == Op::MUL_MAT_ID; }

} // namespace

CpuBackend::CpuBackend(Device& device, const BackendOptions& options, const VectorOps& vector)
    : device_(device), name_(options.name.empty() ? std::string(device.name()) : options.name), fusion_(options.fusion),
      products_(options.products), vector_(vector), multiplies_laid_out_(multiplies_laid_out(products_, vector)),
      pool_(threads_of(options)), scratch_(pool_->n_threads()) {}

void CpuBackend::optimise(SplitGraph& split) {
    if (fusion_) {
        find_groups(split, fused_kernels());
    }
}

/// in_bf16: some columns were multiplied so; of experts that depends on how many tokens each got.
std::string_view CpuBackend::name_of(const KernelEntry& kernel, std::span<Tensor* const> nodes, bool in_bf16) const {
    const bool is_int8 = std::any_of(nodes.begin(), nodes.end(), [this](const Tensor* node) {
        return is_product(*node) && in_whole_numbers(products_, vector_, node->src[0]->type);
    });
    return is_int8 ? name_with(kernel.name, "_int8") : in_bf16 ? name_with(kernel.name, "_bf16") : kernel.name;
}

/// Columns of a product that are worth it are rounded by all threads, once for all products that multiply with them.
void CpuBackend::round_columns(std::span<Tensor* const> nodes, int n_parts) {
    constexpr int64_t worth_it = 32 * 1024, at_once = 8; // elements, columns
    const auto found = std::find_if(nodes.begin(), nodes.end(), [](const Tensor* node) { return is_product(*node); });
    if (found == nodes.end()) {
        return;
    }
    const Tensor &weights = *(*found)->src[0], &b = *(*found)->src[1];
    const int64_t n = n_rows(b), matrices = (*found)->op == Op::MUL_MAT ? b.ne[2] * b.ne[3] : b.ne[3];
    const bool evenly = matrices == 1 && (b.ne[2] == 1 || b.nb[2] == b.ne[1] * b.nb[1]);
    const std::optional<Rounding> rounding = rounding_for(products_, vector_, weights, most_columns(**found));
    if (!rounding || n == 1 || n_elements(b) < worth_it || !is_plain(b) || !evenly || columns_.has(b, *rounding)) {
        return;
    }
    const RoundedColumns rounded = columns_.make(b, *rounding);
    Common common{.floats = common_floats_, .columns = columns_};
    pool_->run(n_parts, [&](int part) {
        const Work work{nodes, part, n_parts, vector_, products_, scratch_[part], common};
        work.each_stretch(n, at_once, [&](int64_t first, int64_t end) {
            rounded.round(vector_, host_data_as<const float>(b), static_cast<int64_t>(b.nb[1] / sizeof(float)), first, end);
        });
    });
}

/// What is laid out has no rows for other operators, and products of other kinds than it was laid out for would read past its
/// end.
void CpuBackend::require_readable(const Tensor& node) const {
    for (const Tensor* const source : node.src) {
        if (source == nullptr || repacked_data(*source) == nullptr) {
            continue;
        }
        const bool is_weight = node.op == Op::MUL_MAT && source == node.src[0] && source->view_source == nullptr;
        if (!is_weight || (!is_float(source->type) && !multiplies_laid_out_)) {
            throw Error(ErrorKind::usage, std::string(name_) + ": '" + source->name + "' is laid out for other products than " +
                                              std::string(op_name(node.op)) + " computes here");
        }
    }
}

bool CpuBackend::run(std::span<Tensor* const> nodes, Kernel kernel) {
    for (const Tensor* node : nodes) {
        require_readable(*node);
    }
    const int n = worthwhile_threads(nodes, pool_->n_active());
    round_columns(nodes, n);
    Common common{.floats = common_floats_, .columns = columns_};
    pool_->run(n, [&](int part) { kernel({nodes, part, n, vector_, products_, scratch_[part], common}); });
    for (const Tensor* node : nodes) {
        columns_.written(*node);
    }
    return common.in_bf16;
}

void CpuBackend::compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) {
    const BoundThread bound(pool_->processors());
    columns_.forget(); // others have written since
    const std::span<Tensor* const> nodes(split.nodes);
    auto group =
        std::find_if(split.groups.begin(), split.groups.end(), [first](const FusionGroup& g) { return g.first >= first; });
    const bool timed = log != nullptr && log->timed;
    const size_t n_before = log != nullptr ? log->kernels.size() : 0;
    std::optional<LapClock> laps;
    if (timed) {
        laps.emplace();
    }
    int64_t start = timed ? laps->begin() : 0;
    for (int32_t i = first; i < first + count;) {
        const Tensor& node = *nodes[i];
        const CpuOperator* entry = find_operator(node.op);
        KernelEntry kernel = entry != nullptr ? KernelEntry{kernel_name(*entry, node), entry->run} : KernelEntry{};
        int32_t n = 1;
        if (group != split.groups.end() && group->first == i) {
            const bool whole = i + group->count <= first + count;
            if (whole && group_is_safe(nodes.subspan(i, group->count))) {
                kernel = {group->kernel, fused_kernel(group->kernel)};
                n = group->count;
            }
            ++group;
        }
        if (kernel.run != nullptr) {
            const bool in_bf16 = run(nodes.subspan(i, n), kernel.run);
            if (log != nullptr) { // one begins where the one before it ended: one look at the clock for both
                const int64_t end = timed ? LapClock::ticks() : 0;
                log->kernels.push_back({i, n, name_of(kernel, nodes.subspan(i, n), in_bf16), start, end});
                start = end;
            }
        } else if (is_computed(node.op)) {
            throw Error(ErrorKind::device, std::string(name_) + ": there is no kernel for " + std::string(op_name(node.op)));
        }
        i += n;
    }
    if (timed) {
        laps->to_ns(std::span(log->kernels).subspan(n_before));
    }
}

} // namespace schedscope::cpu
