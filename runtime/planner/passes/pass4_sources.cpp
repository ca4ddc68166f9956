#include "runtime/planner/planning.h"

namespace schedscope {

namespace {

void follow_view_source(Planning& p, TensorId id) {
    const TensorId root = p.tensor(id).view_source;
    p.assign(id, p.backend_of(root), Cause::source_view, -1, root);
}

void place_source(Planning& p, TensorId node, TensorId source) {
    if (p.backend_of(source) != no_backend) {
        return;
    }
    if (p.tensor(source).is_view()) {
        follow_view_source(p, source);
    } else {
        p.assign(source, p.backend_of(node), Cause::source_current, -1, node);
    }
}

void fall_back(Planning& p, TensorId node) {
    for (BackendId b = 0; b < p.n_backends; ++b) {
        if (p.supports_op(b, node)) {
            p.assign(node, b, Cause::supported);
            return;
        }
    }
    throw PlanError("node_unassigned", Pass::sources, node, "tensor " + p.name(node) + " runs nowhere: no backend supports it");
}

} // namespace

void pass4_sources(Planning& p) {
    for (const TensorId node : p.graph.nodes) {
        const TensorInfo& t = p.tensor(node);
        if (p.backend_of(node) == no_backend && t.is_view()) {
            follow_view_source(p, node);
        }
        for_each_bit(p.sources_of(node), [&](int s) { place_source(p, node, t.src[s]); });
        if (p.backend_of(node) == no_backend && !p.options.rules.leaves_unassigned) {
            fall_back(p, node);
        }
    }
}

} // namespace schedscope
