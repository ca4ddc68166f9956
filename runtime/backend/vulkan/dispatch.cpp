#include "runtime/backend/vulkan/dispatch.h"

#include "runtime/backend/vulkan/dispatch_parts.h"
#include "runtime/backend/vulkan/shader_name.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace schedscope::vulkan {

namespace {

constexpr int64_t rows_per_group = 4; ///< of mul_mat_vec.comp

/// A rope's parameters as rope.comp reads them.
struct TurnParams {
    RopeParams rope;
    float ramp_low = 0, ramp_high = 0;      ///< YaRN's
    float ratio_upper = 0, ratio_lower = 0; ///< freq_base^(−2/n_dims), twice as precise as a float
};
static_assert(sizeof(TurnParams) <= sizeof(Params));

} // namespace

std::string_view shader_of_two(const NameParts& family, const Tensor& node) {
    const Type a = node.src[0]->type;
    const Type b = node.src[1]->type;
    return b == Type::F32 ? shader_name(family, {a}) : shader_name(family, {a, b});
}

ShaderLayout layout_of(const Tensor& t) {
    ShaderLayout l;
    for (size_t i = 0; i < l.ne.size(); ++i) {
        l.ne[i] = static_cast<uint32_t>(t.ne[i]);
        l.nb[i] = static_cast<uint32_t>(t.nb[i]);
    }
    return l;
}

uint32_t groups_for(int64_t items, int64_t size) { return static_cast<uint32_t>((items + size - 1) / size); }

void bind(Dispatch& d, size_t i, const Tensor* t) {
    d.bound[i] = t;
    d.node.t[i] = t != nullptr ? layout_of(*t) : ShaderLayout{};
}

Dispatch launch(std::string_view kernel, const Tensor& node, int64_t groups) {
    Dispatch d;
    d.kernel = kernel;
    d.node.p = node.params;
    d.groups = static_cast<uint32_t>(groups);
    for (size_t i = 0; i < 4; ++i) {
        bind(d, i, node.src[i]);
    }
    bind(d, 4, &node);
    return d;
}

bool goes_by_rows(const Tensor& product, const DispatchOptions& options) noexcept {
    return product.ne[1] <= columns_at_once || options.row_per_invocation;
}

Dispatch rows_product(std::string_view kind, const Tensor& node, const DispatchOptions& options) {
    const bool experts = node.op == Op::MUL_MAT_ID;
    int64_t columns = 1;
    while (!experts && columns < std::min(node.ne[1], columns_at_once)) {
        columns *= 2;
    }
    const NameParts family =
        NameParts(options.row_per_invocation ? "mul_mat_rows" : "mul_mat_vec").add(kind).add(experts ? "_id" : "");
    const int64_t in_matrix = groups_for(node.ne[0], options.row_per_invocation ? options.group : rows_per_group);
    const int64_t blocks = (node.ne[1] + columns - 1) / columns;
    Dispatch d = launch(shader_of_two(family, node), node, in_matrix * blocks * node.ne[2] * node.ne[3]);
    d.variant = static_cast<uint32_t>(columns);
    d.node.extra = {int_of(in_matrix)};
    return d;
}

Dispatch rope_launch(std::string_view kernel, const Tensor& node) {
    const int64_t pairs = (node.ne[0] + 1) / 2;
    Dispatch d = launch(kernel, node, groups_for(pairs * n_rows(node), per_group));
    const int32_t has_factors = node.src[2] != nullptr ? 1 : 0;
    d.node.extra = {has_factors};
    TurnParams turn{params_of<Op::ROPE>(node)};
    const RopeParams& p = turn.rope;
    const double n_dims = p.n_dims;
    const double freq_base = p.freq_base;
    const double ratio = std::pow(freq_base, -2.0 / n_dims);
    turn.ratio_upper = to_float(ratio);
    turn.ratio_lower = to_float(ratio - turn.ratio_upper);
    if (p.ext_factor != 0.0F) {
        // YaRN: pairs that turn often within the original context keep their angle, slow ones are stretched; the ramp lies
        // between.
        const auto pair_of = [&](float rotations) {
            return n_dims * std::log(p.n_ctx_original / (rotations * 2.0 * std::numbers::pi)) / (2.0 * std::log(freq_base));
        };
        turn.ramp_low = to_float(std::max(0.0, std::floor(pair_of(p.beta_fast))));
        turn.ramp_high = to_float(std::min(n_dims - 1.0, std::ceil(pair_of(p.beta_slow))));
        turn.rope.attn_factor = to_float(p.attn_factor * (1.0 + 0.1 * std::log(1.0 / p.freq_scale)));
    }
    std::memcpy(d.node.p.data(), &turn, sizeof turn);
    return d;
}

} // namespace schedscope::vulkan
