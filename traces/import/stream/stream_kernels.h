#pragma once

#include "traces/import/import_sink.h"

#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace schedscope::import {

/// What a kernel has for a time that is not known.
constexpr int64_t unknown_time = std::numeric_limits<int64_t>::min();

/// Kernels come one by one; a trace keeps those of a split that follow each other in one piece, with the split where that comes
/// next.
class StreamKernels {
public:
    explicit StreamKernels(ImportSink& sink) : sink_(sink) {}

    /// A fact in its place: kernels and splits make pieces, all others go on.
    void put(EvaluationId evaluation, std::optional<int64_t> time_ns, const Fact& fact);
    /// What waits goes on without its split; kernels that were not timed are then all that is known of that.
    void end();

private:
    template <typename T> void take(EvaluationId evaluation, std::optional<int64_t> time_ns, const T& f);
    void give();

    ImportSink& sink_;
    EvaluationId evaluation_ = 0;
    std::optional<int64_t> time_ns_;
    SplitPart piece_;
    KernelList kernels_;
    std::vector<KernelSpan> times_;                              ///< of each; none: they were not timed
    std::map<int32_t, std::shared_ptr<const KernelList>> lists_; ///< the last of each split: a plan that runs again has the same
    int64_t n_listed_ = 0;                                       ///< kernels of lists that were put there
};

} // namespace schedscope::import
