#pragma once

#include "traces/export/perfetto_writer.h"
#include "traces/history/history.h"

#include <map>
#include <string>
#include <vector>

namespace schedscope {

/// What one evaluation's records say happened, as slices and instants with names and arguments, and what its counters need.
class PerfettoEvents {
public:
    struct Slice {
        int64_t start_ns = 0, end_ns = 0; ///< 0 ≤ start ≤ end
        int level = 0;                    ///< see TimeSlice
        PerfettoEvent event;
    };
    struct Instant {
        int64_t time_ns = 0;
        PerfettoEvent event;
    };
    struct BufferGrowth {
        int64_t time_ns = 0;
        record::BufferSize size;
    };

    /// state: of the evaluation's end.
    PerfettoEvents(const History& history, const PlanState& state, const EvaluationSpan& span);

    std::vector<Slice> scheduler, copies;
    std::vector<Instant> notes; ///< reservations and reallocations of memory
    std::vector<Instant> tokens;
    std::vector<Instant> differences; ///< what a verification found
    std::vector<record::Execute> kernels;
    std::vector<record::Transfer> transfers;
    std::vector<BufferGrowth> buffers;
    const std::vector<Slice>& on_backend(BackendId backend) { return backends_[backend]; }

private:
    void add(const Record& r, const record::EvaluationBegin& f);
    void add(const Record& r, const record::PlanBegin& f);
    void add(const Record& r, const record::PlanEnd& f);
    void add(const Record& r, const record::PassBegin& f);
    void add(const Record& r, const record::PassEnd& f);
    void add(const Record& r, const record::BackendQuery& f);
    void add(const Record& r, const record::Assign& f);
    void add(const Record& r, const record::Execute& f);
    void add(const Record& r, const record::SplitRun& f);
    void add(const Record& r, const record::Transfer& f);
    void add(const Record& r, const record::Wait& f);
    void add(const Record& r, const record::Reallocation& f);
    void add(const Record& r, const record::BufferSize& f);
    void add(const Record& r, const record::Reserve& f);
    void add(const Record& r, const record::Sample& f);
    void add(const Record& r, const record::NextToken& f);
    void add(const Record& r, const record::Difference& f);
    void add(const Record& r, const record::EvaluationEnd& f);
    template <typename Other> void add(const Record&, const Other&) {} ///< is seen in what the others tell

    void end_pass(int64_t time_ns);
    void add_account();
    void draw_arrows();
    std::string text(StringId id) const { return std::string(history_.source().text(id)); }
    std::string name(TensorId id) const { return history_.tensor_name(state_, id); }
    std::string shape(TensorId id) const; ///< "f32 [64, 16]"
    std::vector<std::string> group_of(const record::Execute& kernel) const;

    const History& history_;
    const PlanState& state_;
    std::map<BackendId, std::vector<Slice>> backends_;
    std::map<int32_t, std::pair<BackendId, size_t>> runs_; ///< split → its slice
    std::vector<std::pair<record::Transfer, Step>> arrows_;
    std::map<int32_t, std::vector<std::string>> samplers_; ///< by sequence, since its last token
    std::map<TensorId, const record::Fusion*> fusion_of_;  ///< by the last node
    int64_t last_ns_ = 0;
    size_t evaluation_ = SIZE_MAX, plan_ = SIZE_MAX, pass_ = SIZE_MAX; ///< the open ones, in scheduler
    int64_t asked_ = 0, assigned_ = 0;                                 ///< in the open pass
};

} // namespace schedscope
