#include "runtime/backend/vulkan/operators/operators.h"

#include "runtime/numbers.h"

namespace schedscope::vulkan {

namespace {

constexpr int64_t tile = 32; ///< of mul_mat.comp

Answer supports_product(const Tensor& node) {
    const Type type = node.src[0]->type;
    if (!is_weight(type)) {
        return Answer::no(Refusal::type, "there is no shader for weights of this type");
    }
    if (!has_contiguous_rows(*node.src[0])) {
        return Answer::no(Refusal::layout, "rows of source 0 are not contiguous");
    }
    if (node.op == Op::MUL_MAT && node.src[1]->type == Type::F16 &&
        has_type(node.src[0], {Type::F32, Type::F16, Type::BF16, Type::Q8_0, Type::Q4_0})) {
        return yes;
    }
    return node.src[1]->type == Type::F32 ? yes : Answer::no(Refusal::type, "there is no shader for source 1 of this type");
}

void append_product(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    if (goes_by_rows(node, options)) {
        out.push_back(rows_product("", node, options));
        return;
    }
    const int64_t matrices = node.ne[2] * node.ne[3];
    const int64_t tiles_m = (node.ne[0] + tile - 1) / tile;
    const int64_t tiles_n = (node.ne[1] + tile - 1) / tile;
    Dispatch d = launch(shader_of_two(shader, node), node, tiles_m * tiles_n * matrices);
    d.node.extra = {int_of(tiles_m), int_of(tiles_n)};
    out.push_back(d);
}

void append_expert_product(std::string_view, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    out.push_back(rows_product("", node, options));
}

constexpr VulkanOperator product_entries[] = {
    {Op::MUL_MAT, "mul_mat", supports_product, append_product},
    {Op::MUL_MAT_ID, "mul_mat_vec_id", supports_product, append_expert_product},
};

} // namespace

std::span<const VulkanOperator> product_operators() noexcept { return product_entries; }

} // namespace schedscope::vulkan
