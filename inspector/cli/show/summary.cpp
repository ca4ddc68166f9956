// The whole trace at a glance.

#include "traces/history/accounts/summary.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/show.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/values.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/verdict_words.h"
#include "traces/history/words/words.h"
#include "viz/tables/text_table.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <ostream>

namespace schedscope::show {

using nlohmann::json;

json backend_json(const History& history, BackendId id) {
    return id == no_backend ? json(nullptr) : json(history.backend_name(id));
}

namespace {

std::string number(int64_t n) { return std::to_string(n); }
/// "62 copies: 11 in each of 4 stages, 18 more of inputs of the graph"
std::string count_of_copies(const accounts::Summary& s) {
    std::string text = (s.all_copies_known ? "" : "at least ") + words::counted(s.copies, "copy");
    if (s.stages > 1) {
        text += ": " + number((s.copies - s.input_copies) / s.stages) + " in each of " + number(s.stages) + " stages";
        text += s.input_copies > 0 ? ", " + number(s.input_copies) + " more of inputs of the graph" : "";
    }
    return text;
}

/// "18 copies (154 KiB of 307 KiB moved)", "62 copies: … (614 KiB in all; 154 KiB moved by one stage)"
std::string copies_of(const accounts::Summary& s) {
    const std::string all = words::bytes(s.to_copy);
    if (s.copies == 0) {
        return count_of_copies(s);
    }
    const std::string size = !s.moved_bytes                      ? all + " to move"
                             : *s.moved_bytes == s.to_copy.bytes ? all + " moved"
                                                                 : words::bytes(*s.moved_bytes) + " of " + all + " moved";
    return joined({count_of_copies(s), " (", s.stages > 1 ? words::bytes(s.copied) + " in all; " : "", size,
                   s.stages > 1 ? " by one stage" : "", ")"});
}

/// "35 splits, 45 copies (689 KiB moved)"
std::string splits_of(const accounts::Summary& s) {
    return s.unfinished ? s.unfinished->told() : words::counted(s.splits, "split") + ", " + copies_of(s);
}

/// ", the first prompt", ", the last one planned", ", decode"
std::string what_it_is(const History& history, const accounts::Summary& s) {
    const std::optional<GraphKind> kind = history.evaluation(s.evaluation).begin.kind;
    if (s.evaluation == history.opening()) {
        return kind == GraphKind::prefill ? ", the first prompt" : ", the last one planned";
    }
    return kind ? ", " + std::string(graph_kind_name(*kind)) : "";
}

} // namespace

void summary_text(History& history, EvaluationId evaluation, std::ostream& out, bool all) {
    const accounts::Summary s = accounts::summary(history, evaluation);
    const SessionInfo& session = history.session();
    size_t width = 0;
    const auto facts = shown_facts(session);
    for (const auto& [name, value] : facts) {
        width = std::max(width, name.size());
    }
    for (const auto& fact : facts) {
        OutputLine(out) << std::left << std::setw(int_of(width) + 2) << fact.first << words::fact(fact);
    }
    for (const BackendInfo& b : session.backends) {
        OutputLine(out) << "backend  " << b.name << (b.kind || all ? " (" + b.kind.value_or(unknown_text) + ")" : "")
                        << (b.description.empty() ? "" : " " + b.description)
                        << (b.memory_bytes ? ", " + words::bytes(*b.memory_bytes) : "");
    }
    out << '\n'
        << words::counted(s.evaluations, "evaluation")
        << (s.reserves > 0 ? " (" + words::counted(s.reserves, "reserve") + ")" : "") << ", "
        << s.plans - (s.last_is_unfinished ? 1 : 0) << " planned" << (s.last_is_unfinished ? ", 1 in part" : "")
        << (s.failed > 0 ? ", " + number(s.failed) + " failed" : "") << "; "
        << (!session_fact(session, dry_run_fact).empty() ? "a dry run; "
            : s.tokens                                   ? words::counted(*s.tokens, "token") + "; "
                                                         : "")
        << words::counted(s.steps, "record") << (s.steps > 0 ? " (steps 0…" + words::count(s.steps - 1) + ")" : "")
        << (s.time_ns() ? " over " + words::duration(*s.time_ns()) : "") << '\n';
    if (const accounts::DifferenceCount d = accounts::count_differences(history.source(), s.steps); d.compared + d.skipped > 0) {
        out << "verified: " << words::counted(d.compared, "node") << " compared, " << words::count(d.beyond)
            << " beyond tolerance, " << words::count(d.skipped) << " skipped (--what differences)\n";
    }
    if (const std::vector<VerdictRow> verdicts = verdicts_of(history.source(), history.n_steps()); !verdicts.empty()) {
        OutputLine(out) << text_of(sum_of(verdicts));
    }
    if (s.evaluation < 0) {
        return;
    }
    out << "evaluation " << words::evaluation_of(s.evaluation, s.evaluations) << what_it_is(history, s) << ": "
        << (s.nodes ? words::counted(*s.nodes, "node") + words::not_in_log(s.nodes_left_out) + ", "
            : all   ? std::string(unknown_text) + " nodes, "
                    : "")
        << splits_of(s)
        << (s.unfinished                 ? ""
            : s.compute.known() == 0     ? ", no compute buffers made"
            : s.compute.bytes > 0 || all ? ", compute buffers " + words::bytes(s.compute)
                                         : "")
        << "\n\n";
    TextTable table({{"operator"}, {"backend"}, {"nodes", TextTable::Align::right}});
    for (const auto& o : s.operators) {
        table.row({o.op, history.backend_name(o.backend), number(o.nodes)});
    }
    if (!table.empty()) { // no nodes may be known
        table.print(out);
    }
}

json summary_json(History& history, EvaluationId evaluation) {
    const accounts::Summary s = accounts::summary(history, evaluation);
    const accounts::DifferenceCount d = accounts::count_differences(history.source(), s.steps);
    const VerdictSum verdicts = sum_of(verdicts_of(history.source(), history.n_steps()));
    json facts = json::object();
    for (const auto& [name, value] : shown_facts(history.session())) {
        facts[name] = value;
    }
    json backends = json::array();
    for (const BackendInfo& b : history.session().backends) {
        backends.push_back({{"name", b.name},
                            {"device", b.device},
                            {"kind", or_null(b.kind)},
                            {"description", or_null(b.description)},
                            {"memory_bytes", or_null(b.memory_bytes)}});
    }
    json operators = json::array();
    for (const auto& o : s.operators) {
        operators.push_back({{"op", o.op == unknown_text ? json(nullptr) : json(o.op)},
                             {"backend", backend_json(history, o.backend)},
                             {"nodes", o.nodes}});
    }
    return {{"facts", facts},
            {"backends", backends},
            {"steps", s.steps},
            {"evaluations", s.evaluations},
            {"plans", s.plans},
            {"failed", s.failed},
            {"graphs", s.graphs},
            {"tokens", or_null(s.tokens)},
            {"time_ns", or_null(s.time_ns())},
            {"last_planned", s.last_planned < 0 ? json(nullptr) : json(s.last_planned)},
            {"evaluation", s.evaluation < 0 ? json(nullptr) : json(s.evaluation)},
            {"nodes", or_null(s.nodes)},
            {"nodes_left_out", s.nodes_left_out},
            {"leafs", or_null(s.leafs)},
            {"splits", s.unfinished ? json(nullptr) : json(s.splits)},
            {"copies", s.unfinished || !s.all_copies_known ? json(nullptr) : json(s.copies)},
            {"unfinished_in", s.unfinished ? json(pass_name(s.unfinished->pass)) : json(nullptr)},
            {"copied_bytes", s.unfinished ? json(nullptr) : or_null(s.copied.known())},
            {"inputs", s.unfinished || !s.all_copies_known ? json(nullptr) : json(s.inputs)},
            {"input_bytes", s.unfinished ? json(nullptr) : or_null(s.to_copy.known())},
            {"moved_bytes", or_null(s.moved_bytes)},
            {"compute_bytes", or_null(s.compute.known())},
            {"compared", d.compared},
            {"beyond", d.beyond},
            {"plans_made_again", verdicts.plans},
            {"reproduced", verdicts.reproduced},
            {"operators", operators}};
}

} // namespace schedscope::show
