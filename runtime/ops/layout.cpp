#include "runtime/ops/layout.h"

#include "runtime/system/joined.h"

#include <span>

namespace schedscope {

Strides contiguous_strides(Type type, const Shape& ne) noexcept {
    const TypeTraits& t = traits(type);
    Strides nb{};
    nb[0] = t.bytes;
    nb[1] = t.bytes * (ne[0] / t.block);
    nb[2] = nb[1] * ne[1];
    nb[3] = nb[2] * ne[2];
    return nb;
}

size_t n_bytes(Type type, const Shape& ne, const Strides& nb) noexcept {
    const TypeTraits& t = traits(type);
    for (const int64_t n : ne) {
        if (n <= 0) {
            return 0;
        }
    }
    size_t bytes = t.quantised() ? ne[0] * nb[0] / t.block : t.bytes + (ne[0] - 1) * nb[0];
    for (size_t i = 1; i < ne.size(); ++i) {
        bytes += (ne[i] - 1) * nb[i];
    }
    return bytes;
}

std::string shape_text(const Shape& ne) {
    size_t last = ne.size() - 1;
    while (last > 0 && ne[last] == 1) {
        --last;
    }
    return "[" + joined(std::span(ne).first(last + 1), ", ", [](int64_t n) { return std::to_string(n); }) + "]";
}

} // namespace schedscope
