#include "traces/import/stream/stream_evaluations.h"

#include "runtime/numbers.h"
#include "traces/import/stream/stream_block.h"
#include "traces/replay/foreign/compare_real.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace schedscope::import {

namespace {

bool is_begin(const StreamFact& f) noexcept { return !f.real && std::holds_alternative<record::EvaluationBegin>(f.fact); }

} // namespace

void StreamEvaluations::describe_session(const SessionInfo& session) {
    n_backends_ = std::ssize(session.backends);
    n_buffer_types_ = std::ssize(session.buffer_types);
    session_ = session;
    sink_.session(session);
}

void StreamEvaluations::describe_graph(int64_t number, const GraphView& graph, const CapabilityTable& answers) {
    const auto [entry, is_new] = graphs_.try_emplace(number);
    if (!is_new) {
        throw Damage("graph: " + std::to_string(number) + " was described before");
    }
    const std::optional<GraphId> same = compares_ ? repeats_.graph(graph, answers) : std::nullopt;
    entry->second = {same ? *same : n_graphs_++,
                     {std::ssize(graph.tensors), std::ssize(graph.leafs), std::ssize(graph.nodes), answers.n_tensors > 0}};
    has_answers_ |= answers.n_tensors > 0;
    has_shapes_ |= std::any_of(graph.tensors.begin(), graph.tensors.end(), [](const TensorInfo& t) { return t.ne.has_value(); });
    has_buffers_ |= std::any_of(graph.tensors.begin(), graph.tensors.end(),
                                [](const TensorInfo& t) { return t.buffer_type != no_buffer_type; });
    if (!same) {
        sink_.graph(entry->second.id, graph, answers);
    }
    if (compares_) {
        if (!same) {
            repeats_.keep(entry->second.id, graph, answers);
        }
        plans_.keep(entry->second.id, graph, answers);
    }
}

Knowledge StreamEvaluations::knowledge() const {
    using namespace record;
    Knowledge knows;
    const auto needs = [&](Topic topic, bool there) { there ? void() : knows.lack(topic); };
    const auto came = [&](FactSet kinds) { return (seen_ & kinds) != 0; };
    needs(Topic::answers, has_answers_);
    needs(Topic::passes, came(fact_set<PassBegin, PassEnd>()));
    needs(Topic::shapes, has_shapes_);
    needs(Topic::memory, came(fact_set<Placement, BufferSize>()));
    needs(Topic::order, came(fact_set<Fusion, Reorder>()));
    needs(Topic::times, has_times_);
    needs(Topic::runs, came(fact_set<Execute, SplitRun, Transfer, Wait>()));
    needs(Topic::tokens, came(fact_set<UbatchToken, NextToken>()));
    needs(Topic::reuse, came(fact_set<EvaluationBegin>()));
    needs(Topic::buffers, has_buffers_);
    needs(Topic::fusion, came(fact_set<Fusion, NotFused>()));
    return knows;
}

Knowledge StreamEvaluations::knowledge_so_far() const {
    Knowledge knows;
    if (!knowledge().has(Topic::tokens)) {
        knows.lack(Topic::tokens);
    }
    return knows;
}

/// The evaluation of this number. A new one begins with the first of the facts, if not before it.
StreamEvaluations::Open& StreamEvaluations::open(int64_t number, std::vector<StreamFact>& facts) {
    const auto known = std::find_if(open_.begin(), open_.end(), [&](const Open& e) { return e.number == number; });
    if (known != open_.end()) {
        return *known;
    }
    if (n_evaluations_ == budget::stream_evaluations) {
        throw Damage("there are more than " + std::to_string(budget::stream_evaluations) + " evaluations");
    }
    const auto first = std::find_if(facts.begin(), facts.end(), is_begin);
    if (first == facts.end()) {
        record::EvaluationBegin begin;
        begin.kind.reset();
        begin.n_tokens = begin.n_sequences = begin.n_outputs = std::nullopt;
        facts.insert(facts.begin(), StreamFact{begin, std::nullopt, facts.front().time_ns, std::nullopt, 0});
    } else {
        std::rotate(facts.begin(), first, std::next(first));
    }
    Open& e = open_.emplace_back();
    e.number = number;
    e.id = n_evaluations_++;
    return e;
}

void StreamEvaluations::take(int64_t number, std::vector<StreamFact> facts) {
    if (closed_.contains(number)) {
        counts_.late += std::ssize(facts);
        return;
    }
    Open& e = open(number, facts);
    for (const StreamFact& fact : facts) {
        if (e.over) {
            ++counts_.late;
            continue;
        }
        e.over = !fact.real && std::holds_alternative<record::EvaluationEnd>(fact.fact);
        e.held.push_back(fact);
        ++n_held_;
    }
    const auto is_full = [&] {
        return std::ssize(open_) > budget::stream_open_evaluations || n_held_ > budget::stream_held_records;
    };
    for (write(open_.front()); open_.front().over || is_full(); write(open_.front())) {
        close_first();
        if (open_.empty()) {
            return;
        }
    }
}

void StreamEvaluations::finish(bool damaged) {
    for (; !open_.empty(); close_first()) {
        try {
            write(open_.front());
        } catch (const Damage&) {
            if (!damaged) {
                throw;
            }
        }
    }
    sink_.flush();
}

void StreamEvaluations::write(Open& e) {
    while (!e.held.empty()) {
        StreamFact next = e.held.front();
        e.held.pop_front(); // what is wrong with it is said once
        --n_held_;
        write_fact(e, next);
    }
}

void StreamEvaluations::close_first() {
    Open& e = open_.front();
    release(e);
    n_held_ -= std::ssize(e.held);
    kernels_.end();
    counts_.without_end += e.over ? 0 : 1;
    closed_.emplace(e.number, e.plan);
    open_.pop_front();
    sink_.flush();
}

void StreamEvaluations::write_fact(Open& e, StreamFact& f) {
    if (f.real) {
        take_real(e, f);
        return;
    }
    if (e.compared && take_compared(e, f)) {
        return;
    }
    const Graph* graph = nullptr;
    const bool of_graph = std::visit(
        [&](auto& fact) {
            if constexpr (requires { fact.graph; }) {
                const auto found = f.named ? graphs_.find(*f.named) : graphs_.end();
                graph = found == graphs_.end() ? nullptr : &found->second;
                fact.graph = graph == nullptr ? -1 : graph->id;
                return true;
            }
            return false;
        },
        f.fact);
    if (auto* begun = std::get_if<record::EvaluationBegin>(&f.fact)) {
        begin(e, f, *begun);
    } else if (const auto* plan = std::get_if<record::PlanBegin>(&f.fact)) {
        graph == nullptr ? void(e.plan = {}) : begin_plan(e, *graph, *plan);
    }
    if (of_graph && graph == nullptr) {
        ++counts_.without_plan;
        return;
    }
    write_checked(e, f);
    if (const auto* plan = std::get_if<record::PlanBegin>(&f.fact); plan != nullptr && compares_ && plans_.has(plan->graph)) {
        e.compared.emplace().begin = *plan;
    }
}

/// What a scheduler decided waits for the end of its plan.
void StreamEvaluations::take_real(Open& e, const StreamFact& f) {
    if (!e.compared) {
        ++counts_.without_plan;
        return;
    }
    try {
        add_real(*f.real, {e.plan.graph.n_tensors, e.plan.graph.n_nodes, n_backends_, n_buffer_types_}, e.compared->real);
    } catch (const Damage& damage) {
        throw Damage(block_name(f.place) + ": " + damage.what());
    }
}

/// True: the fact is done with. Of a plan that is to be made again, its end brings all of it.
bool StreamEvaluations::take_compared(Open& e, StreamFact& f) {
    if (const auto* backend = std::get_if<record::PlanBackend>(&f.fact)) {
        e.compared->backends.push_back(*backend);
    } else if (const auto* moved = std::get_if<record::Reorder>(&f.fact)) {
        if (moved->to < 0 || moved->to >= e.plan.graph.n_nodes || moved->node < 0 || moved->node >= e.plan.graph.n_tensors) {
            throw Damage(block_name(f.place) + ": reorder: node is " + std::to_string(moved->node));
        }
        e.compared->reorders.push_back(*moved);
        return true;
    } else if (const auto* end = std::get_if<record::PlanEnd>(&f.fact)) {
        if (end->error == 0 && !e.compared->real.empty() && plans_.has(e.compared->begin.graph)) {
            end_compared(e, f);
            return true;
        }
        give_up_compared(e, f);
    } else if (std::holds_alternative<record::EvaluationEnd>(f.fact) || std::holds_alternative<record::PlanBegin>(f.fact)) {
        give_up_compared(e, f);
    }
    return false;
}

/// The program did not say what it decided.
void StreamEvaluations::give_up_compared(Open& e, const StreamFact& f) {
    const ComparedPlan plan = std::move(*e.compared);
    e.compared.reset();
    for (const record::Reorder& moved : plan.reorders) {
        StreamFact fact{moved, std::nullopt, f.time_ns, std::nullopt, f.place};
        write_checked(e, fact);
    }
}

/// What the plan itself shows of how it began.
void StreamEvaluations::set_begin(Open& e, const record::PlanBegin& known) {
    for (WaitingFact& waiting : e.waiting) {
        if (auto* const begin = std::get_if<record::PlanBegin>(&waiting.fact)) {
            begin->current_stage = known.current_stage;
            begin->op_offload = known.op_offload;
        }
    }
}

void StreamEvaluations::end_compared(Open& e, const StreamFact& end) {
    ComparedPlan plan = std::move(*e.compared);
    e.compared.reset();
    const auto intern = [this](std::string_view text) { return sink_.intern(text); };
    if (!plan.begin.current_stage) {
        plan.begin.current_stage = stage_of(plan.real, plan.begin.n_stages.value_or(1));
    }
    StreamRepeats::PlanRecords records{plan.begin, plan.backends, {}};
    name_copies(plan.real, e.plan.graph.n_tensors);
    const std::vector<RealCopy> copies = copies_in_order(plan.real);
    std::map<std::tuple<TensorId, BackendId, int32_t>, TensorId> made;
    records.facts = plans_.plan(session_, std::move(plan), e.kind, intern);
    records.begin.op_offload = plans_.op_offload();
    set_begin(e, records.begin);
    const std::optional<EvaluationId> before = e.waits ? repeats_.plan(records) : std::nullopt;
    if (before) { // all that is left of it is its name
        std::get<record::EvaluationBegin>(e.waiting.front().fact).planned_in = *before;
        e.waiting.resize(1);
        e.plan.made_in = *before;
    }
    release(e);
    for (const Fact& fact : records.facts) {
        const bool is_end = std::holds_alternative<record::PlanEnd>(fact); // all else happened now, not then
        if (!before) {
            StreamFact planned{fact, std::nullopt, is_end ? end.time_ns : std::nullopt, std::nullopt, end.place};
            write_checked(e, planned);
        }
        if (const auto* copy = std::get_if<record::CopyMade>(&fact)) {
            made.emplace(std::tuple(copy->of, copy->backend, copy->stage.value_or(-1)), copy->copy);
        }
    }
    std::vector<TensorId> ids;
    bool same = true;
    for (const RealCopy& copy : copies) {
        const auto found = made.lower_bound({copy.of, copy.backend, copy.stage}); // of a stage that is not said: the first
        const bool is_it =
            found != made.end() && std::get<0>(found->first) == copy.of && std::get<1>(found->first) == copy.backend;
        ids.push_back(is_it ? found->second : no_tensor);
        same = same && ids.back() == e.plan.graph.n_tensors + std::ssize(ids) - 1;
    }
    e.plan.copies = same ? nullptr : std::make_shared<const std::vector<TensorId>>(std::move(ids));
    if (!before) {
        repeats_.keep(e.id, std::move(records));
    } else {
        e.plan.n_ids =
            e.plan.graph.n_tensors +
            static_cast<int64_t>(std::count_if(records.facts.begin(), records.facts.end(),
                                               [](const Fact& f) { return std::holds_alternative<record::CopyMade>(f); })) *
                e.n_stages;
    }
}

/// An evaluation begins to wait; its plan's beginning waits with it. Anything else that comes before the plan's end ends that.
void StreamEvaluations::put(Open& e, const Fact& fact) {
    const bool begins = std::holds_alternative<record::EvaluationBegin>(fact);
    if (begins && compares_) {
        e.waits = true;
    } else if (!std::holds_alternative<record::PlanBegin>(fact) && !std::holds_alternative<record::PlanBackend>(fact)) {
        release(e);
    }
    if (e.waits) {
        e.waiting.push_back({fact, e.time_ns});
    } else {
        kernels_.put(e.id, e.time_ns, fact);
    }
}

void StreamEvaluations::release(Open& e) {
    e.waits = false;
    for (const WaitingFact& f : e.waiting) {
        kernels_.put(e.id, f.time_ns, f.fact);
    }
    e.waiting.clear();
}

void StreamEvaluations::write_checked(Open& e, StreamFact& f) {
    if (auto* moved = std::get_if<record::Transfer>(&f.fact); moved != nullptr && e.plan.copies != nullptr) {
        const int64_t copy = moved->copy - e.plan.graph.n_tensors;
        moved->copy = is_index(copy, *e.plan.copies) ? (*e.plan.copies)[copy] : moved->copy;
    }
    if (std::holds_alternative<record::CopyMade>(f.fact)) {
        e.plan.n_ids = e.plan.graph.n_tensors + int64_t{e.n_copies + 1} * e.n_stages;
    }
    fill_in(e, f.fact);
    Bounds bounds{
        .n_backends = n_backends_, .n_buffer_types = n_buffer_types_, .n_graphs = n_graphs_, .n_evaluations = n_evaluations_};
    if (e.plan.made_in >= 0) {
        bounds.of_plan(e.plan.graph, e.plan.n_ids);
    }
    try {
        check_record({0, 0, e.id, f.fact}, bounds, [](StringId) { return true; });
    } catch (const Damage& damage) {
        if (e.plan.made_in >= 0) {
            throw Damage(block_name(f.place) + ": " + std::string(fact_name(f.fact)) + ": " + damage.what());
        }
        ++counts_.without_plan;
        return;
    }
    if (sink_.n_records() >= most_records_) {
        throw Damage("more than " + std::to_string(most_records_) + " records; the trace ends there");
    }
    count(e, f.fact);
    e.time_ns = f.time_ns ? f.time_ns : e.time_ns;
    seen_ |= fact_bit(f.fact);
    has_times_ |= f.time_ns.has_value();
    put(e, f.fact);
}

void StreamEvaluations::begin(Open& e, const StreamFact& f, record::EvaluationBegin& fact) {
    if (std::exchange(e.begun, true)) {
        throw Damage(block_name(f.place) + ": evaluation " + std::to_string(e.number) + " begins twice");
    }
    if (f.named && closed_.contains(*f.named)) {
        e.plan = closed_[*f.named];
    }
    e.kind = fact.kind;
    fact.planned_in = e.plan.made_in >= 0 ? e.plan.made_in : e.id;
}

void StreamEvaluations::begin_plan(Open& e, const Graph& graph, const record::PlanBegin& fact) {
    e.n_splits = e.n_inputs = e.n_copies = 0;
    e.n_stages = std::clamp(fact.n_stages.value_or(1), 1, most_stages); // what else it may be is refused
    e.plan = {e.id, graph.size, graph.size.n_tensors};
    ++counts_.plans;
    counts_.nodes += graph.size.n_nodes;
}

/// What can be counted, where it was left out.
void StreamEvaluations::fill_in(const Open& e, Fact& fact) {
    const auto fill = [](auto& field, int64_t counted) {
        if (field == to_be_counted) {
            field = int_of(counted);
        }
    };
    const int32_t split = std::max(e.n_splits - 1, 0); // that began last
    if (auto* begin = std::get_if<record::SplitBegin>(&fact)) {
        fill(begin->index, e.n_splits);
    } else if (auto* end = std::get_if<record::SplitEnd>(&fact)) {
        fill(end->index, split);
        fill(end->n_inputs, e.n_inputs);
    } else if (auto* input = std::get_if<record::SplitInput>(&fact)) {
        fill(input->split, split);
    } else if (auto* plan = std::get_if<record::PlanBegin>(&fact)) {
        fill(plan->n_nodes, e.plan.graph.n_nodes);
        fill(plan->n_leafs, e.plan.graph.n_leafs);
    } else if (auto* plan_end = std::get_if<record::PlanEnd>(&fact)) {
        fill(plan_end->n_splits, e.n_splits);
        fill(plan_end->n_copies, e.n_copies);
    }
}

void StreamEvaluations::count(Open& e, const Fact& fact) {
    if (std::holds_alternative<record::SplitBegin>(fact)) {
        ++e.n_splits;
        e.n_inputs = 0;
        ++counts_.splits;
    }
    e.n_inputs += std::holds_alternative<record::SplitInput>(fact) ? 1 : 0;
    e.n_copies += std::holds_alternative<record::CopyMade>(fact) ? 1 : 0;
}

} // namespace schedscope::import
