#pragma once

#include "runtime/planner/plan.h"
#include "runtime/planner/records.h"
#include "traces/import/backend_names.h"
#include "traces/import/scheduler_line.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedscope::import {

/// One graph as far as a log tells: what was read becomes tensors, edges, splits and copies under the graph's own ids.
///
/// Nodes that the log leaves out (view operators) are nodes without a name, so that every node keeps its number. A source that is
/// no node of the log is neither node nor leaf: it may be a view.
struct LoggedGraph {
    struct Placed {
        BackendId backend = no_backend;
        std::optional<Cause> cause;
        int8_t source = -1;
        std::optional<TensorId> by;
    };
    struct InputOfSplit {
        TensorId tensor = no_tensor, first_reader = no_tensor;
        int32_t copy = -1; ///< index into copies
        std::optional<int64_t> bytes;
        bool makes_copy = false; ///< an earlier split on the same backend made it otherwise
    };
    struct OneSplit {
        BackendId backend = no_backend; ///< none: the log lacks this split
        std::optional<SplitReason> why; ///< nothing: the backend goes on, and the log does not show why it is another split
        TensorId node = no_tensor, by = no_tensor;
        int32_t first_node = 0, end_node = 0; ///< the same: the log shows no nodes
        std::vector<InputOfSplit> inputs;
        int32_t n_inputs = 0; ///< as announced; the log may lack some
    };
    struct OneCopy {
        TensorId of = no_tensor;
        BackendId backend = no_backend;
        std::optional<int64_t> bytes;
    };
    struct Rewiring {
        TensorId node = no_tensor;
        int32_t source = 0, copy = 0;
    };

    OwnedGraph graph;
    std::vector<Placed> placed;                ///< by tensor
    std::vector<std::optional<int64_t>> bytes; ///< by tensor, rounded down as logged
    std::vector<OneSplit> splits;
    std::vector<OneCopy> copies;
    std::vector<Rewiring> rewires;
    std::optional<GraphKind> kind;   ///< as far as sizes tell
    std::optional<int32_t> n_tokens; ///< the same
    std::optional<int16_t> stage;    ///< of its copies; nothing: there is no whole name of a copy

    bool ends_early = false;   ///< the last node is read by others that are not there, or the last split has none
    bool lacks_splits = false; ///< headers of splits are not there
    int32_t n_lost_inputs = 0; ///< announced and not there
    bool has_nodes = false;
};

/// Reads the lines of one graph after the other.
class LoggedGraphBuilder {
public:
    /// `name_width`: names on node lines are cut to so many bytes. `spare`: how many nodes and splits may be taken to be there
    /// without a line of their own, in the whole log; it is used up. A graph gets no such ones beyond `most_tensors` tensors and
    /// splits.
    LoggedGraphBuilder(const BackendNames& backends, size_t name_width, int64_t most_tensors, int64_t& spare);

    /// Does this line belong to the next graph? The split counter returns to 0, node numbers go back where the header is lost.
    bool begins_next_graph(const LoggedSplit& split) const noexcept;
    bool begins_next_graph(const LoggedNode& node) const noexcept;
    /// False: its number is beyond belief, or it can't be placed.
    bool add(const LoggedSplit& split);
    bool add(const LoggedNode& node);

    size_t size() const noexcept { return g_.graph.tensors.size() + g_.splits.size(); } ///< tensors and splits so far
    bool empty() const noexcept { return g_.splits.empty() && g_.graph.nodes.empty(); }
    bool last_op_unknown() const noexcept;    ///< of the node added last
    bool last_cause_unknown() const noexcept; ///< the same
    LoggedGraph finish();

private:
    /// What tells tensors of the same name apart.
    struct Seen {
        std::string name; ///< as its line had it
        std::optional<int64_t> bytes;
        std::string backend, cause;
        bool in_full = false;
    };
    bool has_room_for(int64_t missing) const noexcept;
    TensorId make(const LoggedTensor& tensor, bool in_full);
    TensorId source_of(const LoggedTensor& source);
    TensorId input_of(const LoggedInput& input, BackendId reader);
    int32_t copy_of(const LoggedTensor& source);
    std::string key(std::string_view name) const { return std::string(name.substr(0, name_width_)); }
    std::string copy_key(BackendId backend, std::string_view name) const;
    void place(TensorId id, const LoggedTensor& tensor, BackendId sure);
    void explain_split(size_t index);
    void count_tokens();
    void fill_nodes(int64_t until);

    const BackendNames& backends_;
    size_t name_width_;
    int64_t most_tensors_;
    int64_t& spare_;
    LoggedGraph g_;
    std::vector<Seen> seen_; ///< by tensor
    std::unordered_map<std::string, std::vector<TensorId>> by_name_;
    struct CopyInput {
        int32_t split, input;
    };
    std::unordered_map<std::string, std::vector<CopyInput>> by_copy_name_;
    TensorId reading_ = no_tensor; ///< the node whose line is being read
    int32_t uses_of_last_ = -1;
};

} // namespace schedscope::import
