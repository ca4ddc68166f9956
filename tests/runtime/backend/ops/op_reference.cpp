#include "tests/runtime/backend/ops/op_reference.h"

#include "tests/runtime/backend/ops/op_families.h"
#include "tests/support/graphs/row_of_floats.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace schedscope::test {

namespace {

size_t place(const Tensor& t, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
    return t.offset + static_cast<size_t>(i0) * t.nb[0] + static_cast<size_t>(i1) * t.nb[1] + static_cast<size_t>(i2) * t.nb[2] +
           static_cast<size_t>(i3) * t.nb[3];
}

template <typename T> double integer_at(const std::byte* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return static_cast<double>(value);
}
template <typename T> void put_integer(std::byte* p, double value) {
    const auto integer = static_cast<T>(value);
    std::memcpy(p, &integer, sizeof integer);
}

double value_at(Type type, const std::byte* p) {
    switch (type) {
    case Type::I8: return integer_at<int8_t>(p);
    case Type::I16: return integer_at<int16_t>(p);
    case Type::I32: return integer_at<int32_t>(p);
    case Type::I64: return integer_at<int64_t>(p);
    case Type::F64: return integer_at<double>(p);
    default: break;
    }
    float value = 0;
    if (!row_to_float(type, p, &value, 1)) {
        throw std::logic_error("the reference can't read " + std::string(type_name(type)));
    }
    return static_cast<double>(value);
}

void put_value(Type type, std::byte* p, double value) {
    switch (type) {
    case Type::I8: return put_integer<int8_t>(p, value);
    case Type::I16: return put_integer<int16_t>(p, value);
    case Type::I32: return put_integer<int32_t>(p, value);
    case Type::I64: return put_integer<int64_t>(p, value);
    case Type::F64: return put_integer<double>(p, value);
    default: break;
    }
    const auto single = static_cast<float>(value);
    if (!row_from_float(type, &single, p, 1)) {
        throw std::logic_error("the reference can't write " + std::string(type_name(type)));
    }
}

template <typename Row> void each_row(const Shape& ne, Row row) {
    for (int64_t i3 = 0; i3 < ne[3]; ++i3) {
        for (int64_t i2 = 0; i2 < ne[2]; ++i2) {
            for (int64_t i1 = 0; i1 < ne[1]; ++i1) {
                row(i1, i2, i3);
            }
        }
    }
}

/// What can be done with blocks that floats can't be quantised to.
void copy_blocks(const Tensor& from, const Tensor& to, Memory memory) {
    if (from.type != to.type || from.ne != to.ne) {
        throw std::logic_error("the reference can't write " + std::string(type_name(to.type)));
    }
    each_row(to.ne, [&](int64_t i1, int64_t i2, int64_t i3) {
        std::memcpy(memory.data() + place(to, 0, i1, i2, i3), memory.data() + place(from, 0, i1, i2, i3),
                    row_bytes(to.type, to.ne[0]));
    });
}

} // namespace

Elements read_elements(const Tensor& t, std::span<const std::byte> memory) {
    Elements e;
    e.ne = t.ne;
    e.values.reserve(static_cast<size_t>(n_elements(t)));
    std::vector<float> row(static_cast<size_t>(t.ne[0]));
    each_row(t.ne, [&](int64_t i1, int64_t i2, int64_t i3) {
        if (traits(t.type).quantised()) {
            row_to_float(t.type, memory.data() + place(t, 0, i1, i2, i3), row.data(), t.ne[0]);
            e.values.insert(e.values.end(), row.begin(), row.end());
            return;
        }
        for (int64_t i0 = 0; i0 < t.ne[0]; ++i0) {
            e.values.push_back(value_at(t.type, memory.data() + place(t, i0, i1, i2, i3)));
        }
    });
    return e;
}

void write_elements(const Tensor& t, Memory memory, const Elements& e) {
    std::vector<float> row(static_cast<size_t>(t.ne[0]));
    each_row(t.ne, [&](int64_t i1, int64_t i2, int64_t i3) {
        if (traits(t.type).quantised()) {
            for (int64_t i0 = 0; i0 < t.ne[0]; ++i0) {
                row[static_cast<size_t>(i0)] = static_cast<float>(e.at(i0, i1, i2, i3));
            }
            row_of_floats(t.type, row.data(), memory.data() + place(t, 0, i1, i2, i3), t.ne[0]);
            return;
        }
        for (int64_t i0 = 0; i0 < t.ne[0]; ++i0) {
            put_value(t.type, memory.data() + place(t, i0, i1, i2, i3), e.at(i0, i1, i2, i3));
        }
    });
}

void evaluate(const Tensor& node, Memory memory) {
    if (node.op == Op::NONE || is_view_op(node.op)) {
        return;
    }
    if (traits(node.type).quantised() && !can_quantise(node.type)) {
        return copy_blocks(*node.src[0], node, memory);
    }
    Operands o{node, {}, {}};
    for (const Tensor* source : node.src) {
        // A cast names itself as its target: there is nothing to read.
        o.sources.push_back(source != nullptr && source != &node ? read_elements(*source, memory) : Elements{});
    }
    o.result.ne = node.ne;
    o.result.values.assign(static_cast<size_t>(n_elements(node)), 0.0);
    if (std::none_of(std::begin(op_families), std::end(op_families),
                     [&](const OpFamily* family) { return family->evaluate(o); })) {
        throw std::logic_error("the reference has no " + std::string(op_name(node.op)));
    }
    write_elements(node, memory, o.result);
}

} // namespace schedscope::test
