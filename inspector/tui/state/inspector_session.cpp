#include "inspector/tui/state/inspector_session.h"

#include "inspector/tui/state/same_place.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/format/fields.h"
#include "traces/format/schedscope_stream.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/describe.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/query/known_words.h"
#include "viz/tables/nodes.h"
#include "viz/tables/tokens.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

constexpr Step scan_chunk = 8192;

/// What a step by a unit goes to.
std::string_view moment_word(History::Unit unit) noexcept {
    switch (unit) {
    case History::Unit::record: return "step";
    case History::Unit::sweep: return "end of a sweep";
    case History::Unit::pass: return "end of a pass";
    case History::Unit::split: return "end of a split";
    case History::Unit::evaluation: return "evaluation";
    default: return "token";
    }
}

/// The tensors of that name before `end`.
std::vector<TensorId> ids_called(const OwnedGraph& graph, std::string_view name, TensorId end) {
    std::vector<TensorId> ids;
    for (TensorId id = 0; !name.empty() && id < std::min(end, n_of(graph.tensors)); ++id) {
        if (graph.tensors[id].name == name) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::string nothing_recorded_after(History::Unit unit) {
    return "no " + std::string(moment_word(unit)) +
           " comes after this in what is recorded: > goes to the newest step, from there the program goes on";
}

/// In a line that eighty columns hold: a text that names the evaluation itself stands alone.
std::string in_evaluation(EvaluationId id, bool same_place, const std::string& text) {
    const std::string evaluation = "evaluation " + words::count(id);
    return text.starts_with(evaluation + " ") ? text : evaluation + (same_place ? ", the same place: " : ", next there: ") + text;
}

} // namespace

InspectorSession::InspectorSession(std::shared_ptr<const RecordSource> source, LiveGate* gate, int ended_fd)
    : source_(std::move(source)), history_(source_) {
    if (gate) {
        program_.emplace(*gate, ended_fd);
    }
    if (history_.n_steps() == 0) {
        return;
    }
    Step start = last_step();
    if (!program_) {
        const EvaluationId opening = history_.opening();
        if (opening >= 0) {
            start = history_.evaluation(opening).end - 1;
        }
    }
    show(std::clamp<Step>(start, 0, last_step()));
}

void InspectorSession::show(Step step) {
    const OwnedGraph* const before = graph_;
    const std::string selected_name = before && selected_ != no_tensor ? name(selected_) : std::string();
    const size_t selected_place = before ? ids_called(*before, selected_name, selected_).size() : 0; // among those of its name
    record_ = history_.record(step);
    state_ = history_.state_at(step);
    if (state_.graph < 0) { // an evaluation begins: what it is going to plan can be looked at, with nothing decided yet
        const Step planned = history_.source().next_of(step, fact_bit<record::PlanBegin>());
        if (planned != no_step && history_.evaluation_of(planned) == state_.evaluation) {
            state_ = history_.state_at(planned);
        }
    }
    state_.step = step;
    graph_ = history_.graph_of(state_);
    ++version_;

    tensors_.clear();
    rows_.clear();
    if (!graph_) {
        selected_ = no_tensor;
        return;
    }
    tensors_ = tables::tensors_in_order(*graph_, state_);
    rows_.assign(std::max(state_.tensors.size(), graph_->tensors.size()), -1);
    for (int32_t row = 0; row < n_of(tensors_); ++row) {
        rows_[tensors_[row]] = row;
    }

    // In another graph the tensor of the same name is meant; of several, the one in the same place among them.
    if (before != graph_ && !selected_name.empty()) {
        const std::vector<TensorId> same = ids_called(*graph_, selected_name, n_of(graph_->tensors));
        selected_ = same.empty() ? no_tensor : same[selected_place < same.size() ? selected_place : 0];
    }
    if (row_of(selected_) < 0) {
        selected_ = tensors_.empty() ? no_tensor : tensors_.front();
    }
}

/// The tensors whose backend or rule is another one now, and copies that were not there.
void InspectorSession::find_changes(const std::vector<TensorState>& before) {
    for (size_t i = 0; i < state_.tensors.size(); ++i) {
        const TensorState& now = state_.tensors[i];
        const TensorState was = i < before.size() ? before[i] : TensorState{};
        if (was.backend != now.backend || was.cause != now.cause) {
            changed_.add(int_of(i), was.backend);
        }
    }
}

/// The selection goes to what changed: the tensor that the record is about; else one of those that changed, unless the selected
/// one did.
void InspectorSession::follow_change() {
    if (!follow) {
        return;
    }
    if (const TensorId about = subject(record_.fact); row_of(about) >= 0) {
        selected_ = about;
    } else if (!changed_.contains(selected_)) {
        TensorId first = no_tensor;
        for (const TensorId id : changed_.ids()) {
            if (row_of(id) >= 0 && (first == no_tensor || row_of(id) < row_of(first))) {
                first = id;
            }
        }
        if (first != no_tensor) {
            selected_ = first;
        }
    }
}

std::string InspectorSession::told(const accounts::PassWork& work) {
    std::string text = work.whole ? "pass 2 (expand) ends" : describe(history_, record_);
    if (work.pass != Pass::none) {
        const bool failed = !std::holds_alternative<record::PassEnd>(record_.fact);
        return text + (failed ? " · " : ": ") + work.told(history_, state_);
    }
    if (const auto* a = std::get_if<record::Assign>(&record_.fact); a && or_none(a->after) != no_backend) {
        text = name(a->tensor) + ": " + backend_name(or_none(a->before)) + " → " + backend_name(*a->after) + " by " +
               cause_text(a->cause, a->source);
        if (or_none(a->by) != no_tensor) {
            text += " (" + name(*a->by) + ")";
        }
    }
    if (n_changed() == 1) { // by this record, which says so, or one that was stepped back over
        const TensorId id = changed_.ids().front();
        const BackendId backend = *changed_.before(id);
        const auto* const assign = std::get_if<record::Assign>(&record_.fact);
        const auto* const made = std::get_if<record::CopyMade>(&record_.fact);
        if ((!assign || assign->tensor != id) && (!made || made->copy != id)) {
            text += " · " + name(id) + ": " + backend_name(backend) + " → " + backend_name(state_.tensors[id].backend);
        }
    } else if (n_changed() > 0) {
        const std::vector<TensorId>& ids = changed_.ids();
        const auto n_copies = std::count_if(ids.begin(), ids.end(), [this](TensorId id) { return is_copy(id); });
        const auto n_tensors = n_changed() - n_copies;
        text += " · " + (n_tensors > 0 ? counted(n_tensors, "tensor") + " changed" : "") +
                (n_tensors > 0 && n_copies > 0 ? ", " : "") + (n_copies > 0 ? counted(n_copies, "copy") + " made" : "") +
                " on the way";
    }
    return text;
}

std::string InspectorSession::go(Step step, Unit unit) {
    if (history_.n_steps() == 0) {
        return "nothing is recorded yet";
    }
    if (step < 0 || step > last_step()) {
        return "there is no step " + words::count(step) + ": they go from 0 to " + words::count(last_step());
    }
    follows_ = step == last_step();
    unit_ = unit;
    const bool single = step == state_.step + 1 || step == state_.step - 1;
    const std::vector<TensorState> before = state_.tensors;
    const auto [graph, planned_in] = std::pair(state_.graph, state_.planned_in);
    show(step);
    changed_.clear();
    const accounts::PassWork work = accounts::work_of_pass(history_, step, unit);
    if (work.pass != Pass::none) { // whichever way led to its end
        changed_ = work.changed;
    } else if (graph == state_.graph && planned_in == state_.planned_in) {
        find_changes(before);
    }
    if (single) {
        follow_change();
    }
    return told(work);
}

std::string InspectorSession::move(Unit unit, bool forward) {
    if (program_ && follows_ && !running() && !at_newest()) {
        refresh(); // it was held a moment ago: the step is meant from there
    }
    if (program_ && forward && (at_newest() || (running() && follows_))) {
        using State = LiveProgram::State;
        if (program_->will_be_held()) {
            return "the program will be held at its next record: from there it can be stepped";
        }
        switch (program_->state()) {
        case State::ended: return "the program has ended: nothing comes after step " + words::count(step());
        case State::running: return "the program is running: Space holds it";
        case State::stepping: program_->step_later(unit); break;
        case State::held: step_program(unit); break;
        }
        return "running to the next " + std::string(moment_word(unit));
    }
    if (history_.n_steps() == 0) {
        return "nothing is recorded yet";
    }
    if (unit == Unit::evaluation || (unit == Unit::token && !knows(Topic::tokens))) {
        return move_evaluation(forward, unit == Unit::token);
    }
    const Step from = step();
    const Step to = forward ? history_.next(from, unit) : history_.previous(from, unit);
    if (to != no_step) {
        return go_unless_met(to, unit, [this, to, unit] {
            std::string text = go(to, unit);
            follow_change();
            return text;
        });
    }
    if (unit == Unit::record) {
        return forward ? "this is the last step of the trace" : "this is the first step of the trace";
    }
    if (program_ && forward) {
        return nothing_recorded_after(unit);
    }
    return "no " + std::string(moment_word(unit)) + " comes " + (forward ? "after" : "before") + " this step";
}

std::string InspectorSession::change_of_selected(bool forward) {
    if (selected_ == no_tensor) {
        return "no tensor is selected: nothing is planned at this step";
    }
    // changes_of covers the plan's making too. Between that and this evaluation, others may have run the same plan.
    // Each of those runs all of it: what some don't speak of, the next ones won't either.
    constexpr int furthest = 64, most_looked_at = 4;
    int looked_at = 0;
    const EvaluationId here = state_.evaluation;
    Step found = no_step;
    for (EvaluationId e = here;
         e >= 0 && e < history_.n_evaluations() && std::abs(e - here) <= furthest && looked_at < most_looked_at;
         e += forward ? 1 : -1) {
        if (history_.evaluation(e).begin.planned_in != state_.planned_in) {
            continue;
        }
        ++looked_at;
        const std::vector<Step> steps = history_.changes_of(e, selected_);
        const auto nearest = [&](auto first, auto last) { // the first of them that is beyond, and nearer than what was found
            for (; first != last; ++first) {
                const bool beyond =
                    forward ? *first > step() && (found == no_step || *first < found) : *first < step() && *first > found;
                if (beyond) {
                    found = *first;
                    return;
                }
            }
        };
        forward ? nearest(steps.begin(), steps.end()) : nearest(steps.rbegin(), steps.rend());
        if (found != no_step && (forward || e == state_.planned_in || found >= history_.evaluation(e).first)) {
            break;
        }
    }
    if (found != no_step) {
        const TensorId still = selected_;
        std::string text = go(found);
        select(still);
        return text;
    }
    return name(selected_) + ": nothing " + (forward ? "later" : "earlier") + " is recorded of it in this plan";
}

SamePlace InspectorSession::place_in(Step from, EvaluationId id) {
    return history_.evaluation_of(from) == id ? SamePlace{from, true} : same_place(history_, describer_, from, id);
}

std::string InspectorSession::go_evaluation(EvaluationId id) {
    if (history_.n_evaluations() == 0) {
        return "nothing is recorded yet";
    }
    if (id < 0 || id >= history_.n_evaluations()) {
        return "there is no evaluation " + words::evaluation_of(id, history_.n_evaluations());
    }
    if (id == state_.evaluation) {
        return go(beginning_of(history_, id));
    }
    const Step from = origin_.reached == step() ? origin_.step : step();
    const SamePlace place = place_in(from, id);
    std::string text = go(place.step, unit_);
    origin_ = {from, place.step};
    return in_evaluation(id, place.same, text);
}

bool InspectorSession::is_reserve(EvaluationId id) const { return history_.evaluation(id).begin.kind == GraphKind::reserve; }

std::string InspectorSession::move_evaluation(bool forward, bool past_reserves) {
    const int by = forward ? 1 : -1;
    EvaluationId to = state_.evaluation + by;
    while (past_reserves && to >= 0 && to < history_.n_evaluations() && is_reserve(to)) {
        to += by;
    }
    if (to >= 0 && to < history_.n_evaluations()) {
        if (breakpoints_.n_enabled() == 0) {
            return go_evaluation(to);
        }
        const Step from = origin_.reached == step() ? origin_.step : step();
        return go_unless_met(place_in(from, to).step, unit_, [this, to] { return go_evaluation(to); });
    }
    return program_ && forward ? nothing_recorded_after(Unit::evaluation)
                               : "no evaluation" + std::string(past_reserves ? " of tokens" : "") + " comes " +
                                     (forward ? "after" : "before") + " this one";
}

/// The program was held on its way to a place in the next evaluation. True: it goes on.
bool InspectorSession::seek() {
    if (!sought_) {
        return false;
    }
    const Record newest = history_.record(last_step());
    const bool stops = program_->ended() || program_->at_breakpoint();
    if (sought_->past_reserves && newest.evaluation > sought_->behind && is_reserve(newest.evaluation) && !stops) {
        sought_->behind = newest.evaluation;
        program_->step(Unit::evaluation);
        return true;
    }
    const bool is_next = newest.evaluation > sought_->behind, reserves = is_next && is_reserve(newest.evaluation);
    const bool plans = !is_next || history_.evaluation(newest.evaluation).begin.planned_in == newest.evaluation;
    const auto* const end = std::get_if<record::PassEnd>(&newest.fact);
    // A reserve runs nothing; one by a plan that is there has its beginning only.
    const Pass wanted = reserves ? std::min(sought_->pass, Pass::split) : sought_->pass;
    // Of a program that isn't ours, its splits are recorded, not the pass in which they run.
    const bool ran = std::holds_alternative<record::SplitRun>(newest.fact) && !executes(newest);
    const bool there =
        is_next && (ran || (reserves && !plans) || (is_moment(Unit::sweep, newest) && (!end || end->pass >= wanted)));
    if (there || stops || newest.evaluation > sought_->behind + 1) {
        cut_short_ = program_->at_breakpoint() && !there;
        sought_.reset();
        return false;
    }
    const bool is_to_run = is_next && !executes(newest) && (!plans || (end && end->pass >= Pass::split));
    program_->step(is_to_run ? Unit::split : Unit::sweep);
    return true;
}

/// It is a record of the pass in which splits run.
bool InspectorSession::executes(const Record& record) {
    const Step begun = history_.source().previous_of(record.step, fact_bit<record::PassBegin>());
    if (begun < history_.evaluation(record.evaluation).first) { // also no_step
        return false;
    }
    return std::get<record::PassBegin>(history_.record(begun).fact).pass == Pass::execute;
}

std::string InspectorSession::go_pass(Pass pass, Unit unit) {
    if (history_.n_steps() == 0) {
        return "nothing is recorded yet";
    }
    const Step end = accounts::end_of_pass(history_, state_.evaluation, pass);
    return end == no_step ? words::pass(pass) + " is not recorded in this evaluation" : go(end, unit);
}

void InspectorSession::step_program(Unit unit) {
    follows_ = true;
    const bool past_reserves = unit == Unit::token && !knows(Topic::tokens);
    if (unit != Unit::evaluation && !past_reserves) {
        unit_ = unit;
        program_->step(unit);
        return;
    }
    // Where it begins there is nothing to see yet: on to the end of the pass that is looked at.
    sought_ = Sought{state_.evaluation,
                     state_.pass != Pass::none                          ? state_.pass
                     : state_.planned && !is_reserve(state_.evaluation) ? Pass::execute
                                                                        : Pass::place,
                     past_reserves};
    program_->step(Unit::evaluation);
}

void InspectorSession::let_run() {
    sought_.reset();
    follows_ = true;
    program_->run();
}

void InspectorSession::hold() {
    sought_.reset();
    program_->hold();
}

std::string InspectorSession::refresh() {
    ++version_;
    if (history_.n_steps() == 0 || running()) {
        return {};
    }
    std::string text = follows_ && state_.step != last_step() ? go(last_step(), unit_) : std::string();
    if (!text.empty()) {
        follow_change();
    }
    cut_short_ = program_->cut_short();
    const auto sought = sought_;
    if (seek()) {
        return text;
    }
    if (sought && is_moment(Unit::sweep, record_) && !text.empty() && !program_->at_breakpoint()) {
        text = in_evaluation(state_.evaluation, state_.pass == sought->pass, text);
    }
    if (const auto next = program_->ended() ? std::nullopt : program_->next_step()) {
        step_program(*next);
    }
    return text;
}

std::string InspectorSession::follow_newest() {
    std::string text = history_.n_steps() > 0 && !at_newest() ? go(last_step()) : std::string();
    follows_ = true;
    return text.empty() ? "the run is followed" : "the run is followed: " + text;
}

void InspectorSession::follow_run() {
    if (!running() || !follows_) {
        return;
    }
    for (EvaluationId id = history_.n_evaluations() - 1; id >= 0; --id) {
        if (const EvaluationSpan span = history_.evaluation(id); span.complete) {
            if (span.end - 1 > step()) {
                changed_.clear();
                show(span.end - 1);
            }
            return;
        }
    }
}

void InspectorSession::select(TensorId id) {
    if (id != selected_ && row_of(id) >= 0) {
        selected_ = id;
        ++version_;
    }
}

query::KnownWords InspectorSession::known_words() const {
    query::KnownWords words(history_);
    if (const std::optional<Comparison>& compared =
            comparison_.result()) { // its kinds of decisions, and what it has on both sides
        for (const Comparison::Row& row : compared->rows) {
            words.add(Field::kind, row.what);
            words.accept(Field::from, row.left);
            words.accept(Field::backend, row.right);
        }
    }
    if (program_ && !program_->ended()) { // it may yet use others
        words.forget(Field::backend);
        words.forget(Field::from);
    }
    return words;
}

Query InspectorSession::query(std::string_view text) const {
    Query query = Query::parse(text);
    known_words().check(query);
    return query;
}

std::optional<std::string> InspectorSession::why_never_met(const Query& query, std::string_view instead_of_tokens) const {
    const auto of_tokens = [](const std::string& kind) {
        return kind == fact_name(Fact(record::NextToken{})) || kind == fact_name(Fact(record::UbatchToken{}));
    };
    if (!knows(Topic::tokens) && query.asks_only_for(query::Field::kind, of_tokens)) {
        return joined({unknown_for_lack_of(Topic::tokens, tables::sampled_tokens_words), "; ", instead_of_tokens});
    }
    const bool is_watched_from_outside = !session_fact(history_.session(), SSCP_FACT_GGML_LIBRARY).empty();
    return is_watched_from_outside ? query::why_never_of_a_program(query) : std::nullopt;
}

void InspectorSession::watch_for_breakpoints() {
    ++version_;
    if (program_) {
        program_->set_breakpoint(breakpoints_.for_gate(source_));
    }
}

/// With the number of the first one that its record meets.
std::string InspectorSession::breakpoint_at(Step step, bool cut_short) {
    return breakpoints_.name_of_met(describer_, history_.record(step)) + (cut_short ? " stopped the step: " : ": ");
}

void InspectorSession::start_scan(bool forward) {
    scan_ = Scan{Breakpoints::Watch(breakpoints_), breakpoints_.until(), forward, forward ? step() + 1 : step() - 1};
}

/// A step through what is recorded stops where one of a running program does.
std::string InspectorSession::go_unless_met(Step to, Unit unit, std::function<std::string()> go_there) {
    if (breakpoints_.n_enabled() == 0) {
        return go_there();
    }
    start_scan(to > step());
    scan_->to = to;
    scan_->unit = unit;
    scan_->go_there = std::move(go_there);
    if (auto over = scan_slice()) { // nearly always: no key is lost meanwhile
        return *std::move(over);
    }
    return "going there, unless a breakpoint comes before: Esc stops";
}

std::optional<std::string> InspectorSession::scan_slice() {
    Scan& scan = *scan_;
    const bool is_step = scan.go_there != nullptr;
    const Step bound = is_step ? scan.to : scan.forward ? history_.n_steps() - 1 : 0; // the last one to look at
    const Step first = scan.forward ? scan.at : std::max<Step>(scan.at - scan_chunk + 1, bound);
    const Step end = scan.forward ? std::min(scan.at + scan_chunk, bound + 1) : scan.at + 1;
    std::vector<Record> records;
    if (first < end) {
        history_.source().read(first, end, records);
    }
    if (!scan.forward) {
        std::reverse(records.begin(), records.end());
    }
    for (const Record& record : records) {
        if (!scan.watch.meets(describer_, record)) {
            continue;
        }
        const bool cut_short = is_step && record.step != scan.to;
        const Unit unit = is_step && !cut_short ? scan.unit : Unit::sweep;
        scan_.reset();
        std::string text = go(record.step, unit);
        if (is_step) {
            follow_change();
        } else if (const TensorId about = subject(record.fact); row_of(about) >= 0) {
            select(about);
        }
        return breakpoint_at(record.step, cut_short) + text;
    }
    scan.at = scan.forward ? end : first - 1;
    if (scan.forward ? scan.at <= bound : scan.at >= bound) {
        return std::nullopt;
    }
    const Scan over = *std::exchange(scan_, std::nullopt);
    if (is_step) {
        return over.go_there();
    }
    if (over.forward && program_ &&
        (program_->state() == LiveProgram::State::held || program_->will_be_held())) { // not yet: the program goes on to it
        go(last_step());
        let_run();
        return "running until " + over.until + ": Space or Ctrl-C interrupts it";
    }
    return "no record " + std::string(over.forward ? "after" : "before") + " this step matches " + over.until;
}

std::optional<std::string> InspectorSession::why_no_what_if() const {
    return history_.knows(Topic::answers) ? std::nullopt : std::optional(not_plannable_for_lack_of(Topic::answers));
}

void InspectorSession::start_what_if(const std::string& settings) {
    if (const std::optional<std::string> why = why_no_what_if()) {
        throw Error(ErrorKind::usage, *why);
    }
    if (program_ && source_->count(fact_bit<record::PlanEnd>()) == 0) {
        throw Error(ErrorKind::usage, "there is no complete plan yet that could be made differently: let the program go on");
    }
    comparison_.start_what_if(source_, settings, backends_);
    ++version_;
}

const std::vector<std::string>* InspectorSession::otherwise(TensorId id) {
    const bool is_whole = history_.plan(state_.planned_in).planned;
    return levers_.of(source_, state_.planned_in, id, is_whole ? no_step : last_step());
}

void InspectorSession::finish_levers() { version_ += levers_.finish() ? 1 : 0; }

void InspectorSession::start_diff(const std::string& path) {
    comparison_.start_diff(source_, path);
    ++version_;
}

void InspectorSession::stop_comparison() {
    comparison_.stop();
    ++version_;
}

std::string InspectorSession::finish_comparison() {
    const bool done = comparison_.finish();
    ++version_;
    if (!done) {
        return comparison_.result() ? "stopped: what was compared before stays" : "stopped: nothing was compared";
    }
    if (!comparison_.error().empty()) {
        return comparison_.error();
    }
    const Comparison& c = *comparison_.result();
    for (const Comparison::Row& row : c.rows) {
        if (const TensorId here = member_here(row); follow && here != no_tensor) {
            select(here);
            break;
        }
    }
    const std::string left_out = c.left_out < 0 ? "" : "; " + c.told_of_left_out();
    return (c.n_differences == 0 && !c.nothing.empty()
                ? "nothing differs: " + c.nothing.front()
                : counted(c.n_differences, "difference") + (c.n_compared > 0 ? " in " + counted(c.n_compared, "decision") : "")) +
           left_out;
}

TensorId InspectorSession::member_here(const Comparison::Row& row) const noexcept {
    TensorId first = no_tensor;
    for (const Comparison::Member& member : row.members) {
        if (member.evaluation != state_.planned_in || row_of(member.tensor) < 0) {
            continue;
        }
        if (member.tensor == selected_) {
            return selected_;
        }
        first = first == no_tensor ? member.tensor : first;
    }
    return first;
}

int InspectorSession::row_of(TensorId id) const noexcept { return is_index(id, rows_) ? rows_[id] : -1; }

std::span<const TensorId> InspectorSession::users_of(TensorId id) {
    if (!graph_ || !is_index(id, graph_->tensors)) {
        return {};
    }
    if (users_graph_ != graph_) {
        users_graph_ = graph_;
        const size_t n = graph_->tensors.size();
        const auto each_use = [&](auto&& use) {
            for (const TensorId node : graph_->nodes) {
                for (const TensorId source : graph_->tensors[node].src) {
                    if (source >= 0 && static_cast<size_t>(source) < n) {
                        use(source, node);
                    }
                }
            }
        };
        users_begin_.assign(n + 1, 0);
        each_use([&](TensorId source, TensorId) { ++users_begin_[static_cast<size_t>(source) + 1]; });
        for (size_t i = 0; i < n; ++i) {
            users_begin_[i + 1] += users_begin_[i];
        }
        users_.resize(users_begin_[n]);
        std::vector<int32_t> at(users_begin_.begin(), users_begin_.end() - 1);
        each_use([&](TensorId source, TensorId node) { users_[at[source]++] = node; });
    }
    const size_t first = users_begin_[id];
    const size_t end = users_begin_[id + 1];
    return std::span(users_).subspan(first, end - first);
}

bool InspectorSession::is_copy(TensorId id) const noexcept { return graph_ && id >= 0 && !is_index(id, graph_->tensors); }

bool InspectorSession::changed_now(TensorId id) const noexcept {
    return id != no_tensor && (subject(record_.fact) == id || changed_.contains(id));
}

BackendId InspectorSession::was(TensorId id) const noexcept {
    const bool known = is_index(id, state_.tensors);
    return changed_.before(id).value_or(known ? state_.tensors[id].backend : no_backend);
}

const record::CopyMade* InspectorSession::copy(TensorId id) const noexcept {
    const auto found =
        std::find_if(state_.copies.begin(), state_.copies.end(), [&](const record::CopyMade& c) { return c.copy == id; });
    return found == state_.copies.end() ? nullptr : &*found;
}

std::string InspectorSession::backend_name(BackendId id) const {
    return id == no_backend && !history_.knows(Topic::passes) ? unknown_text : history_.backend_name(id);
}

std::string InspectorSession::name(TensorId id) const {
    if (graph_ && id >= 0 && !is_copy(id) && is_left_out(graph_->tensors[id])) {
        return left_out_name;
    }
    return id == no_tensor || !graph_ ? std::string("-") : history_.tensor_name(state_, id);
}

} // namespace schedscope::tui
