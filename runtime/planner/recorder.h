#pragma once

#include "runtime/clock.h"
#include "runtime/planner/capability_table.h"
#include "runtime/planner/records.h"

#include <string_view>

namespace schedscope {

/// The only door from the runtime to the outside. The runtime calls it from one thread at a time. A recorder never changes a decision or a
/// result; it may block (the live gate, or a writer that can't keep up).
class Recorder {
public:
    virtual ~Recorder() = default;

    /// Before anything else; again when more is known (buffer types that were met since, facts of the caller): the last one holds.
    virtual void session(const SessionInfo& info) = 0;
    /// A graph that is about to be planned, with every capability answer about it. Deep copies are taken.
    virtual void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) = 0;
    /// The number of a text; the same text always has the same number.
    virtual StringId intern(std::string_view text) = 0;

    /// Numbers, stamps and keeps a fact.
    Step add(const Fact& fact) {
        stamp_ = now_ns();
        since_stamp_ = 0;
        return keep_at_stamp(fact);
    }
    /// The same for facts that come by the thousand within microseconds, as a plan's do: reads the clock once every 16 facts.
    Step add_in_burst(const Fact& fact) {
        if (++since_stamp_ == 16) {
            stamp_ = now_ns();
            since_stamp_ = 0;
        }
        return keep_at_stamp(fact);
    }
    /// Facts belong to this evaluation from here on.
    void set_evaluation(EvaluationId id) noexcept { evaluation_ = id; }
    EvaluationId evaluation() const noexcept { return evaluation_; }

    /// How finely the executor is to stop between pieces of work, so that somebody can look: after the whole graph, each split, or each node.
    enum class Grain : uint8_t { graph, split, node };
    virtual Grain grain() const { return Grain::graph; }

    /// Everything up to here is to be safe with the reader (called at each evaluation end).
    virtual void flush() {}

    /// Takes a record that is already numbered and stamped, in order of step. `add` calls it; a tee passes it on.
    virtual void keep(const Record& record) = 0;

    /// This recorder stands behind `root`, which numbers the records: facts of its own (a writer's waits) are to be added there.
    virtual void attach_to(Recorder& root) { (void)root; }

private:
    Step keep_at_stamp(const Fact& fact) {
        const Record r{next_step_++, stamp_, evaluation_, fact};
        keep(r);
        return r.step;
    }

    Step next_step_ = 0;
    int64_t stamp_ = 0; ///< the last reading of the clock
    int since_stamp_ = 0;
    EvaluationId evaluation_ = 0;
};

} // namespace schedscope
