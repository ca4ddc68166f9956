#pragma once

#include "traces/history/history.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How well a foreign program's plans could be made again, in words.
namespace schedscope {

namespace words {

/// "reproduced: 161 of 161 decisions, 226 of 226 places in memory, by the rules of b5640..b8120"; or "not reproduced: 159 of 161
/// …; first difference: …; causes are not verified".
std::string verdict(const record::Verdict& verdict, std::string_view rules, std::string_view first);

} // namespace words

/// With a mark: "✓ reproduced: 161 of 161 decisions", "✗ 159 of 161 decisions reproduced"; and the first difference, where
/// `first` says it: "…, first difference: Qcur-0: …".
std::string verdict_line(const record::Verdict& verdict, std::string_view first = {});
/// The state's plan, with the first difference. Empty: it was planned by this program, or what its scheduler did was not seen.
std::string verdict_line(const RecordSource& source, const PlanState& state);
/// May the causes that the state's plan gives be believed?
bool causes_verified(const PlanState& state) noexcept;

/// What verdicts count, below a list of them.
inline constexpr std::string_view verdict_counts =
    "decisions: the backend of each tensor, each split, its inputs and what its nodes read, as ggml has them;\n"
    "places: where tensors lie in memory, ? where that was not seen; `replay` counts pass by pass what led there";

/// The verdict of one plan.
struct VerdictRow {
    EvaluationId eval = 0;
    std::optional<GraphKind> kind;
    int64_t nodes = 0, splits = 0;
    record::Verdict verdict;
    std::string rules, first; ///< first: empty where there is no difference
};
/// All of a trace, in order, as far as a step.
std::vector<VerdictRow> verdicts_of(const RecordSource& source, Step end);

struct VerdictSum {
    int64_t plans = 0, reproduced = 0, decisions = 0, identical = 0;
    std::string rules; ///< of the builds that plan all of them so
    std::string first; ///< difference, with its evaluation
};
VerdictSum sum_of(const std::vector<VerdictRow>& rows);
/// "reproduced: 8 of 8 plans, 5,848 decisions, by the rules of b5640..b8120"
std::string text_of(const VerdictSum& sum);

} // namespace schedscope
