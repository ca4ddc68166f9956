#pragma once

#include "traces/store/reading/trace_rows.h"
#include "traces/store/record_source.h"
#include "traces/store/sqlite.h"

#include <optional>
#include <vector>

namespace schedscope {

/// What a reader knows of a trace without reading its records: session, where evaluations and plans begin, how much there is of
/// what. Small, read at opening. All functions throw Damage or sqlite::Failure.
struct TraceIndex {
    struct IndexedPlan {
        Step step = 0;
        GraphId graph = 0;
        int32_t n_stages = 1;
        std::optional<int64_t> n_ids; ///< tensors and copies; counted when first needed
    };

    SessionInfo session;
    bool closed = false;
    Step n_steps = 0;
    std::vector<Step> evaluations;  ///< first step of each
    std::vector<IndexedPlan> plans; ///< in order of step
    std::vector<GraphSize> graphs;
    StringId last_text = 0;

    Step evaluation_end(EvaluationId id) const;
    EvaluationId evaluation_of(Step step) const;
    /// Index of the last plan in [first, before); −1: none.
    int last_plan(Step first, Step before) const;
    /// Where the next plan behind `step` begins; without one, behind the last record.
    Step next_plan(Step step) const;
};

/// bytes: of the file and its journal; no number in it counts more than they can hold.
TraceIndex read_index(sqlite::Database& database, int64_t bytes, KeptBytes& kept);

} // namespace schedscope
