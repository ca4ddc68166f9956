#pragma once

#include "runtime/planner/recorder.h"
#include "traces/store/kept_answers.h"
#include "traces/store/sqlite.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace schedscope {

/// Rows of a trace file: what the writer's thread does. Made on an empty database; all of it throws sqlite::Failure.
class TraceTables {
public:
    /// Makes the tables and views. `texts`: false leaves out what the user or the model wrote. `text_of` gives the text of a number.
    TraceTables(sqlite::Database& database, bool texts, std::function<std::string(StringId)> text_of);

    void session(const SessionInfo& info);
    void graph(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers);
    void record(const Record& record);
    /// The trace ends here, as it should.
    void closed();

private:
    template <typename T> void bind_fields(sqlite::Statement& statement, const T& fact);
    void text(StringId id);
    int64_t answer(const Answer& answer);
    void tensors(GraphId id, const OwnedGraph& graph);
    void capabilities(GraphId id, const CapabilityTable& answers);

    sqlite::Database& database_;
    bool texts_;
    std::function<std::string(StringId)> text_of_;
    std::vector<sqlite::Statement> insert_; ///< by record kind
    sqlite::Statement insert_text_, insert_evaluation_, insert_graph_, insert_tensor_, insert_edge_, insert_answer_,
        insert_capability_;
    std::vector<bool> text_written_; ///< by StringId
    std::map<std::tuple<bool, Refusal, std::string>, int64_t> answers_;
    EvaluationId n_evaluations_ = 0;
};

} // namespace schedscope
