#pragma once

#include "traces/replay/what_if.h"
#include "traces/store/record_source.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace schedscope {

class LiveGate;
class StopSignal;
namespace tui {
class ProgramOutput;
}

struct InspectorOptions {
    bool color = true;      ///< false: letters and attributes only. NO_COLOR in the environment does the same.
    std::string title;      ///< in the header: the trace's file name, or the program's command
    std::string trace_path; ///< of a recorded one: what is looked at is kept for the next time; empty: it isn't
    bool check = false;     ///< reads trace_path through in the background and tells what is wrong with it
    std::string note;       ///< about the trace, for the user to know first; empty: nothing
    /// What became of the trace's file since it was opened, a sentence about it; empty: nothing. Asked with each key. May be
    /// empty itself.
    std::function<std::string()> changed;
    std::shared_ptr<StopSignal> stop; ///< by which Ctrl-C and q end what `source` reads; null: they wait for it
    EvaluationId evaluation = -1;     ///< of a trace, to begin with: its end is shown; −1: History::opening()
    /// Files that are read or written while it runs, which the user's own (":write", ":dot") must not replace. The trace and
    /// `diff` are added.
    std::vector<std::string> files_in_use;
    BackendKnowledge backends; ///< for what-ifs
    std::string diff;          ///< another trace, in this file, to be shown beside this one; empty: none
    LiveGate* gate = nullptr;  ///< the running program that writes `source`; null for a recorded trace. Outlives the call.
    int ended_fd = -1;         ///< with a gate: readable once the program has ended (an eventfd, say); −1: that isn't told
    /// With a gate: how the program has ended ("exit code 3"), asked once it has; empty: as it should. May be empty itself.
    std::function<std::string()> how_ended;
    /// With a gate: why nothing is recorded, asked while that is so and the gate told something; may be empty itself.
    std::function<std::string()> why_nothing_yet;
    bool guided = false;                        ///< begins with a guide through one question, in five steps
    bool keeps_texts = true;                    ///< a trace that the user saves has prompts and generated texts
    std::shared_ptr<tui::ProgramOutput> output; ///< what the program writes; null: that goes elsewhere, or nothing runs
};

/// Throws Error(usage) where run_inspector would, because there is no terminal.
void check_terminal();

/// Shows a history in the terminal until the user quits; returns the exit code (0; 130 after Ctrl-C or SIGINT with nothing to
/// interrupt; 128 + n after another signal n). Settings are read from $XDG_CONFIG_HOME/schedscope/settings (settings.h). However
/// it ends, the terminal is as it was. Of a gate it only steps, runs and interrupts: the caller says whether the program
/// goes on or is cancelled after quitting. Throws Error(usage) when there is no terminal, saying what to use instead;
/// Error(input) when the source can't be read.
int run_inspector(std::shared_ptr<const RecordSource> source, const InspectorOptions& options);

} // namespace schedscope
