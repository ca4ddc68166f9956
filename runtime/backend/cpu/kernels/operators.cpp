#include "runtime/backend/cpu/kernels/operators.h"

#include "runtime/backend/operator_table.h"
#include "runtime/tensor/convert.h"

namespace schedscope::cpu {

const CpuOperator* find_operator(Op op) noexcept {
    static const OperatorTable<CpuOperator> table{elementwise_operators, norm_operators,      product_operators,
                                                  move_operators,        attention_operators, flash_attn_operators,
                                                  reduce_operators,      image_operators};
    return table.find(op);
}

std::string_view kernel_name(const CpuOperator& entry, const Tensor& node) noexcept {
    if (node.op != Op::MUL_MAT) {
        return entry.name;
    }
    switch (node.src[0]->type) {
    case Type::F32: return "mul_mat_f32";
    case Type::F16: return "mul_mat_f16";
    case Type::BF16: return "mul_mat_bf16";
    case Type::Q8_0: return "mul_mat_q8_0";
    case Type::Q4_0: return "mul_mat_q4_0";
    default: return "mul_mat_expanded";
    }
}

Answer supports_op(const Tensor& node) {
    if (!is_computed(node.op)) {
        return yes;
    }
    const CpuOperator* entry = find_operator(node.op);
    return entry != nullptr ? entry->supports(node) : Answer::no(Refusal::op, "there is no kernel for it");
}

Answer floats_only(const Tensor& node) {
    if (!is_float(node.type)) {
        return Answer::no(Refusal::type, "the result is not of a float type");
    }
    for (const Tensor* source : {node.src[0], node.src[1]}) {
        if (source != nullptr && !is_float(source->type)) {
            return Answer::no(Refusal::type, "a source is not of a float type");
        }
    }
    return yes;
}

Answer f32_rows(const Tensor& node) {
    if (node.type != Type::F32) {
        return Answer::no(Refusal::type, "the result is not f32");
    }
    if (!has_contiguous_rows(node)) {
        return Answer::no(Refusal::layout, "rows of the result are not contiguous");
    }
    return node.src[0] == nullptr || node.src[0]->type == Type::F32 ? yes : Answer::no(Refusal::type, "source 0 is not f32");
}

Answer readable(const Tensor& t, std::string_view which) {
    if (is_float(t.type)) {
        return yes;
    }
    if (!can_expand(t.type)) {
        return Answer::no(Refusal::type, which);
    }
    return has_contiguous_rows(t) ? yes : Answer::no(Refusal::layout, "rows of a quantised source are not contiguous");
}

} // namespace schedscope::cpu
