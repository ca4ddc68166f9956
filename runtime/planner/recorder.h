#pragma once

#include "runtime/clock.h"
#include "runtime/planner/capability_table.h"
#include "runtime/planner/records.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace schedscope {

struct KernelSpan {
    int64_t start_ns = 0, end_ns = 0;
};

/// Kernels of a split that ran in one piece: all of them, unless something looked in between.
struct SplitPart {
    int32_t split = 0;
    BackendId backend = no_backend;
    bool device_time = false;                  ///< of the kernels: by the device's own clock
    bool last = true;                          ///< the split is complete
    std::optional<int64_t> start_ns, end_ns;   ///< of the split where it is complete, else of the part; both or none: not timed
    std::shared_ptr<const KernelList> kernels; ///< null: not known, or none. The same list, the same pointer: it is kept once
    int32_t first = 0, count = 0;              ///< those that ran: [first, first + count) of the list
    std::span<const KernelSpan> times;         ///< [count]; empty: no kernel was timed
};

/// A part with its place among the records: one for each time, then record::SplitRun where the split is complete.
struct PartRecord {
    Step step = no_step; ///< of the first
    std::optional<int64_t> time_ns = 0;
    EvaluationId evaluation = 0;
    SplitPart part;

    Step n_records() const noexcept { return std::ssize(part.times) + (part.last ? 1 : 0); }
    /// The record of kernel `i` of the part.
    Record kernel(int32_t i) const {
        const KernelInfo& k = (*part.kernels)[part.first + i];
        const KernelSpan& t = part.times[i];
        return {step + i, time_ns, evaluation,
                record::Execute{part.split, part.backend, part.device_time, k.count, k.first, k.last, k.kernel, t.start_ns,
                                t.end_ns, k.bytes, k.flops}};
    }
    /// The record of the complete split. `kernels`: the number of its list, where no kernel has a record of its own.
    Record split_run(KernelListId kernels) const {
        return {step + std::ssize(part.times), time_ns, evaluation,
                record::SplitRun{part.split, part.backend, part.start_ns, part.end_ns, kernels}};
    }
};

/// The only door from the runtime to the outside. The runtime calls it from one thread at a time. A recorder never changes a
/// decision or a result; it may block (the live gate, or a writer that can't keep up).
class Recorder {
public:
    virtual ~Recorder() = default;

    /// Before anything else; again when more is known (buffer types that were met since, facts of the caller): the last one
    /// holds.
    virtual void session(const SessionInfo& info) = 0;
    /// A graph that is about to be planned, with every capability answer about it. Deep copies are taken.
    virtual void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) = 0;
    /// The number of a text; the same text always has the same number.
    virtual StringId intern(std::string_view text) = 0;

    /// Of the next graph that it is told of.
    GraphId number_graph() noexcept { return next_graph_++; }
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
    /// The same for the records of what ran of a split.
    void add(const SplitPart& part) {
        stamp_ = now_ns();
        since_stamp_ = 0;
        const PartRecord r{next_step_, stamp_, evaluation_, part};
        next_step_ += r.n_records();
        keep_part(r);
    }
    /// Facts belong to this evaluation from here on.
    void set_evaluation(EvaluationId id) noexcept { evaluation_ = id; }
    EvaluationId evaluation() const noexcept { return evaluation_; }

    /// How finely the executor is to stop between pieces of work, so that an observer can look: after the whole graph, each
    /// split, or each node.
    enum class Grain : uint8_t { graph, split, node };
    virtual Grain grain() const { return Grain::graph; }

    /// Everything up to here is to be safe with the reader (called at each evaluation end).
    virtual void flush() {}

    /// Takes a record that is already numbered and stamped, in order of step. `add` calls it; a tee passes it on.
    virtual void keep(const Record& record) = 0;
    /// The same for what ran of a split, whose times last as long as the call. Who does not keep it as a whole gets it record by
    /// record.
    virtual void keep_part(const PartRecord& record) {
        for (int32_t i = 0; i < std::ssize(record.part.times); ++i) {
            keep(record.kernel(i));
        }
        if (record.part.last) {
            keep(record.split_run(0));
        }
    }

    /// This recorder stands behind `root`, which numbers the records: facts of its own (a writer's waits) are to be added there.
    virtual void attach_to(Recorder& root) { (void)root; }

private:
    Step keep_at_stamp(const Fact& fact) {
        const Record r{next_step_++, stamp_, evaluation_, fact};
        keep(r);
        return r.step;
    }

    Step next_step_ = 0;
    GraphId next_graph_ = 0;
    int64_t stamp_ = 0; ///< the last reading of the clock
    int since_stamp_ = 0;
    EvaluationId evaluation_ = 0;
};

} // namespace schedscope
