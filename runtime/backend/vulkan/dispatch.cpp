#include "runtime/backend/vulkan/dispatch.h"

#include "runtime/backend/vulkan/dispatch_parts.h"
#include "runtime/backend/vulkan/shader_name.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace schedscope::vulkan {

namespace {

constexpr int64_t rows_per_group = 4;    ///< of mul_mat_vec.comp
constexpr int64_t tile = 32;             ///< of mul_mat.comp
constexpr int64_t sorted_at_once = 1024; ///< BLOCK of argsort.comp

/// A shader that multiplies, or combines in another way, two sources; a second source in F32 is not named.
std::string_view shader_of_two(const NameParts& family, const Tensor& node) {
    const Type a = node.src[0]->type;
    const Type b = node.src[1]->type;
    return b == Type::F32 ? shader_name(family, {a}) : shader_name(family, {a, b});
}

} // namespace

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
    d.node.extra[0] = static_cast<int32_t>(in_matrix);
    return d;
}

Dispatch rope_launch(std::string_view kernel, const Tensor& node) {
    const int64_t pairs = (node.ne[0] + 1) / 2;
    Dispatch d = launch(kernel, node, groups_for(pairs * n_rows(node), per_group));
    d.node.extra[0] = node.src[2] != nullptr ? 1 : 0;
    const double n_dims = node.params[1];
    const double ratio = std::pow(static_cast<double>(node.param_f32(5)), -2.0 / n_dims);
    const auto upper = static_cast<float>(ratio);
    d.node.p[13] = std::bit_cast<int32_t>(upper);
    d.node.p[14] = std::bit_cast<int32_t>(static_cast<float>(ratio - static_cast<double>(upper)));
    if (node.param_f32(7) != 0.0F) {
        // YaRN: pairs that turn often within the original context keep their angle, slow ones are stretched; the ramp lies between.
        const auto pair_of = [&](float rotations) {
            return n_dims * std::log(node.params[4] / (static_cast<double>(rotations) * 2.0 * std::numbers::pi)) /
                   (2.0 * std::log(static_cast<double>(node.param_f32(5))));
        };
        const double low = std::max(0.0, std::floor(pair_of(node.param_f32(9))));
        const double high = std::min(n_dims - 1.0, std::ceil(pair_of(node.param_f32(10))));
        d.node.p[11] = std::bit_cast<int32_t>(static_cast<float>(low));
        d.node.p[12] = std::bit_cast<int32_t>(static_cast<float>(high));
        const double magnitude =
            static_cast<double>(node.param_f32(8)) * (1.0 + 0.1 * std::log(1.0 / static_cast<double>(node.param_f32(6))));
        d.node.p[8] = std::bit_cast<int32_t>(static_cast<float>(magnitude));
    }
    return d;
}

namespace {

/// A shader that moves elements as they are.
std::string_view shader_of_words(std::string_view family, Type type) {
    return shader_name(NameParts(family).add(traits(type).bytes == 2 ? "_16" : "_32"), {});
}

void append_product(const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    if (goes_by_rows(node, options)) {
        out.push_back(rows_product("", node, options));
        return;
    }
    const int64_t matrices = node.ne[2] * node.ne[3];
    const int64_t tiles_m = (node.ne[0] + tile - 1) / tile;
    const int64_t tiles_n = (node.ne[1] + tile - 1) / tile;
    Dispatch d = launch(shader_of_two("mul_mat", node), node, tiles_m * tiles_n * matrices);
    d.node.extra[0] = static_cast<int32_t>(tiles_m);
    d.node.extra[1] = static_cast<int32_t>(tiles_n);
    out.push_back(d);
}

/// Queries with the same head of keys share workgroups.
void append_attention(const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    const Tensor& q = *node.src[0];
    const Tensor& k = *node.src[1];
    const int64_t in_head = q.ne[1] * (q.ne[2] / k.ne[2]);
    const int64_t heads = k.ne[2] * q.ne[3];
    const auto groups = [&](int64_t queries) { return (in_head + queries - 1) / queries * heads; };
    const int64_t most = options.row_per_invocation ? 8 : 4;
    int64_t queries = 1;
    while (queries < std::min(in_head, most) && groups(2 * queries) >= options.groups_wanted) {
        queries *= 2;
    }
    const auto* family = options.row_per_invocation ? "flash_attn_one_subgroup" : "flash_attn";
    Dispatch d = launch(shader_name(family, {k.type, node.src[2]->type}), node, groups(queries));
    d.variant = static_cast<uint32_t>(queries);
    d.node.extra[0] = node.src[3] != nullptr ? 1 : 0;
    out.push_back(d);
}

/// Blocks are sorted first, then stretches of twice the length until one holds all.
void append_sort(const Tensor& node, std::vector<Dispatch>& out) {
    enum Step : int32_t { sort_all, sort_chosen, flip, disperse, disperse_block }; // as argsort.comp numbers them
    const Tensor& a = *node.src[0];
    const bool choose = node.op == Op::TOP_K && a.ne[0] > sorted_at_once;
    const int64_t n = choose ? node.ne[0] : a.ne[0];
    const auto add = [&](Step step, int64_t stretch, int64_t groups_in_row) {
        Dispatch d = launch("argsort", node, groups_in_row * n_rows(a));
        d.node.extra = {node.op == Op::TOP_K || node.params[0] != 0 ? 1 : 0, static_cast<int32_t>(n),
                        static_cast<int32_t>(step | stretch << 4)};
        out.push_back(d);
    };
    if (choose) {
        out.push_back(launch("top_k", node, n_rows(a)));
    }
    const int64_t blocks = groups_for(n, sorted_at_once);
    add(choose ? sort_chosen : sort_all, 0, blocks);
    const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 2))));
    const int64_t pairs = groups_for(padded / 2, 128);
    for (int64_t stretch = 2 * sorted_at_once; stretch <= padded; stretch *= 2) {
        add(flip, stretch, pairs);
        for (int64_t part = stretch / 2; part > sorted_at_once; part /= 2) {
            add(disperse, part, pairs);
        }
        add(disperse_block, 0, blocks);
    }
}

int32_t function_number(const Tensor& node) {
    switch (node.op) {
    case Op::UNARY: return node.params[0];
    case Op::SCALE: return 100;
    case Op::SQR: return 101;
    case Op::SQRT: return 102;
    case Op::LOG: return 103;
    case Op::SIN: return 104;
    case Op::COS: return 105;
    case Op::CLAMP: return 106;
    default: return 107; // FILL
    }
}

/// FORM of form.glsl. Copies count their elements in two shapes; what else is element-wise has one.
uint32_t form_of(const Tensor& node) {
    constexpr uint32_t any = 1, flat = 2, flat_rows = 3;
    const bool copies = node.op == Op::CPY || node.op == Op::CONT || node.op == Op::DUP;
    const Tensor& a = *node.src[0];
    if (!is_contiguous(node) || !is_contiguous(a) || traits(a.type).quantised() || (!copies && !same_shape(a, node))) {
        return any;
    }
    const Tensor* b = copies ? nullptr : node.src[1];
    if (b == nullptr || (is_contiguous(*b) && same_shape(*b, node))) {
        return flat;
    }
    return is_contiguous(*b) && b->ne[0] == node.ne[0] && n_rows(*b) == 1 ? flat_rows : any;
}

void append_elements(std::string_view kernel, const Tensor& node, std::vector<Dispatch>& out) {
    out.push_back(launch(kernel, node, groups_for(n_elements(node), per_group)));
}

/// By a shader that includes form.glsl.
void append_formed(std::string_view kernel, const Tensor& node, std::vector<Dispatch>& out) {
    append_elements(kernel, node, out);
    out.back().variant = form_of(node);
}

} // namespace

void append_dispatches(const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    switch (node.op) {
    case Op::ADD: return append_formed(shader_of_two("add", node), node, out);
    case Op::SUB: return append_formed(shader_of_two("sub", node), node, out);
    case Op::MUL: return append_formed(shader_of_two("mul", node), node, out);
    case Op::DIV: return append_formed(shader_of_two("div", node), node, out);
    case Op::UNARY:
    case Op::SCALE:
    case Op::SQR:
    case Op::SQRT:
    case Op::LOG:
    case Op::SIN:
    case Op::COS:
    case Op::CLAMP:
    case Op::FILL:
        append_formed(shader_name("unary", {node.type}), node, out);
        out.back().node.extra[0] = function_number(node);
        return;
    case Op::GLU:
        append_formed(shader_name("glu", {node.type}), node, out);
        out.back().node.extra[0] = node.src[1] != nullptr ? 1 : 0;
        return;
    case Op::CPY:
    case Op::CONT:
    case Op::DUP: {
        const Type from = node.src[0]->type;
        const bool blocks = node.type == Type::Q8_0;
        const bool as_it_is = from == node.type && !blocks;
        const std::string_view shader = as_it_is ? shader_of_words("copy_words", from) : shader_name("copy", {from, node.type});
        Dispatch d =
            launch(shader, node, blocks ? groups_for(n_elements(node) / 32, 64) : groups_for(n_elements(node), per_group));
        d.variant = blocks ? 1 : form_of(node);
        d.bound[1] = nullptr; // CPY names its target twice
        out.push_back(d);
        return;
    }
    case Op::RMS_NORM: out.push_back(launch("rms_norm", node, n_rows(node))); return;
    case Op::NORM: out.push_back(launch("norm", node, n_rows(node))); return;
    case Op::L2_NORM: out.push_back(launch("l2_norm", node, n_rows(node))); return;
    case Op::GET_ROWS: return append_elements(shader_name("get_rows", {node.src[0]->type}), node, out);
    case Op::SET_ROWS: {
        const Tensor& rows = *node.src[0];
        Dispatch d = launch(shader_name("set_rows", {node.type}), node,
                            groups_for(n_elements(rows) / (node.type == Type::Q8_0 ? 32 : 1), per_group));
        d.bound[2] = nullptr; // the target
        out.push_back(d);
        return;
    }
    case Op::MUL_MAT: return append_product(node, options, out);
    case Op::MUL_MAT_ID: out.push_back(rows_product("", node, options)); return;
    case Op::ROPE: out.push_back(rope_launch(shader_name("rope", {node.type}), node)); return;
    case Op::SOFT_MAX: {
        const Type mask = node.src[1] != nullptr ? node.src[1]->type : Type::F32;
        Dispatch d = launch(shader_name("soft_max", {mask}), node, n_rows(node));
        d.node.extra[0] = (node.src[1] != nullptr ? 1 : 0) | (node.src[2] != nullptr ? 2 : 0);
        out.push_back(d);
        return;
    }
    case Op::FLASH_ATTN_EXT: return append_attention(node, options, out);
    case Op::REPEAT: return append_elements(shader_of_words("repeat", node.type), node, out);
    case Op::CONCAT: return append_elements(shader_of_words("concat", node.type), node, out);
    case Op::SUM_ROWS: out.push_back(launch("sum_rows", node, n_rows(*node.src[0]))); return;
    case Op::MEAN: out.push_back(launch("mean", node, n_rows(*node.src[0]))); return;
    case Op::ARGMAX: out.push_back(launch("argmax", node, n_rows(*node.src[0]))); return;
    case Op::ARGSORT:
    case Op::TOP_K: return append_sort(node, out);
    case Op::SUM: out.push_back(launch("sum", node, 1)); return;
    case Op::CUMSUM: out.push_back(launch("cumsum", node, n_rows(node))); return;
    case Op::GROUP_NORM:
        out.push_back(launch("group_norm", node, node.params[0] * node.ne[3]));
        out.back().node.extra[0] = node.params[0];
        return;
    case Op::ADD_ID: return append_elements("add_id", node, out);
    case Op::ARANGE: return append_elements("arange", node, out);
    case Op::PAD: return append_elements("pad", node, out);
    case Op::IM2COL: return append_elements(shader_name("im2col", {node.type}), node, out);
    case Op::POOL_2D: return append_elements("pool_2d", node, out);
    default: return; // leafs and views
    }
}

} // namespace schedscope::vulkan
