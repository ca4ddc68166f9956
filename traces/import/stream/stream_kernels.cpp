#include "traces/import/stream/stream_kernels.h"

#include "runtime/numbers.h"
#include "runtime/system/budget.h"

#include <utility>

namespace schedscope::import {

namespace {

constexpr int64_t most_kernels = budget::log_graph_tensors; ///< of one piece; of the lists that are held

} // namespace

void StreamKernels::put(EvaluationId evaluation, std::optional<int64_t> time_ns, const Fact& fact) {
    if (const auto* kernel = std::get_if<record::Execute>(&fact)) {
        take(evaluation, time_ns, *kernel);
    } else if (const auto* run = std::get_if<record::SplitRun>(&fact)) {
        take(evaluation, time_ns, *run);
    } else {
        end();
        sink_.put(evaluation, time_ns, fact);
    }
}

/// A kernel, or the split that kernels were of.
template <typename T> void StreamKernels::take(EvaluationId evaluation, std::optional<int64_t> time_ns, const T& f) {
    constexpr bool is_kernel = std::is_same_v<T, record::Execute>;
    const bool timed = is_kernel ? f.start_ns != unknown_time && f.end_ns != unknown_time : f.start_ns && f.end_ns;
    bool goes_on = evaluation == evaluation_ && f.split == piece_.split && f.backend == piece_.backend;
    if constexpr (is_kernel) {
        goes_on = goes_on && f.device_time == piece_.device_time && timed != times_.empty();
    } else {
        goes_on = goes_on && (timed || times_.empty());
    }
    if (!goes_on || std::ssize(kernels_) == most_kernels) {
        end();
    }
    evaluation_ = evaluation;
    time_ns_ = time_ns;
    piece_.split = f.split;
    piece_.backend = f.backend;
    if constexpr (is_kernel) {
        piece_.device_time = f.device_time;
        kernels_.push_back({f.first, f.last, f.count, f.kernel, f.bytes, f.flops});
        if (timed) {
            times_.push_back({f.start_ns, f.end_ns});
        }
    } else {
        piece_.start_ns = timed ? f.start_ns : std::nullopt;
        piece_.end_ns = timed ? f.end_ns : std::nullopt;
        give();
    }
}

void StreamKernels::end() {
    if (kernels_.empty()) {
        return;
    }
    piece_.last = times_.empty();
    if (!times_.empty()) {
        piece_.start_ns = times_.front().start_ns;
        piece_.end_ns = times_.back().end_ns;
    }
    give();
}

void StreamKernels::give() {
    if (!kernels_.empty()) {
        if (n_listed_ > most_kernels) {
            lists_.clear();
            n_listed_ = 0;
        }
        std::shared_ptr<const KernelList>& list = lists_[piece_.split];
        if (list == nullptr || *list != kernels_) {
            n_listed_ += std::ssize(kernels_);
            list = std::make_shared<const KernelList>(std::move(kernels_));
        }
        piece_.kernels = list;
        piece_.count = n_of(*list);
        piece_.times = times_;
    }
    sink_.put(evaluation_, time_ns_, piece_);
    kernels_.clear();
    times_.clear();
    piece_ = {};
}

} // namespace schedscope::import
