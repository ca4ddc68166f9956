#include "traces/replay/profile/op_form.h"

#include "runtime/ops/params.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace schedscope {

namespace {

void put(std::string& text, std::string_view word) {
    text += word;
    text += '\0';
}
template <typename T> void put_bytes(std::string& text, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool moves_no_data(const TensorInfo& t) { return t.op && (t.op == Op::NONE || is_view_op(*t.op)); }

/// Those parameters that say which kernel is wanted, and not how large or how strong its work is.
std::string kind_of(const TensorInfo& node) {
    if (!node.op || !node.params || node.foreign != nullptr) {
        return "";
    }
    const Params& p = *node.params;
    const auto set = [](auto value) { return value != 0 ? "1" : "0"; };
    switch (*node.op) {
    case Op::UNARY: return std::to_string(ordinal(params_of<Op::UNARY>(p).function));
    case Op::GLU:
        return std::to_string(ordinal(params_of<Op::GLU>(p).function)) + (params_of<Op::GLU>(p).swapped != 0 ? " swapped" : "");
    case Op::ROPE: return std::to_string(params_of<Op::ROPE>(p).mode);
    case Op::MUL_MAT: return set(params_of<Op::MUL_MAT>(p).precision);
    case Op::MUL_MAT_ID: return set(params_of<Op::MUL_MAT_ID>(p).precision);
    case Op::SOFT_MAX: return set(params_of<Op::SOFT_MAX>(p).max_bias);
    case Op::FLASH_ATTN_EXT: {
        const auto f = params_of<Op::FLASH_ATTN_EXT>(p);
        return std::string(set(f.max_bias)) + set(f.logit_cap) + set(f.precision);
    }
    case Op::CONCAT: return std::to_string(params_of<Op::CONCAT>(p).dim);
    case Op::IM2COL: return std::to_string(params_of<Op::IM2COL>(p).is_2d);
    case Op::POOL_2D: return std::to_string(ordinal(params_of<Op::POOL_2D>(p).kind));
    case Op::ARGSORT: return std::to_string(params_of<Op::ARGSORT>(p).descending);
    default: return "";
    }
}

/// The dimensions in the order in which they lie in memory, then whether elements and rows lie close.
std::string layout_of(const TensorInfo& t) {
    if (!t.ne || !t.nb) {
        return "?";
    }
    std::array<size_t, max_dims> order{};
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return (*t.nb)[a] < (*t.nb)[b]; });
    std::string text;
    for (const size_t d : order) {
        text += static_cast<char>('0' + d);
    }
    // Of a whole tensor the farthest element is the last of as many as there are; extents of 1 make no gap.
    int64_t n_elements = 1;
    for (const int64_t n : *t.ne) {
        n_elements *= std::max<int64_t>(n, 1);
    }
    Shape whole = *t.ne;
    for (size_t d = 0; d < order.size(); ++d) {
        whole[d] = (*t.ne)[order[d]];
    }
    const bool row_first = order[0] == 0;
    const bool close = t.type && t.foreign == nullptr && row_first && n_elements > 0
                           ? n_bytes(t) == n_bytes(*t.type, whole, contiguous_strides(*t.type, whole))
                           : t.type && t.foreign == nullptr && !row_first && n_bytes(t) == n_elements * t.nb->at(order[0]);
    return text + (close ? "" : " gaps");
}

} // namespace

OpForm::OpForm(const OpQuestion& question) {
    const TensorInfo& node = *question.node;
    const std::string_view op = op_name(node);
    put(exact, op);
    put(form, op);
    put(form, kind_of(node));
    if (moves_no_data(node)) {
        operation = op;
    } else if (node.params) {
        put_bytes(exact, with_precision_as_now(node.op, *node.params));
    }
    const auto add = [&](size_t slot, const TensorInfo& t) {
        const auto place = static_cast<char>('0' + slot);
        for (std::string* text : {&exact, &form}) {
            *text += place;
            put(*text, type_name(t));
        }
        put_bytes(exact, t.ne.value_or(Shape{}));
        put_bytes(exact, t.nb.value_or(Strides{}));
        put(form, layout_of(t));
        for (const int64_t n : t.ne.value_or(Shape{1, 1, 1, 1})) {
            sizes.push_back(std::log2(static_cast<float>(std::max<int64_t>(n, 1))));
        }
    };
    add(0, node);
    for (size_t s = 0; s < question.src.size(); ++s) {
        if (question.src[s] != nullptr) {
            add(s + 1, *question.src[s]);
        }
    }
}

float distance(const OpForm& a, const OpForm& b) {
    float sum = 0;
    for (size_t i = 0; i < std::min(a.sizes.size(), b.sizes.size()); ++i) {
        sum += std::abs(a.sizes[i] - b.sizes[i]);
    }
    return sum;
}

std::string words_of(const OpQuestion& question) {
    std::string text(op_description(*question.node));
    const char* between = " of ";
    for (const TensorInfo* source : question.src) {
        if (source != nullptr) {
            text += between;
            text += type_name(*source);
            between = ", ";
        }
    }
    return text;
}

} // namespace schedscope
