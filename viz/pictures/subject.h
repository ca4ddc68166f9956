#pragma once

#include "runtime/numbers.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/history.h"
#include "viz/pictures/palette.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// What a picture has in common with the others of a sequence, so that nothing moves from one to the next. A picture by itself
/// has none of it.
struct SequenceFrame {
    bool is_widest = false;      ///< it is laid out for the places alone: boxes are as wide as they will ever be
    bool before_splits = false;  ///< it shows a pass before pass 5: splits and copies are only told by where things stand
    bool has_unassigned = false; ///< the legend names the unassigned, whether there are any here or not
    bool has_fusions = false;    ///< the legend names what runs as one kernel, whether there is any here or not
    int heading_width = 0;       ///< points that the heading takes at least
    bool in_sequence = false;
};

/// What one picture shows: a state, and what the views look up in it. Refers to the state and graph it was made from; both must
/// outlive it.
class Subject {
public:
    using TextOf = std::function<std::string(StringId)>;
    /// names: [n_tensors + n_copies]. moment: "evaluation 3 (decode, 1 token), after pass 2a". Throws Error(input) when the state
    /// speaks of tensors that are not there.
    Subject(const PlanState& state, const OwnedGraph& graph, const SessionInfo& session, std::vector<std::string> names,
            TextOf text_of, std::string moment);

    const PlanState& state;
    const OwnedGraph& graph;
    const SessionInfo& session;
    Palette palette;
    std::string moment;
    SequenceFrame frame;
    bool heading = true; ///< none in a picture for programs, of which plans that look alike share one
    /// Shapes carry ids, see numbered() of shared_attributes.h; not in texts for people, where one more node would change every
    /// line.
    bool numbered = false;
    Step changed_from =
        no_step; ///< what changed at this step or later is marked: where the pass begins that is shown; no_step: nothing is
    accounts::ChangedTensors changed; ///< in that pass, each with where it was before
    std::optional<GraphKind> kind;    ///< what the graph computes

    int32_t n_tensors() const noexcept { return n_of(graph.tensors); } ///< ids from here on are copies
    int32_t n_ids() const noexcept { return n_of(names_); }
    bool has_splits() const noexcept { return !state.splits.empty(); }

    const std::string& name(TensorId id) const; ///< as people know it
    const std::string& id(TensorId id) const;   ///< in the dot text; unique: the n-th tensor of a name gets "@n", n > 1
    const TensorInfo& info(TensorId id) const;  ///< of a copy: its original's
    BackendId backend_of(TensorId id) const;
    /// Does the trace have every assignment? Else a tensor without one may have been assigned.
    bool all_assigned_known() const noexcept { return session.knows.has(Topic::passes); }
    std::string backend_name(BackendId id) const; ///< none: "unassigned", or "unknown" where not all assignments are known
    bool is_changed(TensorId id) const { return changed_from != no_step && state.tensors[id].changed >= changed_from; }
    /// Before the name of a tensor; the room for it, too, where a picture is laid out for a sequence.
    std::string mark(TensorId id) const { return frame.is_widest || is_changed(id) ? "● " : ""; }
    bool is_left_out(TensorId id) const; ///< a node of which nothing is known
    bool is_view_op(TensorId id) const;
    std::string text(StringId id) const { return text_of_(id); }

    /// Index in state.order; −1 for leafs and copies.
    int32_t position(TensorId id) const { return position_[id]; }
    bool is_node(TensorId id) const { return position(id) >= 0; }
    bool is_weight(TensorId id) const { return !is_node(id) && info(id).usage == BufferUsage::weights; }
    /// The split whose nodes it is among; −1: none yet, or not a node.
    int32_t split_of(TensorId id) const { return split_of_[id]; }
    /// One past the last node of a split, as far as known at this step.
    int32_t end_node(const SplitState& split) const;
    /// Entry of state.copies that made this tensor; null for any other.
    const record::CopyMade* made_by(TensorId id) const;

    /// Where the data of a tensor comes from: itself, or what a view op looks at.
    TensorId producer(TensorId id) const;
    /// The sources that a node reads now: copies where it was rewired. Holes left out; itself (a CAST's second source) too.
    std::vector<TensorId> sources(TensorId node) const;

    std::string operation(TensorId id) const; ///< "MUL_MAT f32 [64, 16]"
    std::string title() const;                ///< run_title

private:
    std::vector<std::string> names_, ids_;
    TextOf text_of_;
    std::vector<int32_t> position_, split_of_;
    std::vector<int32_t> copy_entry_;      ///< [n_ids] index into state.copies, −1
    std::vector<int32_t> rewire_start_;    ///< [n_tensors + 1] into rewires_
    std::vector<record::Rewired> rewires_; ///< by node
};

/// The model and how it was run, from the session's facts, for a graph of this kind; "" when nothing is known.
std::string run_title(const SessionInfo& session, std::optional<GraphKind> kind);

/// Of a state and its graph as the history gives them; both, and the history, must outlive it.
Subject subject_of(History& history, const PlanState& state, const OwnedGraph& graph, std::string moment);

} // namespace schedscope
