// Which nodes the shaders can run: one rule per operator, next to nothing but the shapes and types it needs.

#include "runtime/backend/vulkan/features.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

constexpr Answer yes{};

bool is(const Tensor* t, std::initializer_list<Type> types) noexcept {
    return t != nullptr && std::find(types.begin(), types.end(), t->type) != types.end();
}

bool all_f32(const Tensor& node) noexcept {
    return node.type == Type::F32 && node.src[0]->type == Type::F32 && (node.src[1] == nullptr || node.src[1]->type == Type::F32);
}

Answer f32(const Tensor& node) { return all_f32(node) ? yes : Answer::no(Refusal::type, "the shader is for f32 only"); }

Answer f32_rows(const Tensor& node) {
    if (!all_f32(node)) {
        return Answer::no(Refusal::type, "the shader is for f32 only");
    }
    return has_contiguous_rows(*node.src[0]) && has_contiguous_rows(node)
               ? yes
               : Answer::no(Refusal::layout, "rows are not contiguous");
}

Answer one_type(const Tensor& node) {
    if (!is(&node, {Type::F32, Type::F16}) || node.src[0]->type != node.type ||
        (node.src[1] != nullptr && node.src[1]->type != node.type)) {
        return Answer::no(Refusal::type, "the shader is for f32 or f16 throughout");
    }
    return yes;
}

Answer unary(const Tensor& node) {
    switch (static_cast<UnaryOp>(node.params[0])) {
    case UnaryOp::XIELU: return Answer::no(Refusal::op, "there is no shader for this function");
    default: return one_type(node);
    }
}

/// Floats, and every kind of block.
bool is_weight(Type type) noexcept {
    return type == Type::F32 || type == Type::F16 || type == Type::BF16 || traits(type).quantised();
}

Answer product(const Tensor& node) {
    const Type type = node.src[0]->type;
    if (!is_weight(type)) {
        return Answer::no(Refusal::type, "there is no shader for weights of this type");
    }
    if (!has_contiguous_rows(*node.src[0])) {
        return Answer::no(Refusal::layout, "rows of source 0 are not contiguous");
    }
    if (node.op == Op::MUL_MAT && node.src[1]->type == Type::F16 &&
        is(node.src[0], {Type::F32, Type::F16, Type::BF16, Type::Q8_0, Type::Q4_0})) {
        return yes;
    }
    return node.src[1]->type == Type::F32 ? yes : Answer::no(Refusal::type, "there is no shader for source 1 of this type");
}

/// Elements that are moved as they are.
bool is_word(Type type) noexcept { return !traits(type).quantised() && (traits(type).bytes == 2 || traits(type).bytes == 4); }

Answer words(const Tensor& node) {
    return is_word(node.type) ? yes : Answer::no(Refusal::type, "the shader is for elements of two and four bytes");
}

Answer copy(const Tensor& node) {
    const Tensor& from = *node.src[0];
    if (from.type == node.type && is_word(node.type)) {
        return yes;
    }
    if (is(&from, {Type::F32, Type::F16, Type::BF16}) && is(&node, {Type::F32, Type::F16, Type::BF16})) {
        return yes;
    }
    if (is(&from, {Type::Q8_0, Type::Q4_0}) && node.type == Type::F32) {
        return same_shape(from, node) && has_contiguous_rows(from)
                   ? yes
                   : Answer::no(Refusal::shape, "blocks need rows of the same shape");
    }
    if (from.type == Type::F32 && node.type == Type::Q8_0) {
        return same_shape(from, node) && has_contiguous_rows(node)
                   ? yes
                   : Answer::no(Refusal::shape, "blocks need rows of the same shape");
    }
    return Answer::no(Refusal::type, "there is no shader for this pair of types");
}

Answer attention(const Tensor& node) {
    const Tensor& k = *node.src[1];
    if (node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "queries are not f32");
    }
    if (!is(&k, {Type::F32, Type::F16, Type::Q8_0}) || !is(node.src[2], {Type::F32, Type::F16, Type::Q8_0})) {
        return Answer::no(Refusal::type, "keys or values are none of f32, f16, q8_0");
    }
    if (!has_contiguous_rows(k) || !has_contiguous_rows(*node.src[2])) {
        return Answer::no(Refusal::layout, "rows of keys or values are not contiguous");
    }
    return k.ne[0] <= 512 && node.src[2]->ne[0] <= 512 ? yes : Answer::no(Refusal::shape, "heads are longer than 512");
}

Answer soft_max(const Tensor& node) {
    const Tensor* mask = node.src[1];
    if (node.type != Type::F32 || node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "the shader is for f32 only");
    }
    return mask == nullptr || is(mask, {Type::F32, Type::F16}) ? yes
                                                               : Answer::no(Refusal::type, "the mask is neither f32 nor f16");
}

Answer sorting(const Tensor& node) {
    if (node.src[0]->type != Type::F32) {
        return Answer::no(Refusal::type, "the shader is for f32 only");
    }
    if (!has_contiguous_rows(*node.src[0])) {
        return Answer::no(Refusal::layout, "rows are not contiguous");
    }
    return node.src[0]->ne[0] <= (1 << 26) ? yes : Answer::no(Refusal::size_limit, "rows to sort are longer than 67108864");
}

Answer by_operator(const Tensor& node) {
    switch (node.op) {
    case Op::NONE:
    case Op::VIEW:
    case Op::RESHAPE:
    case Op::PERMUTE:
    case Op::TRANSPOSE: return yes;
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::DIV:
        return is(&node, {Type::F32, Type::F16}) && node.src[0]->type == node.type && is(node.src[1], {Type::F32, Type::F16})
                   ? yes
                   : Answer::no(Refusal::type, "the shader is for f32 and f16");
    case Op::RMS_NORM:
    case Op::NORM:
    case Op::L2_NORM: return f32_rows(node);
    case Op::SCALE:
    case Op::SQR:
    case Op::SQRT:
    case Op::LOG:
    case Op::SIN:
    case Op::COS:
    case Op::CLAMP:
    case Op::FILL: return one_type(node);
    case Op::UNARY: return unary(node);
    case Op::GLU:
        return static_cast<GluOp>(node.params[0]) == GluOp::SWIGLU_OAI
                   ? Answer::no(Refusal::op, "there is no shader for this gate")
                   : one_type(node);
    case Op::MUL_MAT:
    case Op::MUL_MAT_ID: return product(node);
    case Op::CPY:
    case Op::CONT:
    case Op::DUP: return copy(node);
    case Op::GET_ROWS:
        if (!is_weight(node.src[0]->type) && node.src[0]->type != Type::I32) {
            return Answer::no(Refusal::type, "there is no shader for a table of this type");
        }
        return has_contiguous_rows(*node.src[0]) ? yes : Answer::no(Refusal::layout, "rows of the table are not contiguous");
    case Op::SET_ROWS:
        if (!is(&node, {Type::F32, Type::F16, Type::Q8_0})) {
            return Answer::no(Refusal::type, "there is no shader that writes this type");
        }
        return node.src[0]->type == Type::F32 ? yes : Answer::no(Refusal::type, "source 0 is not f32");
    case Op::ROPE:
        if (!is(&node, {Type::F32, Type::F16}) || node.src[0]->type != node.type) {
            return Answer::no(Refusal::type, "the shader is for f32 or f16 throughout");
        }
        return has_contiguous_rows(*node.src[0]) ? yes : Answer::no(Refusal::layout, "rows are not contiguous");
    case Op::SOFT_MAX: return soft_max(node);
    case Op::FLASH_ATTN_EXT: return attention(node);
    case Op::REPEAT:
    case Op::CONCAT: return words(node);
    case Op::SUM_ROWS:
    case Op::MEAN:
    case Op::CUMSUM: return f32_rows(node);
    case Op::ARANGE: return node.type == Type::F32 ? yes : Answer::no(Refusal::type, "the shader is for f32 only");
    case Op::SUM:
    case Op::GROUP_NORM:
    case Op::PAD:
    case Op::POOL_2D: return f32(node);
    case Op::ADD_ID:
        return all_f32(node) && node.src[2]->type == Type::I32 ? yes : Answer::no(Refusal::type, "the shader is for f32 only");
    case Op::IM2COL:
        return node.src[1]->type == Type::F32 && is(&node, {Type::F32, Type::F16})
                   ? yes
                   : Answer::no(Refusal::type, "the shader is for f32 images and f32 or f16 columns");
    case Op::ARGSORT:
    case Op::TOP_K: return sorting(node);
    case Op::ARGMAX:
        return node.src[0]->type == Type::F32 && has_contiguous_rows(*node.src[0]) && node.src[0]->ne[0] < (1 << 24)
                   ? yes
                   : Answer::no(Refusal::type, "the shader is for contiguous rows of f32");
    default: return Answer::no(Refusal::op, "there is no shader for it");
    }
}

bool needs_16bit(Type type) noexcept { return type != Type::F32 && type != Type::I32 && type != Type::I64; }

} // namespace

VulkanFeatures all_vulkan_features() noexcept { return {.storage_16bit = true, .max_storage_range = UINT32_MAX}; }

Answer vulkan_supports_op(const VulkanFeatures& features, const Tensor& node) {
    const Answer answer = by_operator(node);
    if (!answer.yes || node.op == Op::NONE || is_view_op(node.op)) {
        return answer;
    }
    const auto check_tensor = [&](const Tensor& t) -> Answer {
        if (needs_16bit(t.type) && !features.storage_16bit) {
            return Answer::no(Refusal::feature, "the device has no 16-bit storage buffers");
        }
        if (n_bytes(t) > features.max_storage_range) {
            return Answer::no(Refusal::size_limit, "a tensor is larger than the device's storage range");
        }
        return n_elements(t) <= UINT32_MAX ? yes
                                           : Answer::no(Refusal::size_limit, "a tensor has more elements than 32 bits count");
    };
    if (const Answer a = check_tensor(node); !a.yes) {
        return a;
    }
    for (const Tensor* source : node.src) {
        if (source != nullptr) {
            if (const Answer a = check_tensor(*source); !a.yes) {
                return a;
            }
        }
    }
    return yes;
}

} // namespace schedscope
