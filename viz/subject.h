#pragma once

#include "traces/history.h"
#include "viz/dot_text.h"
#include "viz/palette.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// What one picture shows: a state, and what the views look up in it. Refers to the state and graph it was made from; both must outlive it.
class Subject {
public:
    using TextOf = std::function<std::string(StringId)>;
    /// names: [n_tensors + n_copies]. moment: "evaluation 3 (decode, 1 token), after pass 2a". Throws Error(input) when the state speaks of tensors
    /// that are not there.
    Subject(const PlanState& state, const OwnedGraph& graph, const SessionInfo& session, std::vector<std::string> names,
            TextOf text_of, std::string moment);

    const PlanState& state;
    const OwnedGraph& graph;
    const SessionInfo& session;
    Palette palette;
    std::string moment;
    /// Of a sequence of pictures that share their places: this pass comes before pass 5, whose splits and copies are only told by where things stand.
    bool before_splits = false;
    bool is_frame = false;       ///< it is drawn for the places alone: boxes are as wide as they will ever be
    bool has_unassigned = false; ///< the legend names the unassigned, whether there are any here or not
    bool numbered =
        false; ///< shapes carry their tensor's id; not in texts for people, where one more node would change every line
    int heading_width = 0;             ///< points that the heading takes at least
    bool has_fusions = false;          ///< the same with what runs as one kernel
    GraphKind kind = GraphKind::other; ///< what the graph computes
    const bool from_log;               ///< only a log tells of it: "unassigned" means that the log does not tell

    int32_t n_tensors() const noexcept { return static_cast<int32_t>(graph.tensors.size()); } ///< ids from here on are copies
    int32_t n_ids() const noexcept { return static_cast<int32_t>(names_.size()); }
    bool has_splits() const noexcept { return !state.splits.empty(); }

    const std::string& name(TensorId id) const; ///< as people know it
    const std::string& id(TensorId id) const;   ///< in the dot text; unique: the n-th tensor of a name gets "@n", n > 1
    const TensorInfo& info(TensorId id) const;  ///< of a copy: its original's
    BackendId backend_of(TensorId id) const;
    std::string backend_name(BackendId id) const; ///< none: "unassigned"; "unknown" in a graph that only a log tells of
    bool is_left_out(TensorId id) const;          ///< a node that the log does not name: a view operator, or lost
    std::string text(StringId id) const { return text_of_(id); }

    /// Index in state.order; −1 for leafs and copies.
    int32_t position(TensorId id) const { return position_[static_cast<size_t>(id)]; }
    bool is_node(TensorId id) const { return position(id) >= 0; }
    bool is_weight(TensorId id) const { return !is_node(id) && info(id).usage == BufferUsage::weights; }
    /// The split whose nodes it is among; −1: none yet, or not a node.
    int32_t split_of(TensorId id) const { return split_of_[static_cast<size_t>(id)]; }
    /// One past the last node of a split, as far as known at this step.
    int32_t end_node(const SplitState& split) const;
    /// Entry of state.copies that made this tensor; null for any other.
    const record::CopyMade* made_by(TensorId id) const;

    /// Where the data of a tensor comes from: itself, or what a view op looks at.
    TensorId producer(TensorId id) const;
    /// The sources that a node reads now: copies where it was rewired. Holes left out; itself (a CAST's second source) too.
    std::vector<TensorId> sources(TensorId node) const;

    std::string operation(TensorId id) const; ///< "MUL_MAT f32 [64, 16]"
    std::string title() const; ///< the model and how it was run, from the session's facts; "" when nothing is known

private:
    std::vector<std::string> names_, ids_;
    TextOf text_of_;
    std::vector<int32_t> position_, split_of_;
    std::vector<int32_t> copy_entry_;      ///< [n_ids] index into state.copies, −1
    std::vector<int32_t> rewire_start_;    ///< [n_tensors + 1] into rewires_
    std::vector<record::Rewired> rewires_; ///< by node
};

/// Of a state and its graph as the history gives them; both, and the history, must outlive it.
Subject subject_of(History& history, const PlanState& state, const OwnedGraph& graph, std::string moment);

/// "V Vulkan0 by 2.sup (norm-3)", "unassigned".
std::string cause_text(const Subject& subject, TensorId tensor);

/// "backend changes at Qcur-3 (MUL_MAT)": why a split starts where it does.
std::string why_split_starts(const Subject& subject, const SplitState& split);

/// Title, moment and totals, then one row a backend (chip, name, what it is, `share` of it), then a row for each sign that the view uses; an HTML-like
/// table for the graph's label.
struct LegendSign {
    std::string sign, meaning;
};
std::string heading_markup(const Subject& subject, const std::string& totals, const std::vector<std::string>& shares,
                           const std::vector<LegendSign>& signs);
/// How many nodes each backend has, and one number behind: the unassigned, or those that a log leaves out.
std::vector<int64_t> nodes_per_backend(const Subject& subject);
std::vector<std::string> node_shares(const Subject& subject);

/// What passes along an edge, in two lines that keep clear of it; `amount` "": none to tell.
std::string edge_markup(const std::string& what, const std::string& amount);

/// The attributes that every picture has: fonts, colours, the heading as label.
Attributes picture_attributes(const std::string& heading);

// Views; each returns the finished text.
std::string draw_splits(const Subject& subject);
std::string draw_layers(const Subject& subject);
std::string draw_nodes(const Subject& subject);
/// buffers: the compute buffers in force.
std::string draw_memory(const Subject& subject, std::span<const record::BufferSize> buffers);

} // namespace schedscope
