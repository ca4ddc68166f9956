#include "runtime/planner/planning.h"

#include "runtime/numbers.h"
#include "runtime/system/joined.h"

namespace schedscope {

namespace {

/// The first backend that can use the memory of type `type` and supports `decided`.
BackendId from_memory(Planning& p, BufferTypeId type, TensorId decided) {
    for (BackendId b = 0; b < p.n_backends; ++b) {
        if (p.can_use(b, type, decided) && p.supports_op(b, decided)) {
            return b;
        }
    }
    return no_backend;
}

bool lies_in_weights(const TensorInfo& t) noexcept { return t.buffer_type != no_buffer_type && t.usage == BufferUsage::weights; }

void place_by_weight(Planning& p, TensorId id, int source) {
    const TensorId weight = p.tensor(id).src[source];
    const BufferTypeId type = p.home_of(weight);
    const BackendId at = type == no_buffer_type ? no_backend : from_memory(p, type, id);
    const PlannerRules& rules = p.options.rules;
    if ((p.options.op_offload || rules.always_offloads) && at == p.last &&
        (rules.offloads_any_memory || p.capabilities.is_host(p.tensor(weight).buffer_type))) {
        for (BackendId b = 0; b < p.last; ++b) {
            if (p.supports_op(b, id) && p.wants_offload(b, id)) {
                p.assign(id, b, Cause::offload, source, weight);
                return;
            }
        }
    }
    p.assign(id, at, Cause::weight, source, weight);
}

[[noreturn]] void refuse_allocated(const Planning& p, TensorId id, BufferTypeId type) {
    std::string why; // that an operator is not supported at all says nothing more
    for (BackendId b = 0; b < p.n_backends; ++b) {
        const Answer answer = p.capabilities.supports_op(b, id);
        if (p.capabilities.supports_buffer_type(b, type) && answer.reason == Refusal::size_limit) {
            why += joined({why.empty() ? " (" : "; ", p.backend_name(b), ": ", refusal_name(answer.reason), ", ", answer.detail});
        }
    }
    why += why.empty() ? "" : ")";
    throw PlanError("preallocated_unsupported", Pass::place, id,
                    "tensor " + p.name(id) + " lies in a buffer of type " + p.buffer_type_name(type) +
                        ", and no backend that can use it supports " + std::string(op_name(p.tensor(id))) + why);
}

bool weights_decide(const Planning& p, Op op) noexcept {
    const PlannerRules& rules = p.options.rules;
    return traits(op).weights_decide || (op == Op::ROPE && rules.rope_follows_weights) ||
           (op == Op::FLASH_ATTN_EXT && rules.flash_follows_weights);
}

void place_one(Planning& p, TensorId id) {
    if (p.backend_of(id) != no_backend) {
        return; // the user's
    }
    const TensorInfo& t = p.tensor(id);
    BufferTypeId type = t.is_view() && p.options.rules.views_lack_buffers ? t.buffer_type : p.home_of(id);
    if (type != no_buffer_type) {
        if (const BackendId b = from_memory(p, type, id); b != no_backend) {
            p.assign(id, b, Cause::dst);
            return;
        }
    }
    if (t.is_view()) {
        if (const BufferTypeId root = p.home_of(t.view_source); root != no_buffer_type) {
            if (const BackendId b = from_memory(p, root, id); b != no_backend) {
                p.assign(id, b, Cause::view_source, -1, t.view_source);
                return;
            }
        }
    }
    if (type = p.home_of(id); type != no_buffer_type) {
        refuse_allocated(p, id, type);
    }
    if ((t.flags & flag_input) != 0) {
        p.assign(id, p.last, Cause::input);
        return;
    }
    if (!weights_decide(p, *t.op)) { // frequencies and sinks are too small to decide where these run
        return;
    }
    for (int source = 0; source < max_sources; ++source) {
        const TensorId s = t.src[source];
        if (s != no_tensor && lies_in_weights(p.tensor(s))) {
            place_by_weight(p, id, source);
            return;
        }
    }
}

} // namespace

void pass1_place(Planning& p) {
    const bool forgets_pins = p.options.reserve && p.options.rules.reserve_forgets_pins;
    for (size_t i = 0; i < p.graph.tensors.size() && !forgets_pins; ++i) {
        if (const BackendId pinned = p.graph.tensors[i].user_backend; pinned != no_backend) {
            p.assign(int_of(i), pinned, Cause::user);
        }
    }
    for (const TensorId leaf : p.graph.leafs) {
        place_one(p, leaf);
    }
    for (const TensorId node : p.graph.nodes) {
        if (!p.options.rules.views_wait || !is_view_op(*p.tensor(node).op)) {
            place_one(p, node);
        }
    }
}

} // namespace schedscope
