#pragma once

#include "viz/report/report.h"
#include "viz/tables/table.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Pieces of a report's data. Rows are arrays, texts are numbers of entries in one list: names and sentences come many times.
namespace schedscope {

/// The list of texts; 0 is the empty one.
class ReportTexts {
public:
    ReportTexts() { number(""); }
    int32_t number(std::string_view text);
    nlohmann::json list() const;

private:
    std::unordered_map<std::string, int32_t> numbers_;
    std::vector<const std::string*> texts_;
};

/// The query language as the page's script reads it: fields with what they can be, units, signs, what is said of mistakes.
nlohmann::json report_language(const History& history);

/// A laid-out picture as shapes: nodes (place, size, style, lines of text), edges (curves), areas. `laid_out` is Graphviz's JSON
/// of a text that make_dot made. Throws Error(device) when it is none.
nlohmann::json report_picture(const std::string& laid_out, const SessionInfo& session, ReportTexts& texts);

/// Tables as the page shows them. Columns are said once for a table, rows for each plan or evaluation: [tensor, first tensor (−1:
/// none), what queries call it, cell…]. A cell is null (nothing), a number, a list, a backend's number, the number of a text; or
/// a text as it is, which only people read: "?", "…", "views only".
class ReportTables {
public:
    explicit ReportTables(ReportTexts& texts) : texts_(texts) {}
    /// Adds the table to `to` under its key.
    void add(const tables::Table& table, nlohmann::json& to);
    /// {"splits": [{"key", "title", "help", "unit", "field"}…]…}
    const nlohmann::json& columns() const noexcept { return columns_; }

private:
    nlohmann::json cell(const tables::Cell& cell, const tables::Column& column);
    ReportTexts& texts_;
    nlohmann::json columns_;
};

/// One plan: tensors, what each pass changed, copies, and its tables.
nlohmann::json report_plan(History& history, EvaluationId planned, ReportTexts& texts, ReportTables& tables);

/// The tables of one evaluation: what its plan came to; with its events what ran, what watched tensors held, and what a
/// verification found.
nlohmann::json report_run(History& history, EvaluationId evaluation, bool with_events, ReportTables& tables);

/// A tensor's story: what was decided in the plan, and what happened to it in the evaluation.
struct ReportStory {
    nlohmann::json plan, run; ///< run is null where nothing happened
};
ReportStory report_story(History& history, EvaluationId evaluation, TensorId tensor, ReportTexts& texts);

} // namespace schedscope
