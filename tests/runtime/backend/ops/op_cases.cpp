#include "tests/runtime/backend/ops/op_families.h"

#include <algorithm>

namespace schedscope::test {

std::vector<OpCase> op_cases() {
    std::vector<OpCase> cases;
    for (const OpFamily* family : op_families) {
        family->add_cases(cases);
    }
    return cases;
}

std::vector<OpCase> op_cases(Op op) {
    std::vector<OpCase> cases = op_cases();
    std::erase_if(cases, [op](const OpCase& c) { return c.op != op; });
    return cases;
}

std::vector<Op> ops_with_cases() {
    std::vector<Op> ops;
    for (const OpCase& c : op_cases()) {
        if (std::find(ops.begin(), ops.end(), c.op) == ops.end()) {
            ops.push_back(c.op);
        }
    }
    return ops;
}

const std::vector<Type>& expandable_types() {
    static const std::vector<Type> types = {
        Type::F32,   Type::F16,   Type::BF16,    Type::Q4_0,   Type::Q4_1,   Type::Q5_0,    Type::Q5_1,  Type::Q8_0,  Type::Q2_K,
        Type::Q3_K,  Type::Q4_K,  Type::Q5_K,    Type::Q6_K,   Type::IQ4_NL, Type::IQ4_XS,  Type::MXFP4, Type::TQ1_0, Type::TQ2_0,
        Type::IQ1_S, Type::IQ1_M, Type::IQ2_XXS, Type::IQ2_XS, Type::IQ2_S,  Type::IQ3_XXS, Type::IQ3_S};
    return types;
}

std::vector<Type> shader_types() {
    std::vector<Type> types = expandable_types();
    const auto is_refused = [](std::string_view name) {
        return name.starts_with("tq") || name.starts_with("iq1") || name.starts_with("iq2") || name.starts_with("iq3");
    };
    std::erase_if(types, [&](Type type) { return is_refused(type_name(type)); });
    return types;
}

std::vector<Type> cached_types() {
    std::vector<Type> types = expandable_types();
    std::erase_if(types, [](Type type) { return traits(type).block > 32 || type == Type::MXFP4; });
    return types;
}

} // namespace schedscope::test
