#include "runtime/backend/vulkan/operators/operators.h"

#include "runtime/backend/operator_table.h"

#include <algorithm>

namespace schedscope::vulkan {

namespace {

bool all_f32(const Tensor& node) noexcept {
    return node.type == Type::F32 && node.src[0]->type == Type::F32 && (node.src[1] == nullptr || node.src[1]->type == Type::F32);
}

} // namespace

const VulkanOperator* find_operator(Op op) noexcept {
    static const OperatorTable<VulkanOperator> table{elementwise_operators, norm_operators, reduce_operators, product_operators,
                                                     attention_operators,   move_operators, image_operators};
    return table.find(op);
}

bool has_type(const Tensor* t, std::initializer_list<Type> types) noexcept {
    return t != nullptr && std::find(types.begin(), types.end(), t->type) != types.end();
}

bool is_weight(Type type) noexcept {
    switch (type) {
    case Type::F32:
    case Type::F16:
    case Type::BF16: return true;
    case Type::TQ1_0:
    case Type::TQ2_0:
    case Type::IQ1_S:
    case Type::IQ1_M:
    case Type::IQ2_XXS:
    case Type::IQ2_XS:
    case Type::IQ2_S:
    case Type::IQ3_XXS:
    case Type::IQ3_S: return false;
    default: return traits(type).quantised();
    }
}

bool is_cached(Type type) noexcept { return is_weight(type) && traits(type).block <= 32 && type != Type::MXFP4; }

Answer f32(const Tensor& node) { return all_f32(node) ? yes : Answer::no(Refusal::type, "the shader is for f32 only"); }

Answer f32_rows(const Tensor& node) {
    if (const Answer a = f32(node); !a.yes) {
        return a;
    }
    return has_contiguous_rows(*node.src[0]) && has_contiguous_rows(node)
               ? yes
               : Answer::no(Refusal::layout, "rows are not contiguous");
}

Answer one_type(const Tensor& node) {
    if (!has_type(&node, {Type::F32, Type::F16}) || node.src[0]->type != node.type ||
        (node.src[1] != nullptr && node.src[1]->type != node.type)) {
        return Answer::no(Refusal::type, "the shader is for f32 or f16 throughout");
    }
    return yes;
}

void append_elements(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, groups_for(n_elements(node), per_group)));
}

void append_rows(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    out.push_back(launch(shader, node, n_rows(node)));
}

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

void append_dispatches(const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    if (const VulkanOperator* entry = find_operator(node.op); entry != nullptr) {
        entry->append(entry->shader, node, options, out);
    }
}

} // namespace schedscope::vulkan
