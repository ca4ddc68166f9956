#include "runtime/planner/planning.h"

namespace schedscope {

namespace {

bool is_placed(const Planning& p, TensorId source) {
    const TensorInfo& t = p.tensor(source);
    return p.backend_of(source) != no_backend || (t.is_view() && p.backend_of(t.view_source) != no_backend);
}

/// The backend that can read most sources where they are; ties go to the higher priority.
void choose_best(Planning& p, TensorId node) {
    Assignment& assignment = p.plan.assignments[node];
    const BackendId before = assignment.backend;
    int most = -1;
    for (BackendId b = 0; b < p.n_backends; ++b) {
        if (!p.supports_op(b, node)) {
            continue;
        }
        int readable = 0;
        for_each_bit(p.sources_of(node), [&](int s) {
            const TensorId source = p.tensor(node).src[s];
            readable += is_placed(p, source) && p.readable(source, b, node) ? 1 : 0;
        });
        if (readable > most) {
            most = readable;
            assignment = {b, Cause::best, -1}; // at once: a node that is its own source lies there while the others are tried
        }
    }
    if (most >= 0 && p.recorder != nullptr) {
        p.record_assign(node, before, no_tensor);
    }
}

bool reads_all(Planning& p, TensorId node, BackendId backend) {
    for (unsigned mask = p.sources_of(node); mask != 0; mask &= mask - 1) {
        if (!p.readable(p.tensor(node).src[std::countr_zero(mask)], backend, node)) {
            return false;
        }
    }
    return true;
}

/// Between backends that share memory (BLAS and the CPU) a node moves up for nothing.
void upgrade(Planning& p, TensorId node, BackendId at) {
    for (BackendId b = 0; b < at; ++b) {
        if (p.default_type(b) == p.default_type(at) && p.supports_op(b, node) && reads_all(p, node, b)) {
            p.assign(node, b, Cause::upgrade);
            return;
        }
    }
}

} // namespace

void pass3_refine(Planning& p) {
    for (const TensorId node : p.scratch.active) {
        const BackendId at = p.backend_of(node);
        if (at == no_backend) {
            choose_best(p, node);
        } else if (p.scratch.may_upgrade[at] != 0) {
            upgrade(p, node, at);
        }
    }
}

} // namespace schedscope
