#pragma once

#include "traces/history/history.h"
#include "traces/history/size_sum.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A plan's compute buffers. What lies in them is PlanState::placements.
namespace schedscope::accounts {

struct MemoryRow {
    std::string buffer_type;
    SizeSum size;                      ///< of its compute buffers, all chunks
    int64_t peak = 0;                  ///< of that, the highest byte that this plan uses
    bool use_known = true;             ///< false: it is not known where tensors lie
    std::optional<std::string> replan; ///< why memory was planned again; nothing: it was not, or it was the first time
    int64_t most_live = 0;             ///< bytes of all tensors that are needed at one node, where that is most
    int32_t most_at = 0;               ///< that node: its place in the allocated graph (places_count)
    std::string most_at_name;          ///< the tensor whose bytes are taken there; empty: several's are

    std::string place_of_most() const; ///< "place 57 (ffn_up-1)"
    struct Holder {
        TensorId id = no_tensor;
        std::string name;
        int64_t bytes = 0;
    };
    std::vector<Holder> holders; ///< those tensors, the largest first
};

/// A graph that memory was reserved for before the first plan.
struct ReserveRow {
    int32_t n_tokens = 0;
    GraphId graph = 0;
    std::optional<std::string> error; ///< why it failed
};
/// Without those that say no more than one before: a program with several graphs of as many tokens reserves for each.
std::vector<ReserveRow> told_once(std::vector<ReserveRow> reserves);

/// Tensors that a plan's graph reads and that have memory of their own, of one kind in one place.
struct ResidentRow {
    std::string_view what; ///< "weights", "KV cache", "sampling state", "inputs"
    BufferTypeId buffer_type = no_buffer_type;
    SizeSum size; ///< of these tensors
};
/// By buffer type, the largest first. Of a graph that was not recorded whole: what is known of it.
std::vector<ResidentRow> resident_memory(const OwnedGraph& graph);

struct MemoryAccount {
    std::vector<MemoryRow> memory;
    std::vector<record::BufferSize> buffers; ///< by type and chunk, of those whose size was recorded
    std::vector<ResidentRow> resident;
    std::vector<ReserveRow> reserves; ///< made before this plan
};

MemoryAccount memory(History& history, const PlanState& state);
/// The compute buffers in force at a step, by type and chunk: they are recorded when they grow, with the plan that needs it or
/// behind what was reserved. Those of the scheduler whose plan it is: each has its own.
std::vector<record::BufferSize> compute_buffers(History& history, const PlanState& state);
/// Who made the plan of an evaluation that planned; 0 where the trace names none.
int32_t scheduler_of(History& history, EvaluationId evaluation);
/// A scheduler's buffers were made before anybody watched, and may be larger than is recorded.
bool are_older(const SessionInfo& session, int32_t scheduler);
inline constexpr std::string_view older_buffers_words =
    "the program's compute buffers are older than the recording, and may be larger";
/// The recorded size of a scheduler's buffer · that of several together.
SizeSum compute_size(const SessionInfo& session, int32_t scheduler, BufferTypeId type, int64_t bytes);
SizeSum compute_size(const SessionInfo& session, int32_t scheduler, std::span<const record::BufferSize> buffers);
/// Of a record in `evaluation`.
SizeSum compute_size(History& history, EvaluationId evaluation, const record::BufferSize& buffer);

} // namespace schedscope::accounts
