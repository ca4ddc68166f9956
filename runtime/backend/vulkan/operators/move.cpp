#include "runtime/backend/vulkan/operators/operators.h"
#include "runtime/backend/vulkan/shader_name.h"

namespace schedscope::vulkan {

namespace {

/// Elements that are moved as they are.
bool is_word(Type type) noexcept { return !traits(type).quantised() && (traits(type).bytes == 2 || traits(type).bytes == 4); }

/// A shader that moves elements as they are.
std::string_view shader_of_words(std::string_view family, Type type) {
    return shader_name(NameParts(family).add(traits(type).bytes == 2 ? "_16" : "_32"), {});
}

Answer supports_words(const Tensor& node) {
    return is_word(node.type) ? yes : Answer::no(Refusal::type, "the shader is for elements of two and four bytes");
}

void append_words(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_elements(shader_of_words(shader, node.type), node, options, out);
}

Answer supports_copy(const Tensor& node) {
    const Tensor& from = *node.src[0];
    if (from.type == node.type && is_word(node.type)) {
        return yes;
    }
    if (has_type(&from, {Type::F32, Type::F16, Type::BF16}) && has_type(&node, {Type::F32, Type::F16, Type::BF16})) {
        return yes;
    }
    const bool to_floats = is_cached(from.type) && node.type == Type::F32;
    const bool to_blocks = from.type == Type::F32 && is_cached(node.type);
    if (to_floats || to_blocks) {
        return same_shape(from, node) && has_contiguous_rows(to_floats ? from : node)
                   ? yes
                   : Answer::no(Refusal::shape, "blocks need rows of the same shape");
    }
    return Answer::no(Refusal::type, "there is no shader for this pair of types");
}

void append_copy(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    const Type from = node.src[0]->type;
    const bool blocks = traits(node.type).quantised();
    const bool as_it_is = from == node.type && !blocks;
    const std::string_view module = as_it_is ? shader_of_words("copy_words", from) : shader_name(shader, {from, node.type});
    Dispatch d = launch(module, node, blocks ? groups_for(n_elements(node) / 32, 64) : groups_for(n_elements(node), per_group));
    d.variant = blocks ? 1 : form_of(node);
    d.bound[1] = nullptr; // CPY names its target twice
    out.push_back(d);
}

Answer supports_get_rows(const Tensor& node) {
    if (!is_weight(node.src[0]->type) && node.src[0]->type != Type::I32) {
        return Answer::no(Refusal::type, "there is no shader for a table of this type");
    }
    return has_contiguous_rows(*node.src[0]) ? yes : Answer::no(Refusal::layout, "rows of the table are not contiguous");
}

void append_get_rows(std::string_view shader, const Tensor& node, const DispatchOptions& options, std::vector<Dispatch>& out) {
    append_elements(shader_name(shader, {node.src[0]->type}), node, options, out);
}

Answer supports_set_rows(const Tensor& node) {
    if (!is_cached(node.type)) {
        return Answer::no(Refusal::type, "there is no shader that writes this type");
    }
    return node.src[0]->type == Type::F32 ? yes : Answer::no(Refusal::type, "source 0 is not f32");
}

void append_set_rows(std::string_view shader, const Tensor& node, const DispatchOptions&, std::vector<Dispatch>& out) {
    Dispatch d =
        launch(shader_name(shader, {node.type}), node, groups_for(n_elements(*node.src[0]) / traits(node.type).block, per_group));
    d.bound[2] = nullptr; // the target
    out.push_back(d);
}

Answer supports_f32_result(const Tensor& node) {
    return node.type == Type::F32 ? yes : Answer::no(Refusal::type, "the shader is for f32 only");
}

constexpr VulkanOperator move_entries[] = {
    {Op::CPY, "copy", supports_copy, append_copy},
    {Op::CONT, "copy", supports_copy, append_copy},
    {Op::DUP, "copy", supports_copy, append_copy},
    {Op::REPEAT, "repeat", supports_words, append_words},
    {Op::CONCAT, "concat", supports_words, append_words},
    {Op::GET_ROWS, "get_rows", supports_get_rows, append_get_rows},
    {Op::SET_ROWS, "set_rows", supports_set_rows, append_set_rows},
    {Op::PAD, "pad", f32, append_elements},
    {Op::ARANGE, "arange", supports_f32_result, append_elements},
};

} // namespace

std::span<const VulkanOperator> move_operators() noexcept { return move_entries; }

} // namespace schedscope::vulkan
