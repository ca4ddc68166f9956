#pragma once

#include "inspector/tui/background/comparison_run.h"
#include "inspector/tui/background/lever_run.h"
#include "inspector/tui/background/live_program.h"
#include "inspector/tui/state/breakpoints.h"
#include "inspector/tui/state/same_place.h"
#include "runtime/numbers.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/history.h"
#include "viz/query/describer.h"
#include "viz/query/known_words.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace schedscope::tui {

using query::Describer;
using query::Facts;
using query::Field;
using query::left_out_name;
using query::Query;

/// What is being looked at: a step of a history, and a selected tensor. Knows no terminal. Functions that move return a sentence
/// for the status line: what the step changed, or why there is nothing to go to.
class InspectorSession {
public:
    using Unit = History::Unit;

    /// Opens at the end of History::opening(); attached to a running program, at its newest record.
    /// `gate` is borrowed; null for a recorded trace. `ended_fd`: readable once the program has ended; −1: that isn't told.
    InspectorSession(std::shared_ptr<const RecordSource> source, LiveGate* gate, int ended_fd = -1);

    // Where it stands
    History& history() noexcept { return history_; }
    const History& history() const noexcept { return history_; }
    std::shared_ptr<const RecordSource> shared_source() const noexcept { return source_; }
    Describer& describer() noexcept { return describer_; }
    /// What can be asked for here. Of a running program, and beside another trace, there may be more than is known: what may be
    /// among it is left out.
    query::KnownWords known_words() const;
    /// Throws Error(usage) for what is no query, or can match nothing.
    Query query(std::string_view text) const;
    /// Why no record that the query matches ever comes, and what to do instead: "which tokens were sampled is unknown: this trace
    /// has no tokens; `instead_of_tokens`". Nothing: one may come.
    std::optional<std::string> why_never_met(const Query& query, std::string_view instead_of_tokens) const;
    /// Stays as it is while the history is asked other things. Where an evaluation begins and its plan does not yet, that plan's
    /// graph, nothing of which has a backend.
    const PlanState& state() const noexcept { return state_; }
    const OwnedGraph* graph() const noexcept { return graph_; } ///< null: nothing planned yet
    Step step() const noexcept { return state_.step; }
    Step last_step() const { return history_.n_steps() - 1; }
    const Record& record() const noexcept { return record_; } ///< at the step; nothing is recorded: an empty one
    bool at_newest() const { return step() >= last_step(); }
    /// That it is attached to; null: a recorded trace.
    LiveProgram* program() noexcept { return program_ ? &*program_ : nullptr; }
    const LiveProgram* program() const noexcept { return program_ ? &*program_ : nullptr; }
    bool running() const { return program_ && program_->goes(); }
    bool runs_free() const { return program_ && program_->state() == LiveProgram::State::running; } ///< it is not stepped
    /// Also what only says that something is not known.
    bool shows_unknown() const noexcept { return shows_unknown_; }
    void show_unknown(bool shown) noexcept {
        shows_unknown_ = shown;
        ++version_;
    }
    uint64_t version() const noexcept { return version_; } ///< another number when anything here changed

    // Moving
    /// At the end of a pass, what it changed is marked; elsewhere, what changed on the way. unit pass: of pass 2 what all of its
    /// sweeps changed.
    std::string go(Step step, Unit unit = Unit::sweep);
    /// unit token, of a trace or program that doesn't say which tokens it chose: to the next evaluation that is no reserve.
    std::string move(Unit unit, bool forward);
    std::string change_of_selected(bool forward);
    /// To the same place of another evaluation (same_place.h); to the beginning of the one that is shown.
    std::string go_evaluation(EvaluationId id);
    std::string go_pass(Pass pass, Unit unit = Unit::sweep); ///< to its end
    /// The program goes on until it is held; its newest record is shown then.
    void let_run();
    void hold(); ///< at its next record
    /// The program was held, or let go: when the newest record was looked at, the newest one is shown now.
    std::string refresh();
    /// While it runs and is followed: what is complete of it is shown.
    void follow_run();
    bool follows_run() const noexcept { return follows_; } ///< what comes is shown as it comes
    void stop_following() noexcept { follows_ = false; }
    std::string follow_newest(); ///< goes to what is newest, and follows the run from there

    // The selected tensor, the same in all views
    TensorId selected() const noexcept { return selected_; }
    void select(TensorId id);
    bool follow = true; ///< single steps select the tensor they are about

    // Breakpoints: every step and run stops at what they match
    const Breakpoints& breakpoints() const noexcept { return breakpoints_; }
    /// change(Breakpoints&); a running program stops at what is enabled then.
    template <class Change> void change_breakpoints(Change&& change) {
        change(breakpoints_);
        watch_for_breakpoints();
    }
    /// Of a running program that is held at a breakpoint: "breakpoint 2: ", or, where a step ends there that was to go on,
    /// "breakpoint 2 stopped the step: ".
    std::string breakpoint_met() { return breakpoint_at(last_step(), cut_short_); }

    // Running to the next one, in slices so that the keyboard is never left waiting. Forward, a held program goes on where what
    // is recorded ends.
    void start_scan(bool forward);
    bool scanning() const noexcept { return scan_.has_value(); }
    void stop_scan() noexcept { scan_.reset(); }
    /// Looks at some thousand records. A sentence when it is over.
    std::optional<std::string> scan_slice();
    Step scan_position() const noexcept { return scan_ ? scan_->at : no_step; }

    // Planning again with other settings, or another trace beside this one
    const ComparisonRun& comparison() const noexcept { return comparison_; }
    void start_what_if(const std::string& settings);
    void plan_again_with(BackendKnowledge backends) { backends_ = std::move(backends); } ///< for what-ifs
    void start_diff(const std::string& path);
    void stop_comparison();          ///< only while it runs
    std::string finish_comparison(); ///< when its descriptor is readable
    /// The tensor of the present plan that a row of it is about: the selected one, if it is one of them, or the first.
    TensorId member_here(const Comparison::Row& row) const noexcept;

    // What would put a tensor of this plan elsewhere
    /// In words, once it is found in the background; null: not yet. Of a plan that a program is held in, too.
    const std::vector<std::string>* otherwise(TensorId id);
    int levers_descriptor() const noexcept { return levers_.descriptor(); }
    void finish_levers(); ///< when that is readable

    // What the views share
    /// Nodes in the present order, leafs, others, copies.
    const std::vector<TensorId>& tensors() const noexcept { return tensors_; }
    int row_of(TensorId id) const noexcept;          ///< index into `tensors`; −1
    std::span<const TensorId> users_of(TensorId id); ///< nodes that have it as a source
    bool is_copy(TensorId id) const noexcept;
    /// The record at this step is about it, or it is one of `changed`.
    bool changed_now(TensorId id) const noexcept;
    /// The backend that it had before it changed; the present one where it has not.
    BackendId was(TensorId id) const noexcept;
    /// At the end of a pass, the tensors that it gave a backend or a rule; elsewhere, those that have others than before the last
    /// move. Their backends before.
    const accounts::ChangedTensors& changed() const noexcept { return changed_; }
    int n_changed() const noexcept { return n_of(changed_.ids()); }
    bool knows(Topic topic) const noexcept { return history_.knows(topic); }
    /// Why nothing can be planned again; nothing: it can.
    std::optional<std::string> why_no_what_if() const;
    const record::CopyMade* copy(TensorId id) const noexcept;
    const TensorInfo& info(TensorId id) const { return history_.tensor(state_, id); } ///< of a copy: its original's
    std::string name(TensorId id) const;
    std::string backend_name(BackendId id) const; ///< of none: "-", or "?" where not all assignments are known
    int n_backends() const noexcept { return n_of(history_.session().backends); }

private:
    void step_program(Unit unit);
    bool is_reserve(EvaluationId id) const;
    std::string breakpoint_at(Step step, bool cut_short);
    std::string move_evaluation(bool forward, bool past_reserves);
    SamePlace place_in(Step from, EvaluationId id);
    bool seek();
    bool executes(const Record& record);
    void watch_for_breakpoints();
    std::string go_unless_met(Step to, Unit unit, std::function<std::string()> go_there);
    void show(Step step);
    std::string told(const accounts::PassWork& work);
    void find_changes(const std::vector<TensorState>& before);
    void follow_change();

    struct Scan {
        Breakpoints::Watch watch;
        std::string until;
        bool forward = true;
        Step at = no_step; ///< next one to look at
        // Of a step: where it leads unless a breakpoint is met before.
        Step to = no_step;
        Unit unit = Unit::sweep;
        std::function<std::string()> go_there = {};
    };

    std::shared_ptr<const RecordSource> source_;
    History history_;
    Describer describer_{history_};
    std::optional<LiveProgram> program_;
    bool follows_ = true; ///< the newest record was looked at, or waited for
    /// The program is run to the end of this pass in the next evaluation.
    struct Sought {
        EvaluationId behind;
        Pass pass;
        bool past_reserves; ///< the next one that is no reserve
    };
    std::optional<Sought> sought_;
    bool cut_short_ = false;  ///< the program was held at a breakpoint before where it was stepped to
    Unit unit_ = Unit::sweep; ///< what led to the step that is shown, or leads to the next one
    /// Where a way from evaluation to evaluation began: each one is shown as that one was, and the way back leads there.
    struct Origin {
        Step step = no_step, reached = no_step;
    };
    Origin origin_;
    PlanState state_;
    accounts::ChangedTensors changed_;
    Record record_; ///< at the step
    const OwnedGraph* graph_ = nullptr;
    TensorId selected_ = no_tensor;
    bool shows_unknown_ = false;
    uint64_t version_ = 1;
    Breakpoints breakpoints_;
    std::optional<Scan> scan_;
    BackendKnowledge backends_;
    ComparisonRun comparison_;
    LeverRun levers_;
    std::vector<TensorId> tensors_;
    std::vector<int32_t> rows_; ///< [tensor] index into tensors_
    const OwnedGraph* users_graph_ = nullptr;
    std::vector<int32_t> users_begin_; ///< [n_tensors + 1] index into users_
    std::vector<TensorId> users_;
};

} // namespace schedscope::tui
