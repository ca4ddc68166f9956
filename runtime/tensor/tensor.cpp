#include "runtime/tensor/tensor.h"

namespace schedscope {

bool is_contiguous_above(const Tensor& t, int dim) noexcept {
    // The stride of a dimension of one element never matters.
    const TypeTraits& type = traits(t.type);
    size_t next = type.bytes;
    if (t.ne[0] != type.block && t.nb[0] != next) {
        return false;
    }
    next *= t.ne[0] / type.block;
    for (size_t i = 1; i < t.ne.size(); ++i) {
        if (t.ne[i] == 1) {
            continue;
        }
        if (i > static_cast<size_t>(dim)) {
            if (t.nb[i] != next) {
                return false;
            }
            next *= t.ne[i];
        } else {
            next = t.ne[i] * t.nb[i];
        }
    }
    return true;
}

bool is_contiguous(const Tensor& t) noexcept { return is_contiguous_above(t, 0); }

bool is_transposed(const Tensor& t) noexcept { return t.nb[0] > t.nb[1]; }

bool has_contiguous_rows(const Tensor& t) noexcept { return t.ne[0] == traits(t.type).block || t.nb[0] == traits(t.type).bytes; }

bool same_shape(const Tensor& a, const Tensor& b) noexcept { return a.ne == b.ne; }

bool can_repeat(const Tensor& b, const Tensor& a) noexcept {
    for (size_t i = 0; i < a.ne.size(); ++i) {
        if (b.ne[i] <= 0 || a.ne[i] % b.ne[i] != 0) {
            return false;
        }
    }
    return true;
}

} // namespace schedscope
