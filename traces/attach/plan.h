#pragma once

#include "traces/attach/scheduler.h"

/// What is recorded of a plan: the graph and every answer before ggml plans, what it decided behind that.
namespace schedscope::attach {

/// What it plans for: to run, to have memory for what runs later, or to know how much that would be.
enum class Purpose : uint8_t { run, memory, sizes };

/// A call of the program that plans, and what was noted of it so far. Nested: the outermost is the plan.
struct PlanCall {
    static constexpr int sort = 0;
    Scheduler* scheduler;
    Graph* graph;
    Purpose purpose;
    bool is_reserve;                       ///< memory or splits alone: nothing is going to run
    bool has_graph, has_result, has_keeps; ///< were put into the block
    bool looked_at;                        ///< the moment for the graph came
};

/// Of this thread, the innermost; null: it plans nothing. In hooks.cpp.
PlanCall* current_plan_call(const void* here = __builtin_frame_address(0));

/// The graph as the scheduler is going to see it, what the user pinned, and all answers. Asks in the program's thread.
void record_graph(PlanCall& call);
/// Where ggml's split of the graph begins and ends (ggml_graph_view).
void record_split(PlanCall& call, Graph* graph, int first, int end);
/// The same of the view that ggml made, by where in the graph's list it begins. Both are seen of some builds: it counts once.
void record_split_view(PlanCall& call, const Graph* view);
/// What it decided: backends, splits, inputs, rewired sources, order.
void record_result(PlanCall& call);
/// Tensors whose memory a backend wanted to be kept until a node ran: the graph that the allocator gets says so.
void record_keeps(PlanCall& call, Graph* copy);
/// Where the allocator put what it placed.
void record_places(PlanCall& call);
/// A buffer that it made.
void record_buffer(PlanCall& call, Buffer* buffer, BufferType* type, size_t size);
/// Sends it all, whole.
void send_plan(PlanCall& call, bool succeeded);

} // namespace schedscope::attach
