#include "traces/history/words/verdict_words.h"

#include "runtime/system/number_words.h"

#include <algorithm>
#include <map>

namespace schedscope {

namespace {

std::string of_all(int64_t n, int64_t all, std::string_view noun) { return words::count(n) + " of " + words::counted(all, noun); }

} // namespace

std::string words::verdict(const record::Verdict& v, std::string_view rules, std::string_view first) {
    std::string s = (v.reproduced() ? "reproduced: " : "not reproduced: ") + of_all(v.identical, v.decisions, "decision");
    if (v.placements) {
        s += ", " + of_all(v.placements_identical.value_or(0), *v.placements, "place") + " in memory";
    }
    if (v.causes > 0) {
        s += ", " + of_all(v.causes_identical, v.causes, "printed cause");
    }
    s += rules.empty() ? "" : ", by the rules of " + std::string(rules);
    return v.reproduced() ? s : s + "; first difference: " + std::string(first) + "; causes are not verified";
}

std::string verdict_line(const record::Verdict& v, std::string_view first) {
    std::string s = v.reproduced() ? "✓ reproduced: " + of_all(v.identical, v.decisions, "decision")
                                   : "✗ " + of_all(v.identical, v.decisions, "decision") + " reproduced";
    return v.reproduced() || first.empty() ? s : s + ", first difference: " + std::string(first);
}

std::string verdict_line(const RecordSource& source, const PlanState& state) {
    return state.verdicts.empty() ? "" : verdict_line(state.verdicts.back(), source.text(state.verdicts.back().first));
}

bool causes_verified(const PlanState& state) noexcept {
    return state.verdicts.empty() || state.verdicts.back().decisions == state.verdicts.back().identical;
}

namespace {

/// Plans that came to the same as one before have that one's verdict.
void add_repeats(const RecordSource& source, Step end, std::vector<VerdictRow>& rows) {
    std::map<EvaluationId, size_t> planned_in;
    for (size_t i = 0; i < rows.size(); ++i) {
        planned_in.emplace(rows[i].eval, i);
    }
    if (rows.empty()) {
        return;
    }
    source.for_each_of(fact_bit<record::EvaluationBegin>(), 0, end, [&](const Record& r) {
        const auto& begin = std::get<record::EvaluationBegin>(r.fact);
        const auto at = begin.repeats_plan(r.evaluation) ? planned_in.find(begin.planned_in) : planned_in.end();
        if (at != planned_in.end()) {
            rows.push_back(rows[at->second]);
            rows.back().eval = r.evaluation;
            rows.back().kind = begin.kind;
        }
    });
    std::stable_sort(rows.begin(), rows.end(), [](const VerdictRow& a, const VerdictRow& b) { return a.eval < b.eval; });
}

} // namespace

std::vector<VerdictRow> verdicts_of(const RecordSource& source, Step end) {
    std::vector<VerdictRow> rows;
    for (Step at = source.next_of(-1, fact_bit<record::Verdict>()); at != no_step && at < end;
         at = source.next_of(at, fact_bit<record::Verdict>())) {
        std::vector<Record> record;
        source.read(at, at + 1, record);
        VerdictRow& row = rows.emplace_back();
        row.verdict = std::get<record::Verdict>(record.front().fact);
        row.eval = record.front().evaluation;
        row.kind = source.evaluation(row.eval).begin.kind;
        row.rules = source.text(row.verdict.rules);
        row.first = source.text(row.verdict.first);
        for (const auto& [kinds, take] :
             {std::pair{fact_bit<record::PlanBegin>(),
                        +[](const Fact&f, VerdictRow&r) { r.nodes = std::get<record::PlanBegin>(f).n_nodes.value_or(0); }},
              std::pair{fact_bit<record::PlanEnd>(),
                        +[](const Fact&f, VerdictRow&r) { r.splits = std::get<record::PlanEnd>(f).n_splits; }}}) {
            if (const Step before = source.previous_of(at, kinds); before != no_step) {
                record.clear();
                source.read(before, before + 1, record);
                take(record.front().fact, row);
            }
        }
    }
    add_repeats(source, end, rows);
    return rows;
}

VerdictSum sum_of(const std::vector<VerdictRow>& rows) {
    VerdictSum sum;
    sum.plans = std::ssize(rows);
    for (const VerdictRow& row : rows) {
        sum.reproduced += row.verdict.reproduced() ? 1 : 0;
        sum.decisions += row.verdict.decisions;
        sum.identical += row.verdict.identical;
        if (sum.first.empty() && !row.verdict.reproduced()) {
            sum.first = "evaluation " + std::to_string(row.eval) + ": " + row.first;
        }
    }
    sum.rules = rows.empty() ? "" : rows.back().rules; // by all plans: with each, fewer builds are left
    return sum;
}

std::string text_of(const VerdictSum& sum) {
    const bool all = sum.reproduced == sum.plans;
    return (all ? "reproduced: " : "not reproduced: ") + of_all(sum.reproduced, sum.plans, "plan") + ", " +
           (all ? words::counted(sum.decisions, "decision") : of_all(sum.identical, sum.decisions, "decision")) +
           (sum.rules.empty() ? "" : ", by the rules of " + sum.rules) + (all ? "" : "; first difference: " + sum.first);
}

} // namespace schedscope
