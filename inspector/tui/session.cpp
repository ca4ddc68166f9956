#include "inspector/tui/session.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

constexpr Step scan_chunk = 8192;

std::string_view unit_word(History::Unit unit) noexcept {
    using Unit = History::Unit;
    switch (unit) {
    case Unit::record: return "step";
    case Unit::sweep: return "sweep";
    case Unit::pass: return "pass";
    case Unit::split: return "split";
    case Unit::node: return "node";
    case Unit::evaluation: return "evaluation";
    default: return "token";
    }
}

int count_changes(const PlanState& before, const PlanState& after) {
    if (before.graph != after.graph || before.planned_in != after.planned_in)
        return 0;
    int n = 0;
    const size_t both = std::min(before.tensors.size(), after.tensors.size());
    for (size_t i = 0; i < both; ++i)
        n += before.tensors[i].backend != after.tensors[i].backend || before.tensors[i].cause != after.tensors[i].cause;
    return n;
}

} // namespace

Session::Session(std::shared_ptr<const RecordSource> source, LiveGate* gate)
    : source_(std::move(source)), history_(source_), gate_(gate) {
    if (history_.n_steps() == 0)
        return;
    Step start = last_step();
    if (!gate_) {
        const EvaluationId planned = history_.last_planned();
        if (planned >= 0)
            start = history_.evaluation(planned).end - 1;
    }
    show(std::clamp<Step>(start, 0, last_step()));
}

void Session::show(Step step) {
    const OwnedGraph* const before = graph_;
    const std::string selected_name = before && selected_ != no_tensor ? name(selected_) : std::string();
    record_ = history_.record(step);
    state_ = history_.state_at(step);
    state_.step = step;
    graph_ = history_.graph_of(state_);
    ++version_;

    tensors_.clear();
    rows_.clear();
    if (!graph_) {
        selected_ = no_tensor;
        return;
    }
    const size_t n_all = std::max(state_.tensors.size(), graph_->tensors.size());
    rows_.assign(n_all, -1);
    const auto add = [&](TensorId id) {
        if (id < 0 || static_cast<size_t>(id) >= n_all || rows_[static_cast<size_t>(id)] >= 0)
            return;
        rows_[static_cast<size_t>(id)] = static_cast<int32_t>(tensors_.size());
        tensors_.push_back(id);
    };
    for (const TensorId id : state_.order.empty() ? graph_->nodes : state_.order)
        add(id);
    for (const TensorId id : graph_->leafs)
        add(id);
    for (size_t id = 0; id < graph_->tensors.size(); ++id)
        add(static_cast<TensorId>(id));
    for (const record::CopyMade& copy : state_.copies)
        add(copy.copy);

    // In another graph the tensor of the same name is meant.
    if (before != graph_ && !selected_name.empty()) {
        const auto same = std::find_if(graph_->tensors.begin(), graph_->tensors.end(),
                                       [&](const TensorInfo& t) { return t.name == selected_name; });
        selected_ = same == graph_->tensors.end() ? no_tensor : static_cast<TensorId>(same - graph_->tensors.begin());
    }
    if (row_of(selected_) < 0)
        selected_ = tensors_.empty() ? no_tensor : tensors_.front();
}

std::string Session::told(Step step, int n_changed) {
    const Record record = history_.record(step);
    std::string text = describe(history_, record);
    if (const auto* a = std::get_if<record::Assign>(&record.fact); a && a->after != no_backend) {
        text = name(a->tensor) + ": " + backend_name(a->before) + " → " + backend_name(a->after) + " by " +
               cause_name(a->cause, a->source);
        if (a->by != no_tensor)
            text += " (" + name(a->by) + ")";
    }
    if (n_changed > 1)
        text += " · " + counted(n_changed, "tensor") + " changed on the way";
    return text;
}

std::string Session::go(Step step) {
    if (history_.n_steps() == 0)
        return "nothing is recorded yet";
    if (step < 0 || step > last_step())
        return "there is no step " + grouped(step) + ": they go from 0 to " + grouped(last_step());
    follows_ = step == last_step();
    const bool single = step == state_.step + 1 || step == state_.step - 1;
    const PlanState before = single ? PlanState() : state_;
    show(step);
    const int n_changed = single ? 0 : count_changes(before, state_);
    const TensorId about = subject(record_.fact);
    if (single && follow && row_of(about) >= 0)
        selected_ = about;
    return told(step, n_changed);
}

std::string Session::move(Unit unit, bool forward) {
    if (gate_ && follows_ && !running() && !at_newest())
        refresh(); // it was held a moment ago: the step is meant from there
    if (gate_ && forward && (at_newest() || (running() && follows_))) {
        if (ended_)
            return "the program has ended: nothing comes after step " + grouped(step());
        if (running() && !stepping_)
            return "the program is running: Space holds it";
        if (running()) // typed ahead
            ahead_.push_back(unit);
        else
            step_program(unit);
        return "running to the next " + std::string(unit_word(unit));
    }
    if (history_.n_steps() == 0)
        return "nothing is recorded yet";
    const Step to = forward ? history_.next(step(), unit) : history_.previous(step(), unit);
    if (to != no_step)
        return go(to);
    if (unit == Unit::record)
        return forward ? "this is the last step of the trace" : "this is the first step of the trace";
    if (gate_ && forward)
        return "no " + std::string(unit_word(unit)) +
               " begins after this in what is recorded: > goes to the newest step, from there the program goes on";
    return "no " + std::string(unit_word(unit)) + " begins " + (forward ? "after" : "before") + " this step";
}

std::string Session::change_of_selected(bool forward) {
    if (selected_ == no_tensor)
        return "no tensor is selected: nothing is planned at this step";
    const auto is_change = [&](Step s) { return !std::holds_alternative<record::Query>(history_.record(s).fact); };
    // records_of tells of the plan's making too. Between that and this evaluation, others may have run the same plan.
    constexpr int furthest = 8;
    const EvaluationId here = state_.evaluation;
    Step found = no_step;
    for (EvaluationId e = here; e >= 0 && e < history_.n_evaluations() && std::abs(e - here) <= furthest; e += forward ? 1 : -1) {
        if (history_.evaluation(e).begin.planned_in != state_.planned_in)
            continue;
        for (const Step s : history_.records_of(e, selected_)) {
            const bool beyond = forward ? s > step() && (found == no_step || s < found) : s < step() && s > found;
            if (beyond && is_change(s))
                found = s;
        }
        if (found != no_step && (forward || e == state_.planned_in || found >= history_.evaluation(e).first))
            break;
    }
    if (found != no_step) {
        const TensorId still = selected_;
        std::string text = go(found);
        select(still);
        return text;
    }
    return name(selected_) + ": nothing " + (forward ? "later" : "earlier") + " is recorded of it in this plan";
}

std::string Session::go_evaluation(EvaluationId id) {
    if (history_.n_evaluations() == 0)
        return "nothing is recorded yet";
    if (id < 0 || id >= history_.n_evaluations())
        return "there is no evaluation " + std::to_string(id) + ": they go from 0 to " +
               std::to_string(history_.n_evaluations() - 1);
    return go(history_.evaluation(id).first);
}

std::string Session::go_pass(Pass pass) {
    if (history_.n_steps() == 0)
        return "nothing is recorded yet";
    for (const EvaluationId e : {state_.evaluation, state_.planned_in}) {
        const EvaluationSpan span = history_.evaluation(e);
        for (Step at = span.first - 1; (at = source_->next_of(at, fact_bit<record::PassBegin>())) != no_step && at < span.end;)
            if (std::get<record::PassBegin>(history_.record(at).fact).pass == pass)
                return go(at);
    }
    return "pass " + std::string(pass_name(pass)) + " (" + std::string(pass_title(pass)) + ") is not recorded in this evaluation";
}

bool Session::running() const {
    if (!gate_ || ended_)
        return false;
    // Until its thread wakes up the gate still says where it was held.
    const Step at = gate_->held_at();
    return at == no_step || at == released_at_;
}

void Session::step_program(Unit unit) {
    released_at_ = gate_->held_at();
    follows_ = stepping_ = true;
    gate_->step(unit);
}

void Session::let_run() {
    released_at_ = gate_->held_at();
    follows_ = true;
    stepping_ = false;
    gate_->run();
}

void Session::hold() {
    ahead_.clear();
    gate_->interrupt();
}

std::string Session::refresh() {
    ++version_;
    if (history_.n_steps() == 0 || running())
        return {};
    std::string text = follows_ && state_.step != last_step() ? go(last_step()) : std::string();
    if (const TensorId about = subject(record_.fact); follow && follows_ && !text.empty())
        select(about);
    if (!ahead_.empty() && !ended_) {
        const Unit next = ahead_.front();
        ahead_.pop_front();
        if (!gate_->at_breakpoint())
            step_program(next);
        else
            ahead_.clear();
    }
    return text;
}

void Session::select(TensorId id) {
    if (id != selected_ && row_of(id) >= 0) {
        selected_ = id;
        ++version_;
    }
}

void Session::start_scan(Query query, bool forward) {
    scan_ = Scan{std::move(query), forward, forward ? step() + 1 : step() - 1};
}

std::optional<std::string> Session::scan_slice() {
    Scan& scan = *scan_;
    const Step first = scan.forward ? scan.at : std::max<Step>(scan.at - scan_chunk + 1, 0);
    const Step end = scan.forward ? std::min(scan.at + scan_chunk, history_.n_steps()) : scan.at + 1;
    std::vector<Record> records;
    if (first < end)
        history_.source().read(first, end, records);
    if (!scan.forward)
        std::reverse(records.begin(), records.end());
    Facts facts;
    for (const Record& record : records) {
        describer_.record(record, scan.query, facts);
        if (!scan.query.matches(facts))
            continue;
        scan_.reset();
        std::string text = go(record.step);
        if (const TensorId about = subject(record.fact); row_of(about) >= 0)
            select(about);
        return "breakpoint: " + text;
    }
    scan.at = scan.forward ? end : first - 1;
    if (scan.forward ? scan.at < history_.n_steps() : scan.at >= 0)
        return std::nullopt;
    const std::string text =
        "no record " + std::string(scan.forward ? "after" : "before") + " this step matches " + scan.query.text();
    scan_.reset();
    return text;
}

void Session::start_what_if(const std::string& settings) {
    what_if_.start(source_, settings);
    ++version_;
}

std::string Session::finish_what_if() {
    what_if_.finish();
    ++version_;
    if (!what_if_.error().empty())
        return what_if_.error();
    return counted(what_if_.result()->n_differences, "difference") + " in " + counted(what_if_.result()->compared, "decision");
}

int Session::row_of(TensorId id) const noexcept {
    return id >= 0 && static_cast<size_t>(id) < rows_.size() ? rows_[static_cast<size_t>(id)] : -1;
}

std::span<const TensorId> Session::users_of(TensorId id) {
    if (!graph_ || id < 0 || static_cast<size_t>(id) >= graph_->tensors.size())
        return {};
    if (users_graph_ != graph_) {
        users_graph_ = graph_;
        const size_t n = graph_->tensors.size();
        const auto each_use = [&](auto&& use) {
            for (const TensorId node : graph_->nodes)
                for (const TensorId source : graph_->tensors[static_cast<size_t>(node)].src)
                    if (source >= 0 && static_cast<size_t>(source) < n)
                        use(source, node);
        };
        users_begin_.assign(n + 1, 0);
        each_use([&](TensorId source, TensorId) { ++users_begin_[static_cast<size_t>(source) + 1]; });
        for (size_t i = 0; i < n; ++i)
            users_begin_[i + 1] += users_begin_[i];
        users_.resize(static_cast<size_t>(users_begin_[n]));
        std::vector<int32_t> at(users_begin_.begin(), users_begin_.end() - 1);
        each_use([&](TensorId source, TensorId node) { users_[static_cast<size_t>(at[static_cast<size_t>(source)]++)] = node; });
    }
    const auto first = static_cast<size_t>(users_begin_[static_cast<size_t>(id)]);
    const auto end = static_cast<size_t>(users_begin_[static_cast<size_t>(id) + 1]);
    return std::span(users_).subspan(first, end - first);
}

bool Session::is_copy(TensorId id) const noexcept {
    return graph_ && id >= 0 && static_cast<size_t>(id) >= graph_->tensors.size();
}

bool Session::changed_now(TensorId id) const noexcept { return id != no_tensor && subject(record_.fact) == id; }

const record::CopyMade* Session::copy(TensorId id) const noexcept {
    const auto found =
        std::find_if(state_.copies.begin(), state_.copies.end(), [&](const record::CopyMade& c) { return c.copy == id; });
    return found == state_.copies.end() ? nullptr : &*found;
}

std::string Session::name(TensorId id) const {
    return id == no_tensor || !graph_ ? std::string("-") : history_.tensor_name(state_, id);
}

} // namespace schedscope::tui
