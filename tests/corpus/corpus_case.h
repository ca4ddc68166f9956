#pragma once

#include "runtime/planner/graph_view.h"
#include "runtime/planner/records.h"

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The recorded decisions of ggml: cases of the corpus, decoded.
namespace schedscope::corpus {

using OpSet = std::bitset<static_cast<size_t>(Op::count)>;

/// A backend that answers by lists.
struct MockBackend {
    std::string name;
    BufferTypeId buffer_type = 0;
    OpSet ops;
    std::vector<std::pair<Op, Type>> refuses; ///< operator with this type of source 0
    std::vector<uint8_t> uses;                ///< [n_buffer_types]
    OpSet offload_ops;
    int64_t offload_min_batch = 0;
};

struct Row {
    struct Split {
        int backend = 0, first = 0, end = 0;
        std::vector<TensorId> inputs;
        std::string why;
        bool operator==(const Split&) const = default;
    };
    struct Rewired {
        int node = 0, source = 0, original = 0, backend = 0, copy = 0;
        bool operator==(const Rewired&) const = default;
    };
    struct Copies {
        int of = 0, backend = 0;
        std::vector<std::string> names; ///< by stage; empty: the original itself
        bool operator==(const Copies&) const = default;
    };
    struct Placed {
        std::string tensor; ///< a reference
        int backend = 0, chunk = 0;
        int64_t offset = 0, bytes = 0;
        bool operator==(const Placed&) const = default;
    };
};

/// Where the memory of a graph was planned: its copy and the offsets. References: "7", "d7", "c7.1.0".
struct PlannedPlaces {
    std::vector<std::string> nodes, leafs;
    std::string node_backends, leaf_backends;
    std::string reserve;                       ///< none | needs_realloc | backend_changed
    std::vector<std::vector<int64_t>> buffers; ///< [n_backends][chunk]
    std::vector<Row::Placed> tensors;
};

/// What was decided in one round. Backend maps: one character per tensor, a hex digit or '.'.
struct Outcome {
    std::string error, where;                  ///< empty error: planned
    std::map<std::string, std::string> passes; ///< map after each pass or sweep
    std::vector<std::string> causes;
    std::string assign;
    std::vector<Row::Split> splits;
    std::vector<Row::Rewired> rewired;
    std::vector<Row::Copies> copies; ///< by tensor, then backend
    std::vector<TensorId> graph_inputs;
    std::optional<PlannedPlaces> allocation;
};

struct Round {
    std::optional<OwnedGraph> graph; ///< none: the case's
    bool synchronise_before = false;
    int current_stage = 0;
    bool has_causes_and_passes = false;
    Outcome expected;
};

struct Case {
    std::string name;
    SessionInfo session; ///< buffer types and backends' names
    std::vector<MockBackend> backends;
    bool op_offload = true, allocates = false;
    int n_stages = 1;
    OwnedGraph graph;
    std::vector<Round> rounds; ///< the first one is the line's `expected`
    int error_round = -1;      ///< the round in which the only outcome, an error, is expected; −1: none
};

} // namespace schedscope::corpus
