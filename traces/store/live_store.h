#pragma once

#include "runtime/planner/recorder.h"
#include "traces/format/interner.h"
#include "traces/store/record_source.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace schedscope {

/// A trace in memory: the runtime's thread writes, other threads read at the same time. Nothing is dropped; memory grows with the
/// run (about 90 bytes a record). Records already written never move, so reading takes no lock.
class LiveStore final : public Recorder, public RecordSource {
public:
    LiveStore();
    ~LiveStore() override;

    // Recorder: called by one thread at a time.
    void session(const SessionInfo& info) override;
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override;
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;

    // RecordSource: called by any thread.
    SessionInfo session() const override;
    Step n_steps() const override { return size_.load(std::memory_order_acquire); }
    int n_evaluations() const override;
    EvaluationSpan evaluation(EvaluationId id) const override;
    void read(Step first, Step end, std::vector<Record>& out) const override;
    int n_graphs() const override;
    const OwnedGraph& graph(GraphId id) const override;
    const CapabilityTable& answers(GraphId id) const override;
    std::string_view text(StringId id) const override;
    const KernelList& kernels(KernelListId id) const override;
    int64_t count(FactSet kinds) const override;
    Step next_of(Step from, FactSet kinds) const override;
    Step previous_of(Step from, FactSet kinds) const override;

private:
    struct GraphEntry;
    // Segment i holds first_segment << i records, so that 32 pointers are room enough and none ever moves.
    static constexpr int segment_bits = 12;
    static constexpr Step first_segment = Step{1} << segment_bits;
    static constexpr int n_segments = 32;
    /// Kinds that are few among many: the steps of each are kept, for next_of and previous_of.
    static constexpr FactSet sparse_kinds =
        fact_set<record::EvaluationBegin, record::PlanBegin, record::PassBegin, record::SplitBegin, record::SplitEnd,
                 record::SplitRun, record::BufferSize, record::Sample, record::NextToken, record::EvaluationEnd, record::PlanEnd,
                 record::PassEnd, record::Reserve, record::Verdict>();

    Record* slot(Step step) const noexcept;
    void note_evaluation(const Record& record);
    void note_sparse(const Record& record);
    GraphEntry& entry(GraphId id) const;

    std::array<std::atomic<Record*>, n_segments> segments_{};
    std::atomic<Step> size_{0};

    mutable std::mutex mutex_;                           ///< guards all below
    std::vector<std::unique_ptr<SessionInfo>> sessions_; ///< the last one is today's; older graphs point to older ones
    std::vector<std::unique_ptr<GraphEntry>> graphs_;
    std::vector<EvaluationSpan> evaluations_;
    std::array<std::vector<Step>, std::variant_size_v<Fact>> sparse_;
    Interner texts_;
    std::vector<std::shared_ptr<const KernelList>> lists_; ///< by id − 1
    std::unordered_map<const KernelList*, KernelListId> list_ids_;
};

} // namespace schedscope
