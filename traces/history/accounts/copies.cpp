#include "traces/history/accounts/copies.h"

#include "traces/history/accounts/as_logged.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace schedscope::accounts {

BackendId origin_of(const PlanState& state, const record::CopyMade& copy) noexcept {
    return copy.graph_input ? copy.backend : is_index(copy.of, state.tensors) ? state.tensors[copy.of].backend : no_backend;
}

int32_t n_stages(const PlanState& state) noexcept {
    int32_t stages = 1;
    for (const record::CopyMade& copy : state.copies) {
        stages = std::max(stages, copy.stage.value_or(0) + 1);
    }
    return stages;
}

std::optional<int64_t> moved_bytes(const PlanState& state) noexcept {
    return state.transfers.empty() ? std::nullopt
                                   : std::optional(std::accumulate(
                                         state.transfers.begin(), state.transfers.end(), int64_t{0},
                                         [](int64_t sum, const record::Transfer& transfer) { return sum + transfer.bytes; }));
}

std::optional<int64_t> moving_time(const record::Transfer& transfer) noexcept {
    return transfer.async && transfer.end_ns <= transfer.start_ns ? std::nullopt
                                                                  : std::optional(transfer.end_ns - transfer.start_ns);
}

std::optional<int64_t> sum_of(std::optional<int64_t> a_ns, std::optional<int64_t> b_ns) noexcept {
    return a_ns && b_ns ? std::optional(*a_ns + *b_ns) : std::nullopt;
}

std::vector<CopyRow> copies(History& history, const PlanState& state) {
    const RecordedSizes sizes(history, state);
    std::vector<CopyRow> rows;
    std::unordered_map<TensorId, std::vector<const record::Transfer*>> transfers; // by copy
    for (const record::Transfer& transfer : state.transfers) {
        transfers[transfer.copy].push_back(&transfer);
    }
    for (const record::CopyMade& copy : state.copies) {
        CopyRow row;
        row.id = copy.copy;
        row.of = copy.of;
        row.tensor = history.tensor_name(state, copy.of);
        row.to = copy.backend;
        row.stage = copy.stage;
        row.size = sizes.of(copy.of, copy.bytes);
        row.from = origin_of(state, copy);
        if (const int32_t split = state.tensors[copy.copy].split; split >= 0) {
            row.split = split;
        }
        if (const auto moved = transfers.find(copy.copy); moved != transfers.end()) {
            row.time_ns = 0;
            for (const record::Transfer* transfer : moved->second) {
                row.moved_bytes = row.moved_bytes.value_or(0) + transfer->bytes;
                row.time_ns = sum_of(row.time_ns, moving_time(*transfer));
                row.start_ns = row.start_ns < 0 ? transfer->start_ns : std::min(row.start_ns, transfer->start_ns);
                if (transfer->experts >= 0) {
                    row.experts = transfer->experts;
                    row.experts_total = transfer->experts_total;
                }
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

RecordedSizes::RecordedSizes(const SessionInfo& session, const OwnedGraph* graph) : session_(session), graph_(graph) {}

RecordedSizes::RecordedSizes(const History& history, const PlanState& state)
    : RecordedSizes(history.session(), history.graph_of(state)) {}

SizeSum RecordedSizes::of(TensorId id, std::optional<int64_t> recorded) const {
    const bool is_known = graph_ != nullptr && is_index(id, graph_->tensors);
    return recorded_size(session_, is_known ? &graph_->tensors[id] : nullptr, recorded);
}

SizeSum RecordedSizes::of_inputs(const SplitState& split) const {
    SizeSum sum{0, split.knows_all_inputs()};
    for (const record::SplitInput& input : split.inputs) {
        sum.add(of(input.tensor, input.bytes));
    }
    return sum;
}

SizeSum RecordedSizes::of_inputs(const PlanState& state) const {
    SizeSum sum;
    for (const SplitState& split : state.splits) {
        sum.add(of_inputs(split));
    }
    return sum;
}

SizeSum RecordedSizes::of_copies(const PlanState& state) const {
    SizeSum sum{0, knows_all_inputs(state)};
    for (const record::CopyMade& copy : state.copies) {
        sum.add(of(copy.of, copy.bytes));
    }
    return sum;
}

bool knows_all_inputs(const PlanState& state) noexcept {
    return std::all_of(state.splits.begin(), state.splits.end(),
                       [](const SplitState& split) { return split.knows_all_inputs(); });
}

} // namespace schedscope::accounts
