// Tables of what became of a plan: fusion, memory, kernels; of the whole trace: tokens, reuse, summary.

#include "runtime/numbers.h"
#include "traces/history/lifetimes.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace schedscope::tables {

namespace {

std::string text(const History& history, StringId id) { return std::string(history.source().text(id)); }

} // namespace

FusionTable fusion(History& history, const PlanState& state) {
    FusionTable table;
    for (const record::Fusion& f : state.fusions) {
        FusionRow row{f.backend, text(history, f.kernel), f.split, {}};
        for (int32_t i = f.first; i < f.first + f.count && is_index(i, state.order); ++i) {
            row.nodes.push_back(history.tensor_name(state, state.order[i]));
        }
        table.fusion.push_back(std::move(row));
    }
    for (const SplitState& split : state.splits) {
        ReorderRow row{split.begin.index, {}};
        for (int32_t i = split.first_node(); i < split.end_node; ++i) {
            row.order.push_back(i);
        }
        bool moved = false;
        for (const record::Reorder& f : state.reorders) {
            const int64_t at = int64_t{f.to} - split.first_node();
            if (f.split == split.begin.index && at >= 0 && at < std::ssize(row.order)) {
                row.order[at] = f.from;
                moved = true;
            }
        }
        if (moved) {
            table.reorders.push_back(std::move(row));
        }
    }
    for (const record::NotFused& f : state.not_fused) {
        table.not_fused.push_back(
            {f.backend, {history.tensor_name(state, f.first), history.tensor_name(state, f.second)}, text(history, f.why)});
    }
    return table;
}

std::vector<record::BufferSize> compute_buffers(History& history, Step step) {
    std::map<std::pair<BufferTypeId, int32_t>, record::BufferSize> found;
    std::map<BufferTypeId, bool> known; // all chunks of a type are recorded together
    const size_t n_types = history.session().buffer_types.size();
    size_t n_known = 0;
    for (Step at = history.source().previous_of(step + 1, fact_bit<record::BufferSize>()); at != no_step && n_known < n_types;
         at = history.source().previous_of(at, fact_bit<record::BufferSize>())) {
        const auto f = std::get<record::BufferSize>(history.record(at).fact);
        if (known[f.buffer_type]) {
            continue;
        }
        if (f.size > 0) {
            found[{f.buffer_type, f.chunk}] = f;
        }
        if (f.chunk == 0) {
            known[f.buffer_type] = true;
            ++n_known;
        }
    }
    std::vector<record::BufferSize> buffers;
    for (const auto& [where, buffer] : found) {
        buffers.push_back(buffer);
    }
    return buffers;
}

namespace {

std::vector<ReserveRow> reserves_before(History& history, Step step) {
    std::vector<ReserveRow> rows;
    for (Step at = history.source().next_of(-1, fact_bit<record::Reserve>()); at != no_step && at <= step;
         at = history.source().next_of(at, fact_bit<record::Reserve>())) {
        const auto f = std::get<record::Reserve>(history.record(at).fact);
        rows.push_back({f.n_tokens, f.graph, f.error == 0 ? std::nullopt : std::optional(text(history, f.error))});
    }
    return rows;
}

} // namespace

MemoryTable memory_of_buffers(History& history, const PlanState& state) {
    MemoryTable table;
    std::map<BufferTypeId, std::vector<const record::Placement*>> placed;
    std::map<std::pair<BufferTypeId, int16_t>, int64_t> ends; // of each chunk
    for (const record::Placement& p : state.placements) {
        placed[p.buffer_type].push_back(&p);
        int64_t& end = ends[{p.buffer_type, p.chunk}];
        end = std::max(end, p.offset + p.size);
    }
    std::map<BufferTypeId, int64_t> used;
    for (const auto& [where, end] : ends) {
        used[where.first] += end;
    }
    std::map<BufferTypeId, int64_t> sizes;
    for (const record::BufferSize& buffer : compute_buffers(history, state.step)) {
        sizes[buffer.buffer_type] += buffer.size;
    }
    for (const auto& [type, bytes] : used) {
        sizes.try_emplace(type, bytes);
    }
    const Lifetimes lifetimes(state.placements);
    for (const auto& [type, size] : sizes) {
        MemoryRow row;
        row.buffer_type = history.buffer_type_name(type);
        row.size = size;
        row.peak = used.contains(type) ? used[type] : 0;
        row.use_known = history.knows(Topic::memory);
        if (!state.reallocations.empty()) {
            row.replan = text(history, state.reallocations.back().reason);
        }
        const Lifetimes::Peak peak = lifetimes.peak_of(placed[type]);
        row.most_live = peak.bytes;
        row.most_at = peak.at;
        for (const record::Placement* holder : peak.holders) {
            row.holders.push_back({holder->tensor, history.tensor_name(state, holder->tensor), holder->size});
        }
        table.memory.push_back(std::move(row));
    }
    table.reserves = reserves_before(history, state.step);
    return table;
}

MemoryTable memory(History& history, const PlanState& state) {
    MemoryTable table = memory_of_buffers(history, state);
    for (const record::Placement& p : state.placements) {
        PlacementRow row;
        row.id = p.tensor;
        row.name = history.tensor_name(state, p.tensor);
        row.buffer_type = history.buffer_type_name(p.buffer_type);
        row.chunk = p.chunk;
        row.offset = p.offset;
        row.size = p.size;
        row.first_use = p.first_use;
        row.last_use = p.last_use;
        if (p.in_place_of != no_tensor) {
            row.in_place_of = history.tensor_name(state, p.in_place_of);
        }
        table.tensors.push_back(std::move(row));
    }
    return table;
}

std::vector<KernelRow> kernels(History& history, const PlanState& state) {
    std::vector<KernelRow> rows;
    const auto add = [&](const record::Execute& f, bool timed) {
        rows.push_back({f.last, history.tensor_name(state, f.last), f.split, f.count, f.backend, text(history, f.kernel),
                        f.start_ns, f.end_ns, f.bytes, f.flops, f.device_time, timed});
    };
    for (const record::Execute& f : state.executed) {
        add(f, true);
    }
    for (const record::Execute& f : history.untimed_kernels(state)) {
        add(f, false);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) { return a.split < b.split; });
    return rows;
}

std::string SamplerRow::marked() const {
    std::string text(backend != no_backend ? "+" : refused ? "-" : "");
    return text += name;
}

std::vector<std::string> TokenRow::samplers() const {
    std::vector<std::string> names;
    for (const SamplerRow& sampler : chain) {
        names.push_back(sampler.marked());
    }
    return names;
}

std::vector<TokenRow> tokens(History& history) {
    constexpr FactSet kinds = fact_set<record::Sample, record::NextToken>();
    std::vector<TokenRow> rows;
    std::map<int32_t, std::vector<SamplerRow>> samplers; // by sequence, since its last token
    for (Step at = history.source().next_of(-1, kinds); at != no_step; at = history.source().next_of(at, kinds)) {
        const Record r = history.record(at);
        if (const auto* sample = std::get_if<record::Sample>(&r.fact)) {
            samplers[sample->sequence].push_back({text(history, sample->sampler), sample->backend, sample->refused,
                                                  text(history, sample->why_not_in_graph), sample->candidates, sample->n_nodes});
        } else if (const auto* token = std::get_if<record::NextToken>(&r.fact)) {
            rows.push_back({r.evaluation, token->sequence, token->token, text(history, token->text.value_or(0)),
                            std::move(samplers[token->sequence]), token->candidates, token->host_bytes});
            samplers.erase(token->sequence);
        }
    }
    return rows;
}

std::vector<ReuseRow> reuse(History& history) {
    std::vector<ReuseRow> rows;
    for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
        const record::EvaluationBegin begin = history.evaluation(id).begin;
        ReuseRow row{id, begin.kind, begin.reused, std::nullopt};
        if (begin.failed_check != 0) {
            row.failed = text(history, begin.failed_check);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

void SizeSum::add(std::optional<int64_t> size) noexcept {
    bytes += size.value_or(0);
    complete = complete && size;
}

SizeSum input_sizes(const PlanState& state) {
    SizeSum sum;
    for (const SplitState& split : state.splits) {
        for (const record::SplitInput& input : split.inputs) {
            sum.add(input.bytes);
        }
    }
    return sum;
}

Summary summary(History& history) {
    const RecordSource& source = history.source();
    Summary s;
    s.steps = history.n_steps();
    s.evaluations = history.n_evaluations();
    s.graphs = source.n_graphs();
    if (s.steps > 0) {
        s.first_ns = history.record(0).time_ns;
        s.last_ns = history.record(s.steps - 1).time_ns;
    }
    s.plans = int_of(source.count(fact_bit<record::PlanBegin>()));
    if (history.knows(Topic::tokens)) {
        s.tokens = source.count(fact_bit<record::NextToken>());
    }
    s.failed = int_of(source.count_failed());

    s.planned = history.last_planned();
    if (s.planned < 0) {
        return s;
    }
    const PlanState& state = history.plan(s.planned);
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        return s;
    }
    const Step begin = source.previous_of(state.step + 1, fact_bit<record::PlanBegin>());
    const auto plan = begin == no_step ? record::PlanBegin{} : std::get<record::PlanBegin>(history.record(begin).fact);
    s.nodes = plan.n_nodes ? std::optional(n_of(graph->nodes)) : std::nullopt;
    s.leafs = plan.n_leafs ? std::optional(n_of(graph->leafs)) : std::nullopt;
    s.splits = n_of(state.splits);
    s.copies = n_of(state.copies);
    s.to_copy = input_sizes(state);
    const bool ran = std::any_of(state.splits.begin(), state.splits.end(), [](const SplitState& x) { return x.ran != no_step; });
    if (ran || !state.executed.empty() || !state.transfers.empty()) {
        s.moved_bytes = std::accumulate(state.transfers.begin(), state.transfers.end(), int64_t{0},
                                        [](int64_t sum, const record::Transfer& t) { return sum + t.bytes; });
    }
    std::set<int16_t> stages;
    for (const record::CopyMade& copy : state.copies) {
        stages.insert(copy.stage.value_or(0));
        s.input_copies += copy.graph_input ? 1 : 0;
    }
    s.stages = std::max(n_of(stages), 1);
    std::map<std::tuple<int, std::string, BackendId>, int32_t>
        operators; // the unknown first, the others in the catalogue's order
    for (const TensorId node : graph->nodes) {
        const TensorInfo& info = graph->tensors[node];
        if (!is_left_out(info)) {
            const bool known = info.op.has_value();
            ++operators[{known ? ordinal(*info.op) : -1, std::string(known ? op_name(info) : unknown_text),
                         state.tensors[node].backend}];
        }
    }
    for (const auto& [what, n] : operators) {
        s.operators.push_back({std::get<1>(what), std::get<2>(what), n});
    }
    std::stable_sort(s.operators.begin(), s.operators.end(), [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    int64_t compute_bytes = 0;
    for (const record::BufferSize& buffer : compute_buffers(history, state.step)) {
        compute_bytes += buffer.size;
    }
    s.compute_bytes = compute_bytes == 0 && !history.knows(Topic::memory) ? std::nullopt : std::optional(compute_bytes);
    return s;
}

} // namespace schedscope::tables
