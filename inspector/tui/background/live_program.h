#pragma once

#include "traces/history/live_gate.h"

#include <deque>
#include <optional>

namespace schedscope::tui {

/// The running program that is looked at, and what it was asked to do. It is in one of these states:
///
///     running    until a breakpoint or an interrupt; also before its first record
///     stepping   to the next moment of a unit
///     held       after a record; `run` and `step` let it go
///     ended      nothing is left to do
///
/// The gate holds it at any time, so `state` is asked wherever it matters; `look` says once of each stop how it came.
class LiveProgram {
public:
    using Unit = LiveGate::Unit;
    enum class State : uint8_t { running, stepping, held, ended };

    /// `gate` is borrowed. `ended_fd`: readable once the program has ended; −1: that isn't told.
    explicit LiveProgram(LiveGate& gate, int ended_fd = -1) : gate_(gate), ended_fd_(ended_fd) {}

    State state() const;
    bool goes() const { return state() < State::held; } ///< running or stepping
    /// running, stepping: it is going to be held at its next record, since it was interrupted, or from its beginning.
    bool will_be_held() const { return gate_.is_to_hold() && goes(); } // in this order: it may be held meanwhile
    bool ended() const noexcept { return ended_; }

    // What the user asks
    void run();                                            ///< held, or going to be: it runs
    void step(Unit unit);                                  ///< held: it is stepping
    void step_later(Unit unit) { ahead_.push_back(unit); } ///< stepping: the next step, once it is held
    /// running, stepping: it is held at its next record. Steps that were to come are forgotten.
    void hold();
    /// It is held at records that fulfil it; empty: at none.
    void set_breakpoint(LiveGate::Predicate predicate) { gate_.set_breakpoint(std::move(predicate)); }

    // What the program tells
    int descriptor() const noexcept { return gate_.descriptor(); } ///< readable when it was held or let go
    int ended_descriptor() const noexcept { return ended_fd_; }    ///< readable when it has ended, until `look` was told so
    enum class HowStopped : uint8_t { none, held, interrupted, breakpoint, ended };
    /// After one of these was readable. `ended`: the second one. none: it goes on, or that stop was looked at before.
    HowStopped look(bool ended);
    bool at_breakpoint() const { return gate_.at_breakpoint(); }
    bool cut_short() const { return gate_.cut_short(); } ///< the breakpoint came before the step's end
    /// held: the step that is to come, which is forgotten; at a breakpoint all are, and there is none.
    std::optional<Unit> next_step();

private:
    void let_go(State asked);

    LiveGate& gate_;
    int ended_fd_;
    State asked_ = State::running; ///< what it does unless it is held
    bool ended_ = false;
    bool interrupted_ = false;   ///< it was asked to hold, and has not been seen to be held since
    Step released_at_ = no_step; ///< where it was held when it was last let go
    Step looked_at_ = no_step;   ///< the stop that `look` said last
    std::deque<Unit> ahead_;     ///< steps that were asked for while it was stepping
};

} // namespace schedscope::tui
