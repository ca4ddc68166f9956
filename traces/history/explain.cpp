#include "traces/history/explain.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/system/joined.h"
#include "traces/history/describe.h"
#include "traces/history/find_tensor.h"
#include "traces/history/words/part_by_name.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope {

namespace {

/// What the rules of pass 1 look at, as the graph has it.
std::string nothing_decides(const OwnedGraph& graph, TensorId tensor) {
    const TensorInfo& info = graph.tensors[tensor];
    std::string text = info.buffer_type == no_buffer_type ? "no buffer of its own" : "has a buffer";
    text += (info.flags & flag_input) != 0 ? ", an input" : ", not an input";
    for (size_t i = 0; i < info.src.size(); ++i) {
        if (info.src[i] != no_tensor && graph.tensors[info.src[i]].usage == BufferUsage::weights) {
            return text + ", and no backend can take source " + std::to_string(i) + ", a weight, where it lies";
        }
    }
    return text + ", no source is a weight";
}

/// A leaf or a view is computed by no kernel.
bool may_run(const TensorInfo& info) { return !info.op || is_computed(*info.op); }

class Teller {
public:
    Teller(History& history, EvaluationId evaluation, TensorId tensor) : history_(history) {
        const PlanState& state = history.plan_run_by(evaluation);
        if (!is_index(tensor, state.tensors)) {
            throw Error(ErrorKind::usage, "tensor " + std::to_string(tensor) + ": evaluation " + std::to_string(evaluation) +
                                              " has no such tensor");
        }
        story_.tensor = tensor;
        story_.name = history.tensor_name(state, tensor);
        story_.evaluation = evaluation;
        story_.planned_in = state.planned_in;
        split_ = state.tensors[tensor].split;
        if (is_index(split_, state.splits)) {
            where_ = state.splits[split_];
        }
    }

    Story tell() {
        for (const Step step : history_.records_of(story_.evaluation, story_.tensor)) {
            add(history_.record(step));
        }
        close_pass();
        add_first_pass();
        add_reasons();
        add_program_pin();
        add_split();
        add_untimed_kernel();
        add_verdict();
        std::stable_sort(story_.lines.begin(), story_.lines.end(),
                         [](const StoryLine& a, const StoryLine& b) { return a.step < b.step; });
        return std::move(story_);
    }

private:
    void add(const Record& r) {
        if (const auto* query = std::get_if<record::BackendQuery>(&r.fact)) {
            ask(*query, r.step);
        } else if (const auto* assign = std::get_if<record::Assign>(&r.fact)) {
            decide(*assign, r.step);
        } else if (const auto kind = story_kind_of(r.fact)) {
            // A split that begins elsewhere because of it is told as well; where it lies itself, add_split says.
            std::string text = describe(history_, r);
            if (text.starts_with(story_.name + ": ")) {
                text.erase(0, story_.name.size() + 2);
            }
            story_.lines.push_back({r.step, *kind, std::move(text)});
        }
    }

    void ask(const record::BackendQuery& q, Step step) {
        if (open_.pass != q.pass) {
            close_pass();
        }
        if (open_.step == no_step) {
            open_.step = step;
            open_.pass = q.pass;
        }
        Asked asked;
        asked.backend = q.backend;
        asked.question = q.question;
        asked.buffer_type = q.question == Question::buffer_type ? history_.buffer_type_name(q.buffer_type) : "";
        asked.answer = q.yes;
        asked.why = words::refusal(q.reason, history_.source().text(q.detail));
        const auto same = [&](const Asked& a) {
            return a.backend == asked.backend && a.question == asked.question && a.buffer_type == asked.buffer_type &&
                   a.answer == asked.answer;
        };
        if (std::none_of(open_.asked.begin(), open_.asked.end(), same)) { // a pass asks again for each source
            open_.asked.push_back(std::move(asked));
        }
    }

    void decide(const record::Assign& a, Step step) {
        if (open_.pass != a.pass) {
            close_pass();
        }
        open_.step = step;
        open_.pass = a.pass;
        open_.before = a.before;
        open_.after = a.after;
        open_.cause = a.cause;
        open_.source = a.source;
        open_.by = or_none(a.by);
        if ((a.cause == Cause::weight || a.cause == Cause::offload) && open_.by != no_tensor) {
            placed_.push_back(open_.by);
        } else if (a.cause == Cause::dst || a.cause == Cause::view_source) {
            add_owner();
        }
        backend_ = or_none(a.after);
        story_.steps.push_back(std::move(open_));
        open_ = {};
    }

    /// What was asked without a decision: the pass left it as it was.
    void close_pass() {
        if (open_.step != no_step) {
            open_.before = open_.after = backend_;
            story_.steps.push_back(std::move(open_));
        }
        open_ = {};
    }

    bool tells(StoryKind kind) const {
        return std::any_of(story_.lines.begin(), story_.lines.end(), [kind](const StoryLine& line) { return line.kind == kind; });
    }

    /// Pass 1 writes nothing about a tensor that none of its rules fits.
    void add_first_pass() {
        const PlanState& state = history_.plan_run_by(story_.evaluation);
        const OwnedGraph* graph = history_.graph_of(state);
        const bool of_the_graph = graph != nullptr && is_index(story_.tensor, graph->tensors);
        const bool decided =
            !story_.steps.empty() && (story_.steps[0].pass == Pass::place || story_.steps[0].cause == Cause::user);
        if (!of_the_graph || decided) {
            return;
        }
        const EvaluationSpan span = history_.evaluation(story_.planned_in);
        const Step begin = history_.source().previous_of(span.end, fact_bit<record::PlanBegin>());
        const Step end = history_.source().next_of(begin, fact_bit<record::PassEnd>());
        if (begin < span.first || end == no_step || end >= span.end) {
            return; // it failed before its first pass was done
        }
        StoryStep step;
        step.step = end;
        step.pass = Pass::place;
        step.note = nothing_decides(*graph, story_.tensor);
        story_.steps.insert(story_.steps.begin(), std::move(step));
    }

    /// A view lies where the tensor lies that it looks into: a cache or a weight, which its layer placed.
    void add_owner() {
        const OwnedGraph* graph = history_.graph_of(history_.plan_run_by(story_.evaluation));
        if (graph == nullptr || !is_index(story_.tensor, graph->tensors)) {
            return;
        }
        if (const TensorId owner = owner_of(*graph, story_.tensor); owner != story_.tensor) {
            placed_.push_back(owner);
        }
    }

    /// Why the weights and caches lie where they lie that decided about the tensor.
    void add_reasons() {
        for (const TensorId placed : placed_) {
            for (const Step step : history_.records_of(story_.evaluation, placed)) {
                const Record r = history_.record(step);
                if (std::holds_alternative<record::Pin>(r.fact)) {
                    story_.lines.push_back({step, StoryKind::placed, describe(history_, r)});
                }
            }
        }
    }

    /// Of another program's plan, which says no reason: that the program pinned the tensor itself, and why llama.cpp would.
    void add_program_pin() {
        const auto pinned = std::find_if(story_.steps.begin(), story_.steps.end(),
                                         [](const StoryStep& step) { return step.cause == Cause::user && step.after; });
        if (pinned == story_.steps.end() || tells(StoryKind::placed)) {
            return;
        }
        const PlanState& state = history_.plan_run_by(story_.evaluation);
        const std::optional<int32_t> n_tokens = history_.evaluation(story_.planned_in).begin.n_tokens;
        const std::string_view why =
            n_tokens ? why_pinned(pinned_role_by_name(history_.tensor(state, story_.tensor)), *n_tokens < small_batch) : "";
        story_.lines.push_back(
            {pinned->step, StoryKind::placed,
             joined({"pinned to ", history_.backend_name(*pinned->after), " by the program, not by the scheduler",
                     why.empty() ? "; why is not recorded" : "; llama.cpp does so: ", why})});
    }

    /// The split that a node lies in, where it doesn't begin it.
    void add_split() {
        if (!where_ || where_->node() == story_.tensor) {
            return;
        }
        const Step at = begin_of_split();
        if (at == no_step) {
            return;
        }
        std::string text = "lies in split " + std::to_string(split_) + " on " + history_.backend_name(where_->backend());
        if (where_->end_node > where_->first_node()) {
            text += ", " + words::nodes_from_to(where_->first_node(), where_->end_node - 1);
        }
        story_.lines.push_back({at, StoryKind::split, std::move(text)});
    }

    /// The kernel that ran it, where that has no record of its own.
    void add_untimed_kernel() {
        if (tells(StoryKind::execute)) {
            return;
        }
        const OwnedGraph* graph = history_.graph_of(history_.plan_run_by(story_.evaluation));
        const bool of_the_graph = graph != nullptr && is_index(story_.tensor, graph->tensors);
        if (graph != nullptr && !(of_the_graph && may_run(graph->tensors[story_.tensor]))) {
            return;
        }
        const PlanState& state = history_.plan(story_.evaluation); // folds all that ran, whose end it is
        if (!is_index(split_, state.splits)) {
            return;
        }
        const SplitState& split = state.splits[split_];
        const auto place = std::find(state.order.begin(), state.order.end(), story_.tensor) - state.order.begin();
        const auto runs_it = [&](const KernelInfo& k) {
            for (int i = 0; i < k.count && i <= place && place < std::ssize(state.order); ++i) {
                if (state.order[place - i] == k.first) {
                    return true;
                }
            }
            return false;
        };
        const KernelList& kernels = history_.source().kernels(split.kernels);
        if (const auto k = std::find_if(kernels.begin(), kernels.end(), runs_it); k != kernels.end()) {
            story_.lines.push_back({split.ran, StoryKind::execute,
                                    "ran on " + history_.backend_name(split.backend()) + " as " +
                                        std::string(history_.source().text(k->kernel)) + ", " + not_timed_text});
        }
    }

    /// Of another program's plan: may what is told of its causes be believed?
    void add_verdict() {
        const PlanState& state = history_.plan_run_by(story_.evaluation);
        if (state.verdicts.empty()) {
            return;
        }
        const EvaluationSpan span = history_.evaluation(story_.planned_in);
        const Step at = history_.source().previous_of(span.end, fact_bit<record::Verdict>());
        story_.lines.push_back({at, StoryKind::verdict, describe(history_, history_.record(at))});
    }

    Step begin_of_split() {
        const auto begins_it = [&](Step step) {
            const Record r = history_.record(step);
            const auto* begin = std::get_if<record::SplitBegin>(&r.fact);
            return begin != nullptr && begin->index == split_;
        };
        // One of the records about the node that starts it; a split of views alone has none.
        for (const Step step : history_.records_of(story_.planned_in, where_->node())) {
            if (begins_it(step)) {
                return step;
            }
        }
        const EvaluationSpan span = history_.evaluation(story_.planned_in);
        Step at = history_.source().previous_of(span.end, fact_bit<record::PlanBegin>());
        while ((at = history_.source().next_of(at, fact_bit<record::SplitBegin>())) != no_step && at < span.end) {
            if (begins_it(at)) {
                return at;
            }
        }
        return no_step;
    }

    History& history_;
    Story story_;
    StoryStep open_; ///< asked about and not yet decided
    BackendId backend_ = no_backend;
    std::vector<TensorId> placed_; ///< whose memory decided
    int32_t split_ = -1;
    std::optional<SplitState> where_;
};

} // namespace

Story explain(History& history, EvaluationId evaluation, TensorId tensor) { return Teller(history, evaluation, tensor).tell(); }

} // namespace schedscope
