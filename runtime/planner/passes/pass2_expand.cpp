#include "runtime/planner/planning.h"

#include <ranges>

namespace schedscope {

namespace {

/// Carries the backend of each assigned node to the unassigned ones behind it.
template <typename Nodes> void expand(Planning& p, const Nodes& nodes, bool stops_at_last) {
    BackendId carried = no_backend;
    TensorId neighbour = no_tensor;
    for (const TensorId node : nodes) {
        const BackendId at = p.backend_of(node);
        if (at != no_backend) {
            carried = stops_at_last && at == p.last ? no_backend : at;
            neighbour = node;
        } else if (carried != no_backend && p.supports_op(carried, node)) {
            p.assign(node, carried, Cause::supported, -1, neighbour);
            neighbour = node;
        }
    }
}

} // namespace

void pass2_expand(Planning& p, Pass sweep) {
    // Accelerators first: the last backend takes only what none of them reaches.
    const bool stops_at_last = sweep == Pass::gpu_down || sweep == Pass::gpu_up;
    if (sweep == Pass::gpu_down || sweep == Pass::rest_down) {
        expand(p, p.scratch.active, stops_at_last);
    } else {
        expand(p, std::views::reverse(p.scratch.active), stops_at_last);
    }
}

} // namespace schedscope
