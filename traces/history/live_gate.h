#pragma once

#include "runtime/planner/recorder.h"
#include "traces/history/history.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace schedscope {

/// Thrown out of the runtime's next record after LiveGate::cancel.
class Cancelled : public std::runtime_error {
public:
    Cancelled() : std::runtime_error("the run was cancelled") {}
};

/// Stands between the runtime and another recorder (a LiveStore, a tee) and holds the runtime's thread after a record has been
/// passed on, until the user's thread lets it go. A held runtime uses no processor time; nothing here polls or times anything.
///
/// The user's calls return at once. `descriptor` becomes readable each time the runtime is held or let go, and
/// while it runs at the end of each evaluation.
class LiveGate final : public Recorder {
public:
    using Unit = History::Unit;
    using Predicate = std::function<bool(const Record&)>;

    /// `next` is borrowed. `held`: the very first record is held.
    explicit LiveGate(Recorder& next, bool held = true);
    ~LiveGate() override;

    // The user's thread.
    void step(Unit unit); ///< lets go until the next moment of a unit (history.h)
    void run();           ///< lets go until the breakpoint or an interrupt
    void interrupt();     ///< holds at the next record
    void cancel();        ///< the next record (or the one held now) throws Cancelled in the runtime; after that nothing is held
    /// Holds at records that fulfil it, whatever was asked; empty: none. Called on the runtime's thread, without a lock held.
    void set_breakpoint(Predicate predicate);
    /// Called, on the user's thread, whenever what was asked for has changed. Set before anything is asked.
    void on_asked(std::function<void()> told) { asked_ = std::move(told); }
    bool may_hold() const;   ///< what was asked for can be fulfilled by a record to come, or is by the one held now
    bool is_to_hold() const; ///< at its next record, whichever that is; or it is held now
    Step held_at() const;    ///< step of the record that it is held after; no_step when it runs
    /// True until the next hold when that was a breakpoint's.
    bool at_breakpoint() const;
    /// The same, and it came before the moment that was stepped to.
    bool cut_short() const;
    /// Readable when the held state changed since the last `acknowledge`, or the run has got further. Owned by the gate.
    int descriptor() const noexcept { return event_; }
    void acknowledge() noexcept;
    void tell_progress() noexcept { notify(); } ///< makes it readable: there is something new of a runtime that runs

    // The runtime's thread.
    void session(const SessionInfo& info) override { next_.session(info); }
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override { next_.graph(id, graph, answers); }
    StringId intern(std::string_view text) override { return next_.intern(text); }
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;
    Grain grain() const override;
    void flush() override { next_.flush(); }
    void attach_to(Recorder& root) override {
        root_ = &root;
        next_.attach_to(root);
    }

private:
    enum class Mode : uint8_t { run, step, hold, cancelled, gone };
    void let_go(Mode mode, Unit unit);
    void notify() noexcept;
    void tell_what_was_asked();
    void throw_if_cancelled();
    template <typename Pass> void pass_on(const Record& record, const Pass& pass);
    template <typename Pass> void pass_unheld(const Pass& pass);
    void hold_where_asked(const Record& record);
    void note_holds();

    Recorder& next_;
    Recorder* root_ = this; ///< takes facts of the gate's own
    int event_;
    std::function<void()> asked_;
    bool passing_ = false;            ///< the runtime's thread only
    std::vector<record::Wait> holds_; ///< in this evaluation; the runtime's thread only
    mutable std::mutex mutex_;        ///< guards all below
    std::condition_variable changed_;
    Mode mode_;
    Unit unit_ = Unit::record;
    std::shared_ptr<const Predicate> breakpoint_;
    Step held_at_ = no_step;
    bool at_breakpoint_ = false, cut_short_ = false;
    bool released_ = false; ///< the held record may go on
};

} // namespace schedscope
