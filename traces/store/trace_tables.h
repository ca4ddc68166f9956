#pragma once

#include "runtime/planner/recorder.h"
#include "traces/store/hashed_rows.h"
#include "traces/store/kept_answers.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace schedscope {

/// Rows of a trace file: what the writer's thread does. Made on an empty database; all of it throws sqlite::Failure.
class TraceTables {
public:
    /// Makes the tables and views, which `begin` finds in a copy of that database. `texts`: false leaves out what the user or the
    /// model wrote. `text_of` gives the text of a number.
    TraceTables(sqlite::Database& database, bool texts, std::function<std::string(StringId)> text_of);

    void begin(sqlite::Database& database);
    void session(const SessionInfo& info);
    void graph(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers);
    void record(const Record& record);
    void part(const PartRecord& record);
    /// The trace ends here, as it should.
    void closed();

private:
    template <typename T> void bind_fields(HashedInsert& statement, const T& fact);
    HashedInsert insert(const std::string& table);
    void clear(const std::string& table);
    void knowledge(const Knowledge& knows);
    void words(); ///< what numbers of enumerations mean, and words of the program's own
    void settings(const PlanSettings& settings);
    void text(StringId id);
    int64_t answer(const Answer& answer);
    void tensors(GraphId id, const OwnedGraph& graph);
    void capabilities(GraphId id, const CapabilityTable& answers);
    void begin_evaluations(Step step, EvaluationId evaluation);
    int64_t list_number(const std::shared_ptr<const KernelList>& list);

    sqlite::Database* database_;
    bool texts_;
    Knowledge knows_;                                                         ///< of the session told last
    std::shared_ptr<const std::vector<ModelHeader>> models_;                  ///< that were written last
    std::pair<std::vector<std::string>, std::vector<std::string>> own_words_; ///< the same: operators and types
    std::function<std::string(StringId)> text_of_;
    std::map<std::string, TableHash> hashes_; ///< of what was written, by table
    std::vector<HashedInsert> insert_;        ///< by record kind
    HashedInsert insert_text_, insert_evaluation_, insert_graph_, insert_tensor_, insert_edge_, insert_answer_,
        insert_capability_, insert_kernel_, insert_part_;
    std::vector<bool> text_written_; ///< by StringId
    std::map<std::tuple<bool, Refusal, std::string>, int64_t> answers_;
    EvaluationId n_evaluations_ = 0;
    struct WrittenList {
        std::shared_ptr<const KernelList> list;
        int64_t number = 0;
    };
    std::unordered_map<const KernelList*, WrittenList>
        lists_; ///< that were written lately, held so that no other one gets their address
    int64_t n_lists_ = 0;
    size_t n_held_ = 0; ///< kernels of those
    std::string times_; ///< of the part that is written
};

} // namespace schedscope
