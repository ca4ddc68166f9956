#include "runtime/backend/vulkan/operators/operators.h"
#include "runtime/backend/vulkan/shader_name.h"
#include "runtime/numbers.h"
#include "shaders/shader_table.h"

#include <algorithm>
#include <array>

namespace schedscope::vulkan {

namespace {

/// By a shader that includes form.glsl.
void append_formed(std::string_view module, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_elements(module, node, options, out);
    out.back().variant = form_of(node);
}

Answer supports_two_floats(const Tensor& node) {
    return has_type(&node, {Type::F32, Type::F16}) && node.src[0]->type == node.type &&
                   has_type(node.src[1], {Type::F32, Type::F16})
               ? yes
               : Answer::no(Refusal::type, "the shader is for f32 and f16");
}

void append_two(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_formed(shader_of_two(shader, node), node, options, out);
}

// unary.comp

/// Functions or gates that shaders have: their source says it by a case for each. One that is not known counts as had.
template <typename Function> class Had {
public:
    Had(std::span<const std::string_view> names, std::string_view (*name_of)(Function) noexcept) {
        for (size_t i = 0; i < had_.size(); ++i) {
            had_[i] = std::find(names.begin(), names.end(), name_of(static_cast<Function>(i))) != names.end();
        }
    }
    bool operator()(Function f) const noexcept { return !is_known(f) || had_[ordinal(f)]; }

private:
    std::array<bool, ordinal(Function::count)> had_{};
};

Answer supports_unary(const Tensor& node) {
    static const Had<UnaryOp> has(shader_functions(), unary_name);
    return has(params_of<Op::UNARY>(node).function) ? one_type(node)
                                                    : Answer::no(Refusal::op, "there is no shader for this function");
}

/// As unary.comp numbers what it does: UNARY's functions by their own numbers, operators behind them.
int32_t function_number(const Tensor& node) {
    constexpr int32_t first_operator = 100;
    return node.op == Op::UNARY ? ordinal(params_of<Op::UNARY>(node).function) : first_operator + ordinal(node.op);
}

void append_function(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_formed(shader_name(shader, {node.type}), node, options, out);
    out.back().node.extra = {function_number(node)};
}

Answer supports_glu(const Tensor& node) {
    static const Had<GluOp> has(shader_gates(), glu_name);
    return has(params_of<Op::GLU>(node).function) ? one_type(node) : Answer::no(Refusal::op, "there is no shader for this gate");
}

void append_gate(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_formed(shader_name(shader, {node.type}), node, options, out);
    const int32_t two_sources = node.src[1] != nullptr ? 1 : 0;
    out.back().node.extra = {two_sources};
}

Answer supports_add_id(const Tensor& node) {
    const Answer a = f32(node);
    return a.yes && node.src[2]->type != Type::I32 ? Answer::no(Refusal::type, "the shader is for f32 only") : a;
}

constexpr VulkanOperator elementwise_entries[] = {
    {Op::ADD, "add", supports_two_floats, append_two},
    {Op::SUB, "sub", supports_two_floats, append_two},
    {Op::MUL, "mul", supports_two_floats, append_two},
    {Op::DIV, "div", supports_two_floats, append_two},
    {Op::ADD_ID, "add_id", supports_add_id, append_elements},
    {Op::SCALE, "unary", one_type, append_function},
    {Op::SQR, "unary", one_type, append_function},
    {Op::SQRT, "unary", one_type, append_function},
    {Op::LOG, "unary", one_type, append_function},
    {Op::SIN, "unary", one_type, append_function},
    {Op::COS, "unary", one_type, append_function},
    {Op::CLAMP, "unary", one_type, append_function},
    {Op::FILL, "unary", one_type, append_function},
    {Op::UNARY, "unary", supports_unary, append_function},
    {Op::GLU, "glu", supports_glu, append_gate},
};

} // namespace

std::span<const VulkanOperator> elementwise_operators() noexcept { return elementwise_entries; }

} // namespace schedscope::vulkan
