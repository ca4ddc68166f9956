#include "traces/history/live_gate.h"

#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace schedscope {

LiveGate::LiveGate(Recorder& next, bool held)
    : next_(next), event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), mode_(held ? Mode::hold : Mode::run) {
    if (event_ < 0) {
        throw Error(ErrorKind::device, "inspector: the system has no event descriptor left");
    }
    next_.attach_to(*this); // until another stands in front
}

LiveGate::~LiveGate() { close(event_); }

void LiveGate::notify() noexcept {
    const uint64_t one = 1;
    // Fails only when the counter is full, and then it is readable anyway.
    [[maybe_unused]] const ssize_t written = write(event_, &one, sizeof one);
}

void LiveGate::acknowledge() noexcept {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(event_, &count, sizeof count);
}

void LiveGate::let_go(Mode mode, Unit unit) {
    {
        const std::lock_guard lock(mutex_);
        if (mode_ >= Mode::cancelled) {
            return;
        }
        mode_ = mode;
        unit_ = unit;
        if (mode != Mode::hold) { // a release that the runtime has not woken up for yet stays one
            released_ = true;
        }
    }
    changed_.notify_all();
    tell_what_was_asked();
}

void LiveGate::tell_what_was_asked() {
    if (asked_) {
        asked_();
    }
}

void LiveGate::step(Unit unit) { let_go(Mode::step, unit); }
void LiveGate::run() { let_go(Mode::run, Unit::record); }
void LiveGate::interrupt() { let_go(Mode::hold, Unit::record); }
void LiveGate::cancel() { let_go(Mode::cancelled, Unit::record); }

void LiveGate::set_breakpoint(Predicate predicate) {
    {
        const std::lock_guard lock(mutex_);
        breakpoint_ = predicate ? std::make_shared<const Predicate>(std::move(predicate)) : nullptr;
    }
    tell_what_was_asked();
}

bool LiveGate::may_hold() const {
    const std::lock_guard lock(mutex_);
    return mode_ == Mode::hold || mode_ == Mode::step || (mode_ == Mode::run && breakpoint_ != nullptr);
}

bool LiveGate::is_to_hold() const {
    const std::lock_guard lock(mutex_);
    return mode_ == Mode::hold;
}

Step LiveGate::held_at() const {
    const std::lock_guard lock(mutex_);
    return held_at_;
}

bool LiveGate::at_breakpoint() const {
    const std::lock_guard lock(mutex_);
    return at_breakpoint_;
}

bool LiveGate::cut_short() const {
    const std::lock_guard lock(mutex_);
    return cut_short_;
}

void LiveGate::keep(const Record& record) {
    if (passing_) { // a recorder behind adds a fact of its own while it takes one from here
        next_.keep(record);
    } else {
        pass_on(record, [&] { next_.keep(record); });
    }
}

/// Each kernel is passed on alone, since the runtime may be held after it.
void LiveGate::keep_part(const PartRecord& record) {
    PartRecord one = record;
    const int32_t n_times = n_of(record.part.times);
    for (int32_t i = 0; i < n_times; ++i) {
        one.step = record.step + i;
        one.part.last = false;
        one.part.first = record.part.first + i;
        one.part.count = 1;
        one.part.times = record.part.times.subspan(i, 1);
        one.part.start_ns = record.part.times[i].start_ns;
        one.part.end_ns = record.part.times[i].end_ns;
        pass_on(one.kernel(0), [&] { next_.keep_part(one); });
    }
    if (record.part.last) {
        PartRecord rest = record;
        rest.step = record.step + n_times;
        if (n_times > 0) {
            rest.part.kernels = nullptr;
            rest.part.first = rest.part.count = 0;
            rest.part.times = {};
        }
        pass_on(rest.split_run(0), [&] { next_.keep_part(rest); });
    }
}

/// Calls pass(), and holds after that where it was asked for.
template <typename Pass> void LiveGate::pass_on(const Record& record, const Pass& pass) {
    if (std::holds_alternative<record::EvaluationBegin>(record.fact)) {
        holds_.clear();
    }
    pass_unheld(pass);                                                // first, so that whoever looks while it is held sees it
    if (std::holds_alternative<record::EvaluationEnd>(record.fact)) { // it failed; else they are noted by now
        pass_unheld([this] { note_holds(); });
    }
    hold_where_asked(record);
    if (const auto* const end = std::get_if<record::PassEnd>(&record.fact);
        end != nullptr && end->pass == schedscope::Pass::execute) {
        pass_unheld([this] { note_holds(); });
    }
}

template <typename Pass> void LiveGate::pass_unheld(const Pass& pass) {
    passing_ = true;
    try {
        pass();
    } catch (...) {
        passing_ = false;
        throw;
    }
    passing_ = false;
}

/// Whoever looks at the evaluation's time is to know what of it was the user's own. All at once when it has run: a record behind
/// each would stand in the way of whoever steps by records. Of an attached program they come from itself, and whoever reads its
/// stream takes none from here (ImportSink).
void LiveGate::note_holds() {
    for (const record::Wait& hold : std::exchange(holds_, {})) {
        root_->add(hold);
    }
}

void LiveGate::hold_where_asked(const Record& record) {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<const Predicate> breakpoint = mode_ >= Mode::cancelled ? nullptr : breakpoint_;
    bool broken = false;
    if (breakpoint != nullptr) {
        lock.unlock(); // it may look at what was recorded, which takes locks of its own
        broken = (*breakpoint)(record);
        lock.lock();
    }
    throw_if_cancelled();
    const bool hold = mode_ == Mode::hold || (mode_ == Mode::step && is_moment(unit_, record));
    if (mode_ >= Mode::cancelled || !(hold || broken)) {
        if (mode_ == Mode::run && std::holds_alternative<record::EvaluationEnd>(record.fact)) {
            notify(); // who follows the run sees it grow
        }
        return;
    }
    cut_short_ = broken && !hold && mode_ == Mode::step;
    mode_ = Mode::hold;
    released_ = false;
    held_at_ = record.step;
    at_breakpoint_ = broken;
    notify();
    const int64_t start_ns = now_ns();
    changed_.wait(lock, [this] { return released_; });
    holds_.push_back({.start_ns = start_ns, .end_ns = now_ns(), .held = true});
    held_at_ = no_step;
    notify();
    throw_if_cancelled();
}

/// Once: what the runtime records on its way out passes.
void LiveGate::throw_if_cancelled() {
    if (mode_ == Mode::cancelled) {
        mode_ = Mode::gone;
        throw Cancelled();
    }
}

Recorder::Grain LiveGate::grain() const {
    const std::lock_guard lock(mutex_);
    Grain own = Grain::graph;
    if (mode_ < Mode::cancelled) {
        const bool by_node = mode_ == Mode::hold || breakpoint_ != nullptr || (mode_ == Mode::step && unit_ == Unit::record);
        own = by_node ? Grain::node : mode_ == Mode::step && unit_ == Unit::split ? Grain::split : Grain::graph;
    }
    return std::max(own, next_.grain());
}

} // namespace schedscope
