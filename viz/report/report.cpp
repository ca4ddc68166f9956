#include "viz/report/report.h"

#include "report_page.h" // made from report.html
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/accounts/summary.h"
#include "traces/history/words/misfit_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/layout/layout_process.h"
#include "viz/pictures/palette.h"
#include "viz/pictures/subject.h"
#include "viz/report/report_parts.h"
#include "viz/tables/table_json.h"
#include "viz/tables/tokens.h"
#include "viz/tables/view_names.h"

#include <map>
#include <numeric>
#include <set>

namespace schedscope {

namespace {

using nlohmann::json;

/// Null: it is not known.

class ReportData {
public:
    ReportData(History& history, const ReportOptions& options) : history_(history), options_(options) {}
    json collect();

private:
    void check() const {
        if (options_.layout.cancelled && options_.layout.cancelled()) {
            throw Error(ErrorKind::device, "the report was interrupted");
        }
    }
    void say(const std::string& what) const {
        if (options_.progress) {
            options_.progress(what);
        }
    }
    std::vector<EvaluationId> in_order_of_interest() const;
    bool add_plan(EvaluationId planned);
    void add_evaluation(EvaluationId evaluation);
    void add_pictures(json& plan, EvaluationId planned, size_t n_nodes);
    int32_t picture(EvaluationId planned, PictureView view);
    void add_stories(EvaluationId evaluation, json& plan_stories, json& runs, bool of_plan);
    json session() const;
    json whole_tables();
    json left_out() const;

    History& history_;
    const ReportOptions& options_;
    ReportTexts texts_;
    ReportTables tables_{texts_};
    json plans_ = json::array(), evaluations_ = json::array(), pictures_ = json::array();
    std::map<EvaluationId, size_t> plan_of_;
    std::map<std::string, int32_t> picture_of_; ///< by its text, which was given to Graphviz; −1: that failed, and would again
    std::set<std::string> said_;                ///< why something is not there
    std::map<EvaluationId, json> rows_;         ///< of evaluations, in their order
    int64_t n_tensors_ = 0, n_stories_ = 0, n_events_ = 0;
    int32_t skipped_evaluations_ = 0, skipped_runs_ = 0, skipped_stories_ = 0, skipped_pictures_ = 0, skipped_rows_ = 0;
};

/// What it opens with first, then everything in order.
std::vector<EvaluationId> ReportData::in_order_of_interest() const {
    std::vector<EvaluationId> order{history_.opening()};
    for (EvaluationId id = 0; id < history_.n_evaluations(); ++id) {
        if (id != order.front()) {
            order.push_back(id);
        }
    }
    return order;
}

/// The plan is there, or there is no room for it.
bool ReportData::add_plan(EvaluationId planned) {
    if (plan_of_.count(planned) != 0) {
        return true;
    }
    const PlanState& state = history_.plan(planned);
    if (history_.graph_of(state) == nullptr) {
        return true;
    }
    const int64_t n = state.tensors.size();
    const size_t n_nodes = state.order.size();
    if (!plans_.empty() && n_tensors_ + n > options_.max_tensors) {
        return false;
    }
    n_tensors_ += n;
    say("the plan of evaluation " + words::count(planned));
    json plan = report_plan(history_, planned, texts_, tables_);
    add_pictures(plan, planned, n_nodes);
    plan["stories"] = json::object();
    plan_of_[planned] = plans_.size();
    plans_.push_back(std::move(plan));
    return true;
}

void ReportData::add_pictures(json& plan, EvaluationId planned, size_t n_nodes) {
    json made = json::object();
    for (const std::string_view each : picture_view_names()) {
        const std::string name(each);
        const PictureView view = picture_view_from_name(each).value();
        if (view == PictureView::nodes && n_nodes > max_nodes_view) {
            said_.insert("The picture of every node of a plan with more than " + words::count(max_nodes_view) +
                         " nodes: layers are shown instead.");
            continue;
        }
        check();
        try {
            made[name] = picture(planned, view);
        } catch (const Error& error) {
            check();
            if (error.kind() == ErrorKind::usage) {
                continue; // nothing of it was recorded: the page says so
            }
            said_.insert("A picture (" + std::string(error.what()) + ").");
        }
    }
    plan["pictures"] = std::move(made);
}

/// −1: there is no room for more, or a plan that looks alike could not be laid out. Throws as run_layout for the first such plan.
int32_t ReportData::picture(EvaluationId planned, PictureView view) {
    PictureOptions options = options_.layout;
    options.view = view;
    options.eval = planned;
    options.heading = false; // it names the evaluation: plans that look alike share a picture
    options.numbered = true;
    for (const Pass pass :
         {Pass::allocate, Pass::optimise, Pass::split}) { // the whole plan, and no times: they are the evaluations'
        if (!options.pass && accounts::end_of_pass(history_, planned, pass) != no_step) {
            options.pass = pass;
        }
    }
    const std::string dot = make_dot(history_, options);
    const auto known = picture_of_.find(dot);
    if (known != picture_of_.end()) {
        return known->second;
    }
    if (n_of(picture_of_) >= options_.max_pictures) { // failures count: they may take longest
        ++skipped_pictures_;
        return -1;
    }
    const std::string name = "evaluation " + std::to_string(planned) + ", view " + std::string(picture_view_name(view));
    say("laying out " + name);
    int32_t& made = picture_of_[dot] = -1;
    pictures_.push_back(report_picture(run_layout(dot, "json0", options, name), history_.session(), texts_));
    return made = n_of(pictures_) - 1;
}

void ReportData::add_stories(EvaluationId evaluation, json& plan_stories, json& runs, bool of_plan) {
    const int64_t n = history_.plan(evaluation).tensors.size();
    if (n_stories_ + n > options_.max_stories) {
        ++skipped_stories_;
        return;
    }
    n_stories_ += n;
    std::vector<TensorId> known(history_.graph_of(history_.plan(evaluation))->tensors.size());
    std::iota(known.begin(), known.end(), TensorId{0});
    for (const record::CopyMade& made : history_.plan(evaluation).copies) { // ids behind the graph's that no copy has are gaps
        if (made.copy >= n_of(known)) {
            known.push_back(made.copy);
        }
    }
    for (const TensorId tensor : known) {
        if (tensor % 256 == 0) {
            check();
        }
        ReportStory story = report_story(history_, evaluation, tensor, texts_);
        if (of_plan) {
            plan_stories[std::to_string(tensor)] = std::move(story.plan);
        }
        if (!story.run.is_null()) {
            runs[std::to_string(tensor)] = std::move(story.run);
        }
    }
}

void ReportData::add_evaluation(EvaluationId evaluation) {
    check();
    const EvaluationSpan span = history_.evaluation(evaluation);
    const EvaluationId planned = span.begin.planned_in;
    const bool room = n_events_ < options_.max_events || plan_of_.empty();
    if (!room || !add_plan(planned)) {
        ++skipped_evaluations_;
        return;
    }
    const auto plan = plan_of_.find(planned);
    json row{{"id", evaluation},
             {"graph", words::graph(span.begin, 0, 0)},
             {"tokens", or_null(span.begin.n_tokens)},
             {"sequences", or_null(span.begin.n_sequences)},
             {"outputs", or_null(span.begin.n_outputs)},
             {"reused", span.begin.reused},
             {"planned_in", planned},
             {"failed_check", history_.source().text(span.begin.failed_check)},
             {"plan", plan == plan_of_.end() ? json(-1) : json(plan->second)}};
    if (plan != plan_of_.end()) {
        const PlanState& state = history_.plan(evaluation);
        row["graph"] = words::graph(span.begin, std::ssize(state.order), std::ssize(state.splits));
        const int64_t n = state.executed.size() + state.transfers.size() + state.waits.size();
        const bool with_events = n_events_ + n <= options_.max_events;
        n_events_ += with_events ? n : 0;
        skipped_runs_ += with_events ? 0 : 1;
        row["tables"] = report_run(history_, evaluation, with_events, tables_);
        json runs = json::object();
        add_stories(evaluation, plans_[plan->second]["stories"], runs, plans_[plan->second]["stories"].empty());
        row["stories"] = std::move(runs);
    }
    rows_[evaluation] = std::move(row);
}

json ReportData::session() const {
    const SessionInfo& session = history_.session();
    const Palette palette(session);
    json backends = json::array(), facts = json::array(), passes = json::array();
    for (size_t b = 0; b < session.backends.size(); ++b) {
        const BackendInfo& info = session.backends[b];
        const BackendStyle& style = palette[narrow<BackendId>(b)];
        backends.push_back({{"name", info.name},
                            {"kind", or_null(info.kind)},
                            {"description", info.description},
                            {"memory", or_null(info.memory_bytes)},
                            {"letter", style.letter},
                            {"fill", style.fill},
                            {"pale", style.pale},
                            {"line", style.line}});
    }
    for (const auto& fact : shown_facts(session)) {
        facts.push_back({fact.first, words::fact(fact)});
    }
    for (auto pass = static_cast<uint8_t>(Pass::none); pass < static_cast<uint8_t>(Pass::count); ++pass) {
        passes.push_back({pass_name(static_cast<Pass>(pass)), pass_title(static_cast<Pass>(pass))});
    }
    return {{"title", run_title(session, std::nullopt)},
            {"backends", std::move(backends)},
            {"facts", std::move(facts)},
            {"passes", std::move(passes)}};
}

/// Of the whole trace: tokens and evaluations, as far as there is room.
json ReportData::whole_tables() {
    json made = json::object();
    tables_.add(tables::TokensTable(history_), made);
    tables::EvaluationsTable evaluations(history_);
    evaluations.update_to_end();
    tables_.add(evaluations, made);
    for (auto& [key, rows] : made.items()) {
        if (std::ssize(rows) > options_.max_rows) {
            skipped_rows_ += int_of(rows.size() - options_.max_rows);
            rows.erase(rows.begin() + options_.max_rows, rows.end());
        }
    }
    return made;
}

json ReportData::left_out() const {
    json sentences = json::array();
    const auto count = [&](int32_t n, const char* noun, const std::string& of) {
        if (n > 0) {
            sentences.push_back(words::counted(n, noun) + of);
        }
    };
    count(skipped_evaluations_, "evaluation",
          " of " + words::count(history_.n_evaluations()) + ": the file would be too large. schedscope inspect shows all.");
    count(skipped_runs_, "evaluation", " without kernels and times: more than " + words::count(options_.max_events) + " events.");
    count(skipped_stories_, "evaluation", " without the stories of its tensors: schedscope explain tells them.");
    count(skipped_pictures_, "picture", ": schedscope dot draws them.");
    count(skipped_rows_, "row", " of tokens and reuse: schedscope show lists them.");
    for (const std::string& sentence : said_) {
        sentences.push_back(sentence);
    }
    return sentences;
}

json ReportData::collect() {
    if (history_.opening() < 0) {
        throw Error(ErrorKind::usage, "report: nothing is planned in this trace");
    }
    for (const EvaluationId evaluation : in_order_of_interest()) {
        add_evaluation(evaluation);
    }
    json evaluations = json::array();
    for (auto& [id, row] : rows_) {
        evaluations.push_back(std::move(row));
    }
    const accounts::Summary summary = accounts::summary(history_);
    json data = session();
    data["trace"] = options_.trace;
    data["logged_memory"] = json::array();
    for (const auto& [what, sizes] : accounts::logged_memory(history_.session())) {
        data["logged_memory"].push_back(joined({what, ": ", sizes}));
    }
    data["summary"] = {{"steps", summary.steps},
                       {"evaluations", summary.evaluations},
                       {"plans", summary.plans},
                       {"tokens", or_null(summary.tokens)}};
    data["misfits"] = json::array();
    for (const MemoryMisfit& misfit : memory_misfits(history_.session())) {
        data["misfits"].push_back(misfit.text());
    }
    data["views"] = view_names;
    data["watched"] = history_.source().next_of(-1, fact_bit<record::Value>()) != no_step;
    data["verified"] = history_.source().next_of(-1, fact_bit<record::Difference>()) != no_step;
    data["opening"] = history_.opening();
    data["evaluations"] = std::move(evaluations);
    data["plans"] = std::move(plans_);
    data["pictures"] = std::move(pictures_);
    data["tables"] = whole_tables();
    data["columns"] = tables_.columns();
    data["language"] = report_language(history_);
    data["left_out"] = left_out();
    data["texts"] = texts_.list();
    return data;
}

/// JSON that may stand inside a script element: no '<' can end it or open a comment. Everything beyond ASCII is escaped too.
std::string for_a_script(const json& data) {
    const std::string text = data.dump(-1, ' ', true, json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size() + text.size() / 16);
    for (const char c : text) {
        if (c == '<') {
            safe += "\\u003c";
        } else if (c == '>') {
            safe += "\\u003e";
        } else if (c == '&') {
            safe += "\\u0026";
        } else {
            safe += c;
        }
    }
    return safe;
}

} // namespace

std::string make_report(History& history, const ReportOptions& options) {
    constexpr std::string_view page(report_page, sizeof report_page), place = "@DATA@";
    const size_t at = page.find(place);
    const std::string data = for_a_script(ReportData(history, options).collect());
    std::string report;
    report.reserve(page.size() + data.size());
    report.append(page.substr(0, at)).append(data).append(page.substr(at + place.size()));
    return report;
}

} // namespace schedscope
