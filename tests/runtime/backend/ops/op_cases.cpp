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
    static const std::vector<Type> types = {Type::F32,  Type::F16,  Type::BF16, Type::Q4_0,   Type::Q4_1,
                                            Type::Q5_0, Type::Q5_1, Type::Q8_0, Type::Q2_K,   Type::Q3_K,
                                            Type::Q4_K, Type::Q5_K, Type::Q6_K, Type::IQ4_NL, Type::IQ4_XS};
    return types;
}

std::vector<Type> cached_types() {
    std::vector<Type> types = expandable_types();
    std::erase_if(types, [](Type type) { return traits(type).block > 32; });
    return types;
}

} // namespace schedscope::test
