#include "traces/diff/diff.h"

#include "runtime/error.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/describe.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <set>

namespace schedscope::diff {

namespace {

/// A run without --seed has a random one, and a greedy one takes nothing from it.
bool used_seed(History& history) {
    if (!history.knows(Topic::tokens)) {
        return true; // it may have
    }
    const std::vector<accounts::TokenRow> tokens = accounts::tokens(history);
    return std::any_of(tokens.begin(), tokens.end(), [](const accounts::TokenRow& token) { return token.used_seed(); });
}

std::vector<Setting> compare_settings(History& history_a, History& history_b) {
    const SessionInfo &a = history_a.session(), &b = history_b.session();
    using FactList = std::vector<std::pair<std::string, std::string>>;
    const auto facts_of = [](const SessionInfo& session) {
        FactList facts = shown_facts(session);
        facts.emplace_back("backends", joined(session.backends, ", ", &BackendInfo::name));
        for (const BackendInfo& backend : session.backends) {
            if (!backend.description.empty()) { // it may be unknown
                facts.emplace_back("backend " + backend.name, backend.description);
            }
        }
        return facts;
    };
    const auto value_in = [](const FactList& facts, const std::string& name) {
        const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == name; });
        return found == facts.end() ? std::nullopt : std::optional(found->second);
    };
    const FactList facts_a = facts_of(a), facts_b = facts_of(b);
    std::vector<Setting> settings;
    for (const auto& [name, value] : facts_a) {
        if (std::optional<std::string> other = value_in(facts_b, name); other != value) {
            settings.push_back({name, value, std::move(other)});
        }
    }
    for (const auto& [name, value] : facts_b) {
        if (!value_in(facts_a, name)) {
            settings.push_back({name, std::nullopt, value});
        }
    }
    std::erase_if(settings, [&](const Setting& s) {
        return s.name == "seed" && !s.one_sided() && !used_seed(history_a) && !used_seed(history_b);
    });
    for (const auto& [of_b, of_a] : SameDevices(a, b).backends) {
        settings.push_back({"compared as " + of_a, of_a, of_b});
    }
    return settings;
}

/// Why an evaluation failed; nothing: it did not, or was not seen to.
DiffValue failure_of(History& history, const EvaluationSpan& span) {
    if (!span.complete || span.first >= span.end) {
        return {};
    }
    const Record last = history.record(span.end - 1);
    const auto* end = std::get_if<record::EvaluationEnd>(&last.fact);
    return end != nullptr && end->failed ? DiffValue{std::string(history.source().text(end->error))} : DiffValue{};
}

class TraceComparison {
public:
    TraceComparison(History& a, History& b, const DiffOptions& options) : a_(a), b_(b), options_(options) {}

    Result run() {
        result_.settings = compare_settings(a_, b_);
        const int n = a_.n_evaluations();
        if (options_.evaluation && (*options_.evaluation < 0 || *options_.evaluation >= n)) {
            throw Error(ErrorKind::usage, "--eval " + std::to_string(*options_.evaluation) +
                                              ": the first trace has evaluations " + words::evaluations(n));
        }
        std::vector<EvaluationPair> both;
        for (const EvaluationPair& evaluations : pair_evaluations(a_.source(), b_.source())) {
            if (options_.evaluation && evaluations.first != *options_.evaluation) {
                continue;
            }
            if (evaluations.first < 0 || evaluations.second < 0) {
                only_in_one(evaluations);
            } else {
                compare(evaluations);
                both.push_back(evaluations);
            }
        }
        if (options_.evaluation && both.empty() && result_.differences.empty()) {
            only_in_one({*options_.evaluation, -1}); // what no run of the other trace could be the partner of
        }
        result_.evaluations = both.size();
        if (!options_.evaluation || !both.empty()) {
            compare_tokens(a_, b_, options_.evaluation ? std::optional(both.front()) : std::nullopt, result_);
        }
        add_times(a_, b_, both, result_);
        return std::move(result_);
    }

private:
    static bool verifies(const History& history) {
        return history.source().next_of(-1, fact_bit<record::Difference>()) != no_step;
    }
    void only_in_one(const EvaluationPair& evaluations) {
        const auto value = [](const History& history, EvaluationId id) {
            return id < 0 ? DiffValue{} : DiffValue{kind_and_size(history.source(), id)};
        };
        Found found(result_, evaluations.first, evaluations.second);
        found.compared();
        found.add(What::evaluation, "evaluation " + std::to_string(std::max(evaluations.first, evaluations.second)),
                  value(a_, evaluations.first), value(b_, evaluations.second));
    }

    void compare(const EvaluationPair& evaluations) {
        const EvaluationSpan a = a_.evaluation(evaluations.first), b = b_.evaluation(evaluations.second);
        Found found(result_, evaluations.first, evaluations.second);
        const auto reuse = [](const History& history, const record::EvaluationBegin& begin) {
            return begin.reused              ? std::string("used again")
                   : begin.failed_check != 0 ? "made again: " + std::string(history.source().text(begin.failed_check))
                                             : std::string("made again");
        };
        found.compared(2);
        const bool know_alike = a_.knows(Topic::reuse) == b_.knows(Topic::reuse);
        if (const std::string x = reuse(a_, a.begin), y = reuse(b_, b.begin); know_alike && x != y) {
            found.add(What::reuse, "graph", x, y);
        }
        if (const DiffValue x = failure_of(a_, a), y = failure_of(b_, b); x != y) {
            found.add(What::failure, "evaluation " + std::to_string(evaluations.first), x, y);
        }
        // What a decode reads was said where it was generated; a reserve reads nothing.
        if (a.begin.kind != GraphKind::decode && a.begin.kind != GraphKind::reserve) {
            compare_prompts(
                a_, b_, evaluations, [&] { return sizes_tell(evaluations); }, found);
        }
        if (plans_seen_.insert({a.begin.planned_in, b.begin.planned_in}).second && a.first < a.end && b.first < b.end) {
            compare_plans(evaluations, found);
        }
        if (verified_) {
            const PlanState &of_a = a_.plan(evaluations.first), &of_b = b_.plan(evaluations.second);
            if (of_a.graph >= 0 && of_b.graph >= 0) {
                compare_verdicts(PlanPair(a_, of_a, b_, of_b), found);
            }
        }
    }

    bool sizes_tell(const EvaluationPair& evaluations) {
        const PlanState &a = a_.plan(evaluations.first), &b = b_.plan(evaluations.second);
        return a.graph < 0 || b.graph < 0 || PlanPair(a_, a, b_, b).sizes_tell();
    }

    void compare_plans(const EvaluationPair& evaluations, Found& found) {
        const PlanState &a = a_.plan(evaluations.first), &b = b_.plan(evaluations.second);
        if (a.graph < 0 || b.graph < 0) {
            found.compared();
            if (a.graph >= 0 || b.graph >= 0) {
                const auto value = [](const PlanState& state) {
                    return state.graph < 0 ? DiffValue{} : DiffValue{std::string("planned")};
                };
                found.add(What::failure, "plan", value(a), value(b));
            }
            return;
        }
        const PlanPair plans(a_, a, b_, b);
        if (plans.a.knows_nodes() == plans.b.knows_nodes()) {
            compare_graphs(plans, found);
            compare_assignments(plans, found);
            compare_splits(plans, found);
            compare_copies(plans, found);
            compare_fusion(plans, found);
            compare_order(plans, found);
            compare_memory(plans, found);
            add_split_times(plans, result_);
        } else {
            compare_splits_in_order(plans, found);
        }
        const std::optional<GraphKind> kind = kind_of(a_, b_, evaluations);
        if (std::none_of(result_.summaries.begin(), result_.summaries.end(),
                         [&](const DiffSummary& s) { return s.kind == kind; })) {
            result_.summaries.push_back(summarise(plans));
        }
    }

    History &a_, &b_;
    const DiffOptions options_;
    const bool verified_ = verifies(a_) && verifies(b_);
    Result result_;
    std::set<EvaluationPair> plans_seen_; ///< by the evaluations that made them
};

} // namespace

std::string kind_and_size(const RecordSource& source, EvaluationId evaluation) {
    const record::EvaluationBegin begin = source.evaluation(evaluation).begin;
    return !begin.kind
               ? describe_graph(source, evaluation)
               : std::string(kind_text(begin.kind)) + (begin.n_tokens ? " of " + words::counted(*begin.n_tokens, "token") : "");
}

Result compare(History& a, History& b, const DiffOptions& options) { return TraceComparison(a, b, options).run(); }

std::vector<const Setting*> told_together(const std::vector<Setting>& settings) {
    constexpr size_t many = 4;
    std::vector<const Setting*> together;
    for (const Setting& setting : settings) {
        if (setting.one_sided()) {
            together.push_back(&setting);
        }
    }
    return together.size() < many ? std::vector<const Setting*>() : together;
}

DiffValue more_of(const TraceDifference& difference, std::string_view name) {
    const auto& more = difference.more;
    const auto found = std::find_if(more.begin(), more.end(), [&](const auto& m) { return m.first == name; });
    return found == more.end() ? DiffValue{} : found->second;
}

std::string value_text(What what, const DiffValue& value) {
    if (const auto* n = std::get_if<int64_t>(&value)) {
        return what == What::buffer || what == What::peak ? words::bytes(*n) : words::count(*n);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
        return what == What::token ? '"' + visible(*text) + '"' : *text;
    }
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    return list != nullptr ? joined(*list, " ") : "";
}

std::pair<std::string, std::string> value_texts(const TraceDifference& difference) {
    if (difference.what != What::buffer && difference.what != What::peak) {
        return {value_text(difference.what, difference.a), value_text(difference.what, difference.b)};
    }
    const auto amount = [&](const DiffValue& value, std::string_view rounding) {
        const auto* n = std::get_if<int64_t>(&value);
        std::optional<Amount> amount = n == nullptr ? std::nullopt : std::optional<Amount>(*n);
        if (const DiffValue off = more_of(difference, rounding); amount && std::holds_alternative<int64_t>(off)) {
            amount->rounding = std::get<int64_t>(off);
        }
        return amount;
    };
    return Measure{"", Measure::Unit::bytes, amount(difference.a, "rounding_a"), amount(difference.b, "rounding_b")}
        .texts_of_each("");
}

} // namespace schedscope::diff
