// Groups of nodes as one launch: which of them the shaders can run, and how.

#include "runtime/backend/vulkan/fused.h"

#include "runtime/backend/order/fusion_parts.h"
#include "runtime/backend/vulkan/dispatch_parts.h"
#include "runtime/backend/vulkan/shader_name.h"
#include "runtime/planner/memory/allocated_graph.h"

#include <algorithm>
#include <span>

namespace schedscope::vulkan {

namespace {

using Nodes = std::span<Tensor* const>;

constexpr size_t fewest_sources = 4;    ///< that any device binds
constexpr int64_t turned_at_once = 512; ///< elements of a workgroup of rope.comp that writes blocks

// Which groups can be run.

std::string_view why_no_gates(const fused::GateUp& parts, const DispatchOptions& options) {
    if (!goes_by_rows(*parts.gate, options)) {
        return batch_too_large;
    }
    const Tensor& gate = *parts.gate->src[0];
    const Tensor& up = *parts.up->src[0];
    if (gate.type != up.type || parts.gate->src[1]->type != Type::F32 ||
        (is_known(parts.act) && !function_of(parts.act).has_value())) {
        return "types";
    }
    return same_shape(gate, up) ? "" : "shapes";
}

std::string_view why_no_rope_store(const fused::RopeStore& parts) {
    const int64_t head = parts.rope->ne[0];
    return traits(parts.store->type).quantised() && (head % traits(parts.store->type).block != 0 || head > turned_at_once)
               ? "shapes"
               : "";
}

// How they are run.

Dispatch norm(std::string_view kernel, const fused::Norm& parts) {
    Dispatch d = launch(kernel, *parts.result, n_rows(*parts.result));
    d.node.p = parts.norm->params;
    bind(d, 0, parts.x);
    bind(d, 1, parts.weight);
    bind(d, 2, parts.bias);
    return d;
}

Dispatch chain(const fused::Chain& parts) {
    const Tensor& sum = *parts.result;
    const auto terms = std::span(parts.operand).first(parts.n);
    const bool many = terms.size() > fewest_sources;
    Dispatch d = launch(many ? "add_chain_many" : "add_chain", sum, groups_for(n_elements(sum), per_group));
    for (size_t i = 0; i < fewest_sources; ++i) {
        bind(d, i, i < terms.size() ? terms[i] : nullptr);
    }
    if (many) {
        const auto more = terms.subspan(fewest_sources);
        std::copy(more.begin(), more.end(), d.more.begin());
        d.n_more = more.size();
    }
    d.variant = static_cast<uint32_t>(terms.size());
    const auto lies_like_sum = [&](const Tensor* t) { return is_contiguous(*t) && same_shape(*t, sum); };
    const int32_t flat = lies_like_sum(&sum) && std::all_of(terms.begin(), terms.end(), lies_like_sum) ? 1 : 0;
    d.node.extra = {flat};
    return d;
}

// AFTERWARDS of mul_mat_vec.comp.
constexpr uint32_t then_added = 1;
uint32_t then_function(UnaryOp function) noexcept { return 2 + static_cast<uint32_t>(function); }

Dispatch product(const fused::Product& parts, const DispatchOptions& options) {
    Dispatch d = rows_product("", *parts.product, options);
    bind(d, 2, parts.bias);
    bind(d, 4, parts.result);
    d.afterwards = parts.act.has_value() ? then_function(*parts.act) : then_added;
    return d;
}

Dispatch gates(const fused::GateUp& parts, const DispatchOptions& options) {
    Dispatch d = rows_product("_two", *parts.gate, options);
    bind(d, 2, parts.up->src[0]);
    bind(d, 4, parts.result);
    d.afterwards = then_function(*function_of(parts.act));
    return d;
}

Dispatch rope_store(const fused::RopeStore& parts) {
    Dispatch d = rope_launch(shader_name("rope_set_rows", {parts.store->type}), *parts.rope);
    if (traits(parts.store->type).quantised()) {
        d.groups = groups_for(n_rows(*parts.rope), turned_at_once / parts.rope->ne[0]);
    }
    bind(d, 3, parts.store->src[1]);
    bind(d, 4, parts.store);
    return d;
}

} // namespace

std::string_view VulkanFusedKernels::why_not(std::string_view kernel, Nodes nodes) const {
    if (kernel == fused::add_chain) {
        return fused::chain_parts(nodes).n <= options_.most_sources ? "" : "device limit";
    }
    if (kernel == fused::mul_mat_add || kernel == fused::mul_mat_add_act) {
        return goes_by_rows(*fused::product_parts(nodes).product, options_) ? std::string_view() : batch_too_large;
    }
    if (kernel == fused::gate_up) {
        return why_no_gates(fused::gate_up_parts(nodes), options_);
    }
    return kernel == fused::rope_set_rows ? why_no_rope_store(fused::rope_store_parts(nodes)) : "";
}

Dispatch fused_dispatch(std::string_view kernel, Nodes nodes, const DispatchOptions& options) {
    if (kernel == fused::add_chain) {
        return chain(fused::chain_parts(nodes));
    }
    if (kernel == fused::mul_mat_add || kernel == fused::mul_mat_add_act) {
        return product(fused::product_parts(nodes), options);
    }
    if (kernel == fused::gate_up) {
        return gates(fused::gate_up_parts(nodes), options);
    }
    return kernel == fused::rope_set_rows ? rope_store(fused::rope_store_parts(nodes)) : norm(kernel, fused::norm_parts(nodes));
}

} // namespace schedscope::vulkan
