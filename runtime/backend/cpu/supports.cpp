#include "runtime/backend/cpu/supports.h"

#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/tensor/convert.h"

namespace schedscope::cpu {

namespace {

constexpr Answer yes{};

bool is_float(Type type) noexcept { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }

/// Rows can be read as floats, whatever their stride.
Answer readable(const Tensor* t, std::string_view which) {
    if (t == nullptr || is_float(t->type)) {
        return yes;
    }
    if (!can_expand(t->type)) {
        return Answer::no(Refusal::type, which);
    }
    return has_contiguous_rows(*t) ? yes : Answer::no(Refusal::layout, "rows of a quantised source are not contiguous");
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

Answer f32_result(const Tensor& node) {
    if (node.type != Type::F32) {
        return Answer::no(Refusal::type, "the result is not f32");
    }
    return has_contiguous_rows(node) ? yes : Answer::no(Refusal::layout, "rows of the result are not contiguous");
}

Answer product(const Tensor& node) {
    if (const Answer a = readable(node.src[0], "source 0 can't be expanded to floats"); !a.yes) {
        return a;
    }
    if (!has_contiguous_rows(*node.src[0])) {
        return Answer::no(Refusal::layout, "rows of source 0 are not contiguous");
    }
    if (node.src[0]->type == Type::F32 && node.src[0]->nb[1] % sizeof(float) != 0) {
        return Answer::no(Refusal::layout, "rows of source 0 are not aligned");
    }
    return is_float(node.src[1]->type) ? yes : Answer::no(Refusal::type, "source 1 is not of a float type");
}

Answer copy(const Tensor& node) {
    const Type from = node.src[0]->type;
    if (from == node.type) {
        return !traits(from).quantised() ||
                       (has_contiguous_rows(*node.src[0]) && has_contiguous_rows(node) && same_shape(*node.src[0], node))
                   ? yes
                   : Answer::no(Refusal::layout, "blocks can only be copied in whole rows");
    }
    if (!can_expand(from)) {
        return Answer::no(Refusal::type, "source 0 can't be expanded to floats");
    }
    if (!can_quantise(node.type)) {
        return Answer::no(Refusal::type, "floats can't be written as this type");
    }
    if (traits(from).quantised() && !same_shape(*node.src[0], node)) {
        return Answer::no(Refusal::shape, "a quantised source can only be copied to its own shape");
    }
    return yes;
}

Answer set_rows(const Tensor& node) {
    if (!can_quantise(node.type)) {
        return Answer::no(Refusal::type, "floats can't be written as this type");
    }
    return node.src[0]->type == Type::F32 ? yes : Answer::no(Refusal::type, "source 0 is not f32");
}

Answer same_type(const Tensor& node) {
    if (traits(node.type).quantised()) {
        return Answer::no(Refusal::type, "blocks can't be taken apart");
    }
    return node.src[0]->type == node.type ? yes : Answer::no(Refusal::type, "source 0 is of another type than the result");
}

} // namespace

Answer supports_op(const Tensor& node) {
    if (node.op == Op::NONE || is_view_op(node.op)) {
        return yes;
    }
    if (!has_kernel(node.op)) {
        return Answer::no(Refusal::op, "there is no kernel for it");
    }
    switch (node.op) {
    case Op::MUL_MAT:
    case Op::MUL_MAT_ID: return product(node);
    case Op::CPY:
    case Op::CONT:
    case Op::DUP: return copy(node);
    case Op::GET_ROWS:
        return node.src[0]->type == node.type ? yes : readable(node.src[0], "source 0 can't be expanded to floats");
    case Op::SET_ROWS: return set_rows(node);
    case Op::REPEAT:
    case Op::CONCAT: return same_type(node);
    case Op::GLU:
        return static_cast<GluOp>(node.params[0]) == GluOp::SWIGLU_OAI
                   ? Answer::no(Refusal::op, "there is no kernel for this gate")
                   : floats_only(node);
    case Op::UNARY:
        return static_cast<UnaryOp>(node.params[0]) == UnaryOp::XIELU
                   ? Answer::no(Refusal::op, "there is no kernel for this function")
                   : floats_only(node);
    case Op::FLASH_ATTN_EXT:
        if (node.src[0]->type != Type::F32) {
            return Answer::no(Refusal::type, "queries are not f32");
        }
        for (const Tensor* source : {node.src[1], node.src[2]}) {
            if (!has_contiguous_rows(*source)) {
                return Answer::no(Refusal::layout, "rows of keys or values are not contiguous");
            }
            if (const Answer a = readable(source, "keys or values can't be expanded to floats"); !a.yes) {
                return a;
            }
        }
        return yes;
    case Op::ROPE: // source 1 are positions
        return is_float(node.type) && is_float(node.src[0]->type) ? yes
                                                                  : Answer::no(Refusal::type, "source 0 is not of a float type");
    case Op::ARGMAX:
    case Op::ARGSORT:
    case Op::TOP_K: return is_float(node.src[0]->type) ? yes : Answer::no(Refusal::type, "source 0 is not of a float type");
    case Op::SOFT_MAX:
    case Op::CUMSUM:
    case Op::POOL_2D:
    case Op::GROUP_NORM:
    case Op::PAD:
    case Op::ARANGE: {
        const Answer a = f32_result(node);
        return a.yes && node.src[0] != nullptr && node.src[0]->type != Type::F32
                   ? Answer::no(Refusal::type, "source 0 is not f32")
                   : a;
    }
    case Op::IM2COL:
        if (node.src[1]->type != Type::F32) {
            return Answer::no(Refusal::type, "the image is not f32");
        }
        return is_float(node.type) ? yes : Answer::no(Refusal::type, "the result is not of a float type");
    default: return floats_only(node);
    }
}

} // namespace schedscope::cpu
