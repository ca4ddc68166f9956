#include "traces/history/history.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/history/history_cache.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr GraphId before_records = -2; ///< a session is known before its first record, which may have no graph yet

} // namespace

History::History(std::shared_ptr<const RecordSource> source)
    : source_(std::move(source)), session_graph_(source_->n_steps() == 0 ? before_records : -1),
      cache_(std::make_unique<Cache>(*source_)) {
    session_ = source_->session(); // after that: what comes meanwhile is fetched again
}

History::~History() = default;

Record History::record(Step step) { return cache_->records.at(step); }

EvaluationId History::evaluation_of(Step step) const {
    if (step < 0 || step >= source_->n_steps()) {
        throw Error(ErrorKind::usage, "step " + std::to_string(step) + ": there are " + std::to_string(source_->n_steps()));
    }
    // The last evaluation that begins at or before the step; those without records begin where the next one does.
    int low = 0, high = source_->n_evaluations() - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (source_->evaluation(middle).first <= step) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

const PlanState& History::state_at(Step step) {
    const PlanState& state = cache_->state_at(step, source_->evaluation(evaluation_of(step)));
    refresh_session(state.graph);
    return state;
}

const PlanState& History::plan(EvaluationId evaluation) {
    const EvaluationSpan span = source_->evaluation(evaluation);
    if (span.first >= span.end) {
        throw Error(ErrorKind::usage, "evaluation " + std::to_string(evaluation) + ": nothing of it is recorded");
    }
    const PlanState& state = cache_->end_of(span);
    refresh_session(state.graph);
    return state;
}

const PlanState& History::plan_run_by(EvaluationId evaluation) {
    const std::optional<EvaluationSpan> earlier = cache_->earlier_plan(source_->evaluation(evaluation));
    const PlanState* const planned = earlier ? cache_->plan_of(earlier->id) : nullptr;
    if (planned == nullptr) {
        return plan(evaluation);
    }
    refresh_session(planned->graph);
    return *planned;
}

/// A live session is told when the program begins to record, and meets new buffer types as it goes on.
void History::refresh_session(GraphId graph) {
    if (graph > session_graph_) {
        session_graph_ = graph;
        session_ = source_->session();
    }
}

EvaluationId History::last_planned() const {
    const Step step = source_->previous_of(source_->n_steps(), fact_bit<record::PlanBegin>());
    return step == no_step ? -1 : evaluation_of(step);
}

EvaluationId History::opening() const {
    const FactSet plans = fact_bit<record::PlanBegin>();
    for (Step step = source_->next_of(-1, plans); step != no_step; step = source_->next_of(step, plans)) {
        const EvaluationSpan span = source_->evaluation(evaluation_of(step));
        if (span.begin.kind == GraphKind::prefill) {
            return span.id;
        }
    }
    return last_planned();
}

std::vector<Step> History::changes_of(EvaluationId evaluation, TensorId tensor) {
    const EvaluationSpan span = source_->evaluation(evaluation);
    const std::optional<EvaluationSpan> earlier = cache_->earlier_plan(span);
    return cache_->index.steps_of(*source_, span, tensor, earlier ? &*earlier : nullptr);
}

std::vector<Step> History::records_of(EvaluationId evaluation, TensorId tensor) {
    const EvaluationSpan span = source_->evaluation(evaluation);
    const std::optional<EvaluationSpan> earlier = cache_->earlier_plan(span);
    const std::vector<Step> queries = cache_->queries.steps_of(*source_, span, tensor, earlier ? &*earlier : nullptr);
    const std::vector<Step> others = changes_of(evaluation, tensor);
    std::vector<Step> steps(queries.size() + others.size());
    std::merge(queries.begin(), queries.end(), others.begin(), others.end(), steps.begin());
    return steps;
}

const OwnedGraph* History::graph_of(const PlanState& state) const {
    if (last_graph_.first != state.graph) {
        last_graph_ = {state.graph, state.graph < 0 ? nullptr : &source_->graph(state.graph)};
    }
    return last_graph_.second;
}

namespace {

const record::CopyMade* find_copy(const std::vector<record::CopyMade>& copies, TensorId id) {
    // Pass 5 numbers copies as it makes them; only a changed trace has them in another order.
    auto found = std::lower_bound(copies.begin(), copies.end(), id,
                                  [](const record::CopyMade& copy, TensorId wanted) { return copy.copy < wanted; });
    if (found == copies.end() || found->copy != id) {
        found = std::find_if(copies.begin(), copies.end(), [id](const record::CopyMade& copy) { return copy.copy == id; });
    }
    return found != copies.end() ? &*found : nullptr;
}

} // namespace

std::string History::name_in(const OwnedGraph* graph, const std::vector<record::CopyMade>& copies, TensorId id) const {
    if (id == no_tensor || graph == nullptr) {
        return {};
    }
    if (is_index(id, graph->tensors)) {
        return std::string(graph->tensors[id].name);
    }
    const record::CopyMade* copy = find_copy(copies, id);
    if (copy == nullptr || !is_index(copy->of, graph->tensors)) {
        return "copy " + std::to_string(id);
    }
    const std::string_view original = graph->tensors[copy->of].name;
    if (!copy->stage) {
        return backend_name(copy->backend).append("#").append(original).append("#?");
    }
    return copy_name(backend_name(copy->backend), original, *copy->stage);
}

std::string History::tensor_name(const PlanState& state, TensorId id) const { return name_in(graph_of(state), state.copies, id); }

std::string with_id(std::string_view name, TensorId id) { return std::string(name) + "@" + std::to_string(id); }

std::string History::unique_name(const PlanState& state, TensorId id) const {
    const OwnedGraph* const graph = graph_of(state);
    if (graph != nullptr && repeated_names_.graph != state.graph) {
        std::unordered_map<std::string_view, size_t> first; // of each name
        repeated_names_ = {state.graph, std::vector<bool>(graph->tensors.size())};
        for (size_t i = 0; i < graph->tensors.size(); ++i) {
            if (const auto [at, fresh] = first.emplace(graph->tensors[i].name, i); !fresh) {
                repeated_names_.repeated[i] = repeated_names_.repeated[at->second] = true;
            }
        }
    }
    std::string name = tensor_name(state, id);
    const size_t at = id; // a copy's name has its backend: it is the only one
    return graph != nullptr && at < repeated_names_.repeated.size() && repeated_names_.repeated[at] ? with_id(name, id) : name;
}

std::string History::tensor_name_at(Step step, TensorId id) {
    const Cache::Names& names = cache_->names_at(step, source_->evaluation(evaluation_of(step)));
    refresh_session(names.graph);
    return name_in(names.graph < 0 ? nullptr : &source_->graph(names.graph), names.copies, id);
}

const TensorInfo* History::tensor_at(Step step, TensorId id) {
    const Cache::Names& names = cache_->names_at(step, source_->evaluation(evaluation_of(step)));
    if (names.graph < 0 || id < 0) {
        return nullptr;
    }
    const OwnedGraph& graph = source_->graph(names.graph);
    return is_index(id, graph.tensors) ? &graph.tensors[id] : nullptr;
}

const TensorInfo* History::held_at(Step step, TensorId id) {
    const Cache::Names& names = cache_->names_at(step, source_->evaluation(evaluation_of(step)));
    const record::CopyMade* const copy = names.graph < 0 ? nullptr : find_copy(names.copies, id);
    if (copy == nullptr) {
        return nullptr;
    }
    const OwnedGraph& graph = source_->graph(names.graph);
    return is_index(copy->of, graph.tensors) ? &graph.tensors[copy->of] : nullptr;
}

const TensorInfo* History::find_tensor(const PlanState& state, TensorId id) const {
    const OwnedGraph* graph = graph_of(state);
    TensorId own = id;
    if (graph != nullptr && id >= 0 && !is_index(id, graph->tensors)) {
        const record::CopyMade* copy = find_copy(state.copies, id);
        own = copy == nullptr ? no_tensor : copy->of;
    }
    const bool known = graph != nullptr && is_index(own, graph->tensors);
    return known ? &graph->tensors[own] : nullptr;
}

const TensorInfo& History::tensor(const PlanState& state, TensorId id) const {
    const TensorInfo* found = find_tensor(state, id);
    if (found == nullptr) {
        throw Error(ErrorKind::usage,
                    "tensor " + std::to_string(id) + ": evaluation " + std::to_string(state.evaluation) + " has no such tensor");
    }
    return *found;
}

std::vector<record::Execute> History::untimed_kernels(const PlanState& state) const {
    std::vector<record::Execute> kernels;
    for (const SplitState& split : state.splits) {
        const KernelList& list = source_->kernels(split.kernels);
        if (kernels.size() + list.size() > state.order.size()) { // of each node at most one
            break;
        }
        for (const KernelInfo& k : list) {
            kernels.push_back(
                {split.begin.index, split.backend(), false, k.count, k.first, k.last, k.kernel, 0, 0, k.bytes, k.flops});
        }
    }
    return kernels;
}

std::string History::backend_name(BackendId id) const {
    if (id == no_backend) {
        return "-";
    }
    const size_t index = id;
    return index < session_.backends.size() ? session_.backends[index].name : "backend " + std::to_string(id);
}

std::string History::buffer_type_name(BufferTypeId id) const {
    if (id == no_buffer_type) {
        return "-";
    }
    const size_t index = id;
    return index < session_.buffer_types.size() ? session_.buffer_types[index].name : "buffer type " + std::to_string(id);
}

} // namespace schedscope
