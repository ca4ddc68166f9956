#pragma once

#include "runtime/system/budget.h"
#include "traces/import/stream/stream_compared.h"
#include "traces/import/stream/stream_fact.h"
#include "traces/import/stream/stream_kernels.h"
#include "traces/import/stream/stream_repeats.h"
#include "traces/store/reading/trace_rows.h"
#include "traces/store/record_source.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace schedscope::import {

/// What was recorded of evaluations and how much of it could not be kept.
struct EvaluationCounts {
    int64_t plans = 0, splits = 0, nodes = 0;
    int64_t without_plan = 0; ///< records that speak of a plan or graph that never came, or was dropped
    int64_t late = 0;         ///< records that came after their evaluation's end
    int64_t without_end = 0;  ///< evaluations
};

/// Puts the records of a stream in a trace's order: one evaluation after the other, numbered and checked as a reader of the
/// trace will. The oldest evaluation's records go through; those of others wait until it ends.
class StreamEvaluations {
public:
    StreamEvaluations(Recorder& behind, int64_t most_records) : sink_(behind), most_records_(most_records) {}

    void describe_session(const SessionInfo& session);
    /// Throws Damage where the program gave another graph this number.
    void describe_graph(int64_t number, const GraphView& graph, const CapabilityTable& answers);
    /// All records of one block, in its order. Throws Damage.
    void take(int64_t evaluation, std::vector<StreamFact> facts);
    /// Nothing more comes. `damaged`: nor is what is wrong in what waits said again.
    void finish(bool damaged);

    /// The stream says what a scheduler decided: its plans are made again, and compared.
    void compare_plans() noexcept { compares_ = true; }
    StringId intern(std::string_view text) { return sink_.intern(text); }
    const EvaluationCounts& counts() const noexcept { return counts_; }
    /// What came and what did not, when nothing more comes.
    Knowledge knowledge() const;
    /// While more comes, the rest may: but few programs ever say which tokens they chose.
    Knowledge knowledge_so_far() const;

private:
    struct Graph {
        GraphId id = -1;
        GraphSize size;
    };
    /// The plan that an evaluation runs.
    struct PlanInUse {
        EvaluationId made_in = -1; ///< −1: none is known
        GraphSize graph;
        int64_t n_ids = 0; ///< of its tensors and copies
        /// The trace's numbers of copies, by the program's, which begin behind the graph; null: they are the same.
        std::shared_ptr<const std::vector<TensorId>> copies = {};
    };
    struct WaitingFact {
        Fact fact;
        std::optional<int64_t> time_ns;
    };
    struct Open {
        int64_t number = 0;
        EvaluationId id = 0;
        std::deque<StreamFact> held;
        bool begun = false, over = false;
        PlanInUse plan;
        std::optional<ComparedPlan> compared; ///< a plan that began and did not end
        std::vector<WaitingFact> waiting;     ///< its beginning and the plan's, until it is known whether the plan is one before
        bool waits = false;
        std::optional<GraphKind> kind;
        std::optional<int64_t> time_ns; ///< of its last record
        int32_t n_stages = 1, n_splits = 0, n_inputs = 0, n_copies = 0;
    };

    Open& open(int64_t number, std::vector<StreamFact>& facts);
    void write(Open& e);
    void write_fact(Open& e, StreamFact& f);
    void write_checked(Open& e, StreamFact& f);
    void take_real(Open& e, const StreamFact& f);
    bool take_compared(Open& e, StreamFact& f);
    static void set_begin(Open& e, const record::PlanBegin& known);
    void end_compared(Open& e, const StreamFact& end);
    void give_up_compared(Open& e, const StreamFact& f);
    void put(Open& e, const Fact& fact);
    void release(Open& e);
    void begin(Open& e, const StreamFact& f, record::EvaluationBegin& fact);
    void begin_plan(Open& e, const Graph& graph, const record::PlanBegin& fact);
    static void fill_in(const Open& e, Fact& fact);
    void count(Open& e, const Fact& fact);
    void close_first();

    ImportSink sink_;
    StreamKernels kernels_{sink_};
    StreamPlans plans_;
    StreamRepeats repeats_;
    GraphId n_graphs_ = 0; ///< that were written
    bool compares_ = false;
    SessionInfo session_;
    int64_t most_records_;
    std::deque<Open> open_; ///< in the order of the trace
    int64_t n_held_ = 0;
    std::unordered_map<int64_t, PlanInUse> closed_; ///< by the program's number
    std::unordered_map<int64_t, Graph> graphs_;
    int64_t n_backends_ = 0, n_buffer_types_ = 0;
    EvaluationId n_evaluations_ = 0;
    EvaluationCounts counts_;
    FactSet seen_ = 0; ///< kinds that came
    bool has_answers_ = false, has_shapes_ = false, has_buffers_ = false, has_times_ = false;
};

} // namespace schedscope::import
