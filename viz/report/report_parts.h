#pragma once

#include "viz/report/report.h"

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

/// A laid-out picture as shapes: nodes (place, size, style, lines of text), edges (curves), areas. `laid_out` is Graphviz's JSON of a text that
/// make_dot made. Throws Error(device) when it is none.
nlohmann::json report_picture(const std::string& laid_out, const SessionInfo& session, ReportTexts& texts);

/// One plan: tensors, what each pass changed, copies, fusion, memory.
nlohmann::json report_plan(History& history, EvaluationId planned, ReportTexts& texts);

/// What ran in one evaluation: kernels, transfers, waits, when its splits ran, and what a verification found.
nlohmann::json report_run(History& history, EvaluationId evaluation, ReportTexts& texts);

/// A tensor's story: what was decided in the plan, and what happened to it in the evaluation.
struct ReportStory {
    nlohmann::json plan, run; ///< run is null where nothing happened
};
ReportStory report_story(History& history, EvaluationId evaluation, TensorId tensor, ReportTexts& texts);

} // namespace schedscope
