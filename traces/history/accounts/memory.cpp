#include "traces/history/accounts/memory.h"

#include "runtime/numbers.h"
#include "traces/format/schedscope_stream.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/lifetimes.h"
#include "traces/history/words/part_by_name.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace schedscope::accounts {

int32_t scheduler_of(History& history, EvaluationId evaluation) {
    if (evaluation < 0) {
        return 0;
    }
    const EvaluationSpan span = history.evaluation(evaluation);
    const Step at = history.source().previous_of(span.end, fact_bit<record::PlanBackend>());
    return at < span.first ? 0 : std::get<record::PlanBackend>(history.record(at).fact).scheduler;
}

std::vector<record::BufferSize> compute_buffers(History& history, const PlanState& state) {
    std::map<std::pair<BufferTypeId, int32_t>, record::BufferSize> found;
    std::map<BufferTypeId, bool> known; // all chunks of a type are recorded together
    const size_t n_types = history.session().buffer_types.size();
    size_t n_known = 0;
    const int32_t scheduler = scheduler_of(history, state.planned_in);
    for (Step at = history.source().previous_of(state.step + 1, fact_bit<record::BufferSize>());
         at != no_step && n_known < n_types; at = history.source().previous_of(at, fact_bit<record::BufferSize>())) {
        const auto f = std::get<record::BufferSize>(history.record(at).fact);
        if (known[f.buffer_type] || scheduler_of(history, history.evaluation_of(at)) != scheduler) {
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
    buffers.reserve(found.size());
    for (const auto& [where, buffer] : found) {
        buffers.push_back(buffer);
    }
    return buffers;
}

bool are_older(const SessionInfo& session, int32_t scheduler) {
    const std::string fact = SSCP_FACT_OLDER_BUFFERS;
    return !session_fact(session, fact).empty() || !session_fact(session, fact + "." + std::to_string(scheduler)).empty();
}

SizeSum compute_size(const SessionInfo& session, int32_t scheduler, BufferTypeId type, int64_t bytes) {
    const bool is_named = is_index(type, session.buffer_types);
    return {bytes, !are_older(session, scheduler), is_named ? rounding_of(session, session.buffer_types[type].name, bytes) : 0};
}

SizeSum compute_size(History& history, EvaluationId evaluation, const record::BufferSize& buffer) {
    return compute_size(history.session(), scheduler_of(history, evaluation), buffer.buffer_type, buffer.size);
}

SizeSum compute_size(const SessionInfo& session, int32_t scheduler, std::span<const record::BufferSize> buffers) {
    SizeSum sum{0, !are_older(session, scheduler)};
    for (const record::BufferSize& buffer : buffers) {
        const SizeSum size = compute_size(session, scheduler, buffer.buffer_type, buffer.size);
        sum.add(size.bytes, size.rounding);
    }
    return sum;
}

namespace {

std::vector<ReserveRow> reserves_before(History& history, Step step) {
    std::vector<ReserveRow> rows;
    for (Step at = history.source().next_of(-1, fact_bit<record::Reserve>()); at != no_step && at <= step;
         at = history.source().next_of(at, fact_bit<record::Reserve>())) {
        const auto f = std::get<record::Reserve>(history.record(at).fact);
        rows.push_back(
            {f.n_tokens, f.graph, f.error == 0 ? std::nullopt : std::optional(std::string(history.source().text(f.error)))});
    }
    return rows;
}

} // namespace

std::vector<ResidentRow> resident_memory(const OwnedGraph& graph) {
    std::map<std::pair<BufferTypeId, std::string_view>, SizeSum> found;
    for (const TensorId id : graph.leafs) {
        const TensorInfo& t = graph.tensors[id];
        if (t.buffer_type != no_buffer_type) {
            const std::string_view what = t.usage == BufferUsage::weights ? "weights"
                                          : role_of(t) == Role::cache     ? "KV cache"
                                          : role_of(t) == Role::sampling  ? "sampling state"
                                                                          : "inputs";
            found[{t.buffer_type, what}].add(t.bytes());
        }
    }
    std::vector<ResidentRow> rows;
    rows.reserve(found.size());
    for (const auto& [where, size] : found) {
        rows.push_back({where.second, where.first, size});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const ResidentRow& a, const ResidentRow& b) {
        return std::tuple(a.buffer_type, -a.size.bytes) < std::tuple(b.buffer_type, -b.size.bytes);
    });
    return rows;
}

std::string MemoryRow::place_of_most() const { return place_in_words(most_at, most_at_name); }

std::vector<ReserveRow> told_once(std::vector<ReserveRow> reserves) {
    std::set<std::pair<int32_t, std::optional<std::string>>> told;
    std::erase_if(reserves, [&](const ReserveRow& r) { return !told.emplace(r.n_tokens, r.error).second; });
    return reserves;
}

MemoryAccount memory(History& history, const PlanState& state) {
    MemoryAccount table;
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
    const SessionInfo& session = history.session();
    std::map<BufferTypeId, std::vector<record::BufferSize>> sizes;
    table.buffers = compute_buffers(history, state);
    for (const record::BufferSize& buffer : table.buffers) {
        sizes[buffer.buffer_type].push_back(buffer);
    }
    for (const auto& [type, bytes] : used) {
        if (const auto [of_type, is_new] = sizes.try_emplace(type); is_new) {
            of_type->second.push_back({type, 0, bytes, std::nullopt});
        }
    }
    const Lifetimes lifetimes(state.placements);
    for (const auto& [type, chunks] : sizes) {
        MemoryRow row;
        row.buffer_type = history.buffer_type_name(type);
        row.size = compute_size(session, scheduler_of(history, state.planned_in), chunks);
        row.peak = used.contains(type) ? used[type] : 0;
        row.use_known = history.knows(Topic::memory);
        if (!state.reallocations.empty()) {
            row.replan = history.source().text(state.reallocations.back().reason);
        }
        const Lifetimes::Peak peak = lifetimes.peak_of(placed[type]);
        row.most_live = peak.bytes;
        row.most_at = peak.at;
        row.most_at_name = peak.taken == nullptr ? "" : history.tensor_name(state, peak.taken->tensor);
        for (const record::Placement* holder : peak.holders) {
            row.holders.push_back({holder->tensor, history.tensor_name(state, holder->tensor), holder->size});
        }
        table.memory.push_back(std::move(row));
    }
    if (const OwnedGraph* const graph = history.graph_of(state)) {
        table.resident = resident_memory(*graph);
    }
    table.reserves = reserves_before(history, state.step);
    return table;
}

} // namespace schedscope::accounts
