#include "inspector/tui/background/live_program.h"

#include <utility>

namespace schedscope::tui {

LiveProgram::State LiveProgram::state() const {
    if (ended_) {
        return State::ended;
    }
    const Step at = gate_.held_at();
    // Until its thread wakes up the gate still says where it was held.
    return at == no_step || at == released_at_ ? asked_ : State::held;
}

void LiveProgram::let_go(State asked) {
    released_at_ = gate_.held_at();
    asked_ = asked;
    interrupted_ = false;
}

void LiveProgram::run() {
    let_go(State::running);
    gate_.run();
}

void LiveProgram::step(Unit unit) {
    let_go(State::stepping);
    gate_.step(unit);
}

void LiveProgram::hold() {
    ahead_.clear();
    interrupted_ = true;
    gate_.interrupt();
}

LiveProgram::HowStopped LiveProgram::look(bool ended) {
    gate_.acknowledge();
    if (ended) {
        ended_ = true;
        ended_fd_ = -1;
        return HowStopped::ended;
    }
    if (state() != State::held) {
        return HowStopped::none;
    }
    const Step at = gate_.held_at();
    if (at == looked_at_) {
        return HowStopped::none;
    }
    looked_at_ = at;
    const bool interrupted = std::exchange(interrupted_, false);
    return gate_.at_breakpoint() ? HowStopped::breakpoint : interrupted ? HowStopped::interrupted : HowStopped::held;
}

std::optional<LiveProgram::Unit> LiveProgram::next_step() {
    if (gate_.at_breakpoint()) {
        ahead_.clear();
    }
    if (ahead_.empty()) {
        return std::nullopt;
    }
    const Unit next = ahead_.front();
    ahead_.pop_front();
    return next;
}

} // namespace schedscope::tui
