#pragma once

#include "traces/history/history.h"

#include <optional>
#include <string>
#include <vector>

/// A state as flat rows, against which tests hold what the faces show.
namespace schedscope::test {

struct AssignmentRow {
    TensorId id = no_tensor;
    std::string name;
    std::string op, type; ///< "?": not known
    std::optional<Shape> ne;
    BackendId backend = no_backend;
    std::string cause; ///< "1.wgt0"; empty: none
    std::optional<int32_t> split;
    std::string operation; ///< the operator's own name: "SWIGLU" of a GLU; "?": not known
};

struct SplitInputRow {
    TensorId id = no_tensor;
    std::string tensor;
    BackendId from = no_backend;
    std::optional<int64_t> bytes;
};

struct SplitRow {
    int32_t index = 0;
    BackendId backend = no_backend;
    int32_t first_node = 0, last_node = 0; ///< inclusive; last < first: no nodes
    bool nodes_known = true;
    std::optional<SplitReason> why;
    TensorId node = no_tensor; ///< that starts it; none: it has views only, or that is not known
    std::string node_name;     ///< "" for none
    std::string by;            ///< the node's source that made it so
    std::vector<SplitInputRow> inputs;
    std::optional<int64_t> time_ns;
};

struct FusionRow {
    BackendId backend = no_backend;
    std::string kernel;
    int32_t split = 0;
    std::vector<std::string> nodes;
};

struct ReorderRow {
    int32_t split = 0;
    std::vector<int32_t> order; ///< the split's nodes as they run now: indices into the graph's nodes before the reordering
};

struct NotFusedRow {
    BackendId backend = no_backend;
    std::vector<std::string> nodes;
    std::string why;
};

struct FusionRows {
    std::vector<FusionRow> fusion;
    std::vector<ReorderRow> reorders;
    std::vector<NotFusedRow> not_fused;
};

struct KernelRow {
    TensorId id = no_tensor;
    std::string node;
    int32_t split = 0, count = 1;
    BackendId backend = no_backend;
    std::string kernel;
    int64_t start_ns = 0, end_ns = 0, bytes = 0, flops = 0;
    bool device_time = false;
    bool timed = true; ///< else start and end are not known
};

struct ReuseRow {
    EvaluationId eval = 0;
    std::optional<GraphKind> kind;
    bool reused = false;
    std::optional<std::string> failed; ///< the check that failed; nothing: reused, or there was no graph before
};

/// By id; copies behind.
std::vector<AssignmentRow> assignment_rows(History& history, const PlanState& state);
std::vector<SplitRow> split_rows(History& history, const PlanState& state);
FusionRows fusion_rows(History& history, const PlanState& state);
std::vector<KernelRow> kernel_rows(History& history, const PlanState& state);
/// Of the whole trace.
std::vector<ReuseRow> reuse_rows(History& history);

} // namespace schedscope::test
