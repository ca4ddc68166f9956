#include "runtime/backend/cpu/kernels/operators.h"

#include "runtime/backend/operator_table.h"
#include "runtime/tensor/convert.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::cpu {

const CpuOperator* find_operator(Op op) noexcept {
    static const OperatorTable<CpuOperator> table{elementwise_operators, norm_operators,      product_operators,
                                                  move_operators,        attention_operators, flash_attn_operators,
                                                  reduce_operators,      image_operators};
    return table.find(op);
}

std::string_view kernel_name(const CpuOperator& entry, const Tensor& node) {
    if (node.op != Op::MUL_MAT) {
        return entry.name;
    }
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (uint8_t type = 0; type < ordinal(Type::count); ++type) {
            all.push_back("mul_mat_" + std::string(type_name(static_cast<Type>(type))));
        }
        return all;
    }();
    return names[ordinal(node.src[0]->type)];
}

std::string_view name_with(std::string_view kernel, std::string_view rounded) {
    static std::mutex guard;                                     // backends of several threads
    using Parts = std::pair<std::string_view, std::string_view>; // that live as long as the program
    static std::map<Parts, std::string> names;
    const std::scoped_lock lock(guard);
    const auto [found, is_new] = names.try_emplace({kernel, rounded});
    if (is_new) {
        found->second = std::string(kernel) + std::string(rounded);
    }
    return found->second;
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
