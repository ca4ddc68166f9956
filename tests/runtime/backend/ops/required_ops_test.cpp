// A refusal is not an error, so that a device that refused everything would agree with the reference everywhere: what devices
// must take is listed here.

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/kernels/operators.h"
#include "runtime/tensor/convert.h"
#include "runtime/tensor/ops.h"
#include "tests/runtime/backend/ops/op_cases.h"
#include "tests/support/vulkan_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace schedscope::test {
namespace {

/// The type that a kernel is chosen by: keys in attention, what is written in movements, else source 0.
Type deciding_type(const Tensor& node) {
    switch (node.op) {
    case Op::FLASH_ATTN_EXT: return node.src[1]->type;
    case Op::CPY:
    case Op::SET_ROWS:
    case Op::IM2COL:
    case Op::ARANGE: return node.type;
    default: return node.src[0]->type;
    }
}

using Kernels = std::set<std::pair<Op, Type>>;

/// The operators and types of which the device takes a case.
Kernels taken_by(const Device& device) {
    Kernels taken;
    for (const OpCase& c : op_cases()) {
        Graph g;
        Leafs leafs(g);
        g.expand(c.build(g, leafs));
        for (const Tensor* node : g.nodes()) {
            if (!is_view_op(node->op) && device.supports_op(*node).yes) {
                taken.emplace(node->op, deciding_type(*node));
            }
        }
    }
    return taken;
}

void expect(const Kernels& taken, const std::vector<Op>& ops, const std::vector<Type>& types) {
    for (const Op op : ops) {
        for (const Type type : types) {
            EXPECT_TRUE(taken.contains({op, type})) << op_name(op) << " " << type_name(type);
        }
    }
}

TEST(RequiredOps, EveryKernelOfTheCpuHasCases) {
    const std::vector<Op> tested = ops_with_cases();
    for (int i = 0; i < static_cast<int>(Op::count); ++i) {
        const auto op = static_cast<Op>(i);
        const bool has_cases = std::find(tested.begin(), tested.end(), op) != tested.end();
        EXPECT_EQ(has_cases, cpu::find_operator(op) != nullptr) << op_name(op);
    }
}

TEST(RequiredOps, TheCpuTakesEveryOperatorAndAllTypesOfWeights) {
    const Kernels taken = taken_by(*make_cpu_device());
    expect(taken, ops_with_cases(), {Type::F32});
    expect(taken, {Op::MUL_MAT, Op::MUL_MAT_ID, Op::GET_ROWS, Op::FLASH_ATTN_EXT}, expandable_types());
    expect(taken, {Op::CPY}, expandable_types());
    std::vector<Type> written = expandable_types();
    std::erase_if(written, [](Type type) { return !can_quantise(type); });
    expect(taken, {Op::SET_ROWS}, written);
    expect(taken, {Op::ADD, Op::MUL, Op::UNARY, Op::GLU, Op::ROPE, Op::CONT, Op::SCALE}, {Type::F16});
    expect(taken, {Op::CPY, Op::CONT, Op::REPEAT, Op::CONCAT}, {Type::I32});
}

class RequiredOnVulkan : public OnVulkan<::testing::Test> {};

TEST_F(RequiredOnVulkan, TransformersStayOnTheDevice) {
    for (const auto& device : vulkan_devices()) {
        const Kernels taken = taken_by(*device);
        expect(taken, ops_with_cases(), {Type::F32});
        expect(taken, {Op::MUL_MAT, Op::MUL_MAT_ID, Op::GET_ROWS}, shader_types());
        expect(taken, {Op::FLASH_ATTN_EXT, Op::SET_ROWS, Op::CPY, Op::MUL_MAT}, cached_types());
        expect(taken, {Op::CONT, Op::CPY, Op::CONCAT, Op::GET_ROWS}, {Type::I32});
    }
}

/// A product with weights of the type, a look-up in such a table, and both kinds of writing it.
std::vector<Tensor*> uses_of(Graph& g, Type type) {
    Tensor* const weights = g.input(type, {256, 4, 1, 1});
    Tensor* const floats = g.input(Type::F32, {256, 4, 1, 1});
    Tensor* const ids = g.input(Type::I32, {4, 1, 1, 1});
    return {ops::mul_mat(g, weights, floats), ops::get_rows(g, weights, ids), ops::cpy(g, floats, weights),
            ops::set_rows(g, weights, floats, ids)};
}

TEST(RequiredOps, FloatsAreNotQuantisedToCodeBooks) {
    const std::unique_ptr<Device> cpu = make_cpu_device();
    for (const Type type : expandable_types()) {
        Graph g;
        const std::vector<Tensor*> uses = uses_of(g, type);
        EXPECT_TRUE(cpu->supports_op(*uses[0]).yes && cpu->supports_op(*uses[1]).yes) << type_name(type);
        for (const Tensor* writing : {uses[2], uses[3]}) {
            const Answer answer = cpu->supports_op(*writing);
            const bool has_book = type_name(type).starts_with("iq") && traits(type).block == 256 && type != Type::IQ4_XS;
            EXPECT_EQ(answer.yes, !has_book) << type_name(type);
            EXPECT_EQ(answer.reason, has_book ? Refusal::type : Refusal::none);
            EXPECT_EQ(answer.detail, has_book ? "floats can't be written as this type" : "");
        }
    }
}

TEST_F(RequiredOnVulkan, CodeBooksAndNumbersOfBase3AreRefusedWithTheReason) {
    const std::vector<Type> read = shader_types(), written = cached_types();
    const auto has = [](const std::vector<Type>& types, Type type) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    for (const Type type : expandable_types()) {
        Graph g;
        const std::vector<Tensor*> uses = uses_of(g, type);
        const std::string_view why[] = {"there is no shader for weights of this type",
                                        "there is no shader for a table of this type",
                                        "there is no shader for this pair of types", "there is no shader that writes this type"};
        for (size_t i = 0; i < uses.size(); ++i) {
            for (const auto& device : vulkan_devices()) {
                const Answer answer = device->supports_op(*uses[i]);
                EXPECT_EQ(answer.yes, has(i < 2 ? read : written, type)) << type_name(type) << " " << i;
                EXPECT_EQ(answer.reason, answer.yes ? Refusal::none : Refusal::type);
                EXPECT_EQ(answer.detail, answer.yes ? "" : why[i]);
            }
        }
    }
}

/// What UNARY and GLU apply, of those nodes with which `wanted` agrees.
template <typename Wanted> std::set<std::string> functions_of_cases(Wanted wanted) {
    std::set<std::string> names;
    for (const OpCase& c : op_cases()) {
        if (c.op != Op::UNARY && c.op != Op::GLU) {
            continue;
        }
        Graph g;
        Leafs leafs(g);
        g.expand(c.build(g, leafs));
        for (const Tensor* node : g.nodes()) {
            if (node->op == c.op && wanted(*node)) {
                names.emplace(c.op == Op::UNARY ? unary_name(params_of<Op::UNARY>(*node).function)
                                                : glu_name(params_of<Op::GLU>(*node).function));
            }
        }
    }
    return names;
}

TEST_F(RequiredOnVulkan, EveryFunctionAndGateHasAShader) {
    for (const auto& device : vulkan_devices()) {
        EXPECT_EQ(functions_of_cases([&](const Tensor& node) { return device->supports_op(node).yes; }),
                  functions_of_cases([](const Tensor&) { return true; }));
    }
}

} // namespace
} // namespace schedscope::test
