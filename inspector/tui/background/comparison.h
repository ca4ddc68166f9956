#pragma once

#include "traces/diff/diff.h"
#include "traces/replay/what_if.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// Two ways of planning the same graphs, side by side: as recorded and with other settings, or this trace and another one. Plain
/// texts, ready to be shown.
struct Comparison {
    /// How much of something there is, left and right.
    struct Figure {
        std::string name, left, right; ///< "" on a side: not known there, or there is none
        bool verdict = false;          ///< about the whole: is there a plan, does its memory fit
        bool bad = false;              ///< the right one: there is none, or it does not
        std::string brief = {};        ///< the right one where it has little room: "1.2 GiB too much"; empty: as it is
        std::string left_brief = {};   ///< the same of the left one
        bool differs() const noexcept { return left != right; }
    };
    /// What one plan comes to.
    struct ComparedPlan {
        EvaluationId evaluation = -1; ///< of this trace
        std::string title;            ///< "evaluation 1, decode of 1 token"
        std::vector<Figure> figures;
    };
    /// A tensor of this trace that a row is about.
    struct Member {
        EvaluationId evaluation = -1; ///< whose graph has it; −1: it is only in the other one
        TensorId tensor = no_tensor;
        std::string said; ///< of it alone, where a row tells several of which something else is said each; else empty
    };
    /// A decision that is not the same, or several that are told together.
    struct Row {
        EvaluationId evaluation = -1; ///< of this trace; −1: only the other one has it
        std::vector<Member> members;  ///< none: it is about no tensor of this trace
        std::string what, name, left, right;
        int64_t n = 1;                                    ///< how many are told together, of each of its evaluations
        std::string names;                                ///< of all of those; empty: `name` is it
        std::string note;                                 ///< more, for the details
        std::optional<int64_t> left_number, right_number; ///< where the texts stand for one
        std::string evaluations;                          ///< "evaluations 0, 2: decode, 1 token"; empty: the one above
    };

    std::string title;             ///< "what if ngl=20", "diff other.trace"
    std::string left, right;       ///< heads of the two columns
    std::vector<Figure> settings;  ///< of the two sessions, that both know and that differ
    std::vector<Figure> one_sided; ///< that only one of them knows
    std::vector<ComparedPlan> plans;
    std::vector<Row> rows;
    int64_t n_differences = 0;        ///< rows holds the first of them
    int64_t n_compared = 0;           ///< of what was compared; 0: that says nothing of how many differ
    std::vector<std::string> nothing; ///< why nothing differs, where that can be told
    EvaluationId left_out = -1;       ///< of this trace, whose plan is not complete; −1: there is none

    /// "evaluation 30 is left out: its plan is not complete; the newest one that is: evaluation 29"; empty: none is left out
    std::string told_of_left_out() const;
};

/// How a trace is planned again with `settings` (words as `replay --set` takes them; none: as recorded). Throws Error.
ReplayOptions planned_again(const RecordSource& source, const std::string& settings, const BackendKnowledge& backends);
/// Plans it so. Throws Error.
Comparison compare_what_if(const std::shared_ptr<const RecordSource>& source, const std::string& settings,
                           const BackendKnowledge& backends);
/// Compares a trace with another one, which is called `name`. Throws Error.
Comparison compare_traces(const std::shared_ptr<const RecordSource>& source, const std::shared_ptr<const RecordSource>& other,
                          const std::string& name);

} // namespace schedscope::tui
