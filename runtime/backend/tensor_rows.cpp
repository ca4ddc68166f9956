#include "runtime/backend/tensor_rows.h"

#include "runtime/backend/buffer.h"
#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <cstring>

namespace schedscope {

namespace {

template <typename T> double load(const std::byte* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    return to_double(value);
}

/// One element of a type that is not quantised.
double element(Type type, const std::byte* at) noexcept {
    switch (type) {
    case Type::I8: return load<int8_t>(at);
    case Type::I16: return load<int16_t>(at);
    case Type::I32: return load<int32_t>(at);
    case Type::I64: return load<int64_t>(at);
    case Type::F64: return load<double>(at);
    default: break;
    }
    float value = 0;
    row_to_float(type, at, &value, 1);
    return value;
}

} // namespace

TensorRows::TensorRows(const Tensor& tensor)
    : tensor_(tensor), n_rows_(n_elements(tensor) == 0 ? 0 : schedscope::n_rows(tensor)) {
    if (n_rows_ == 0) {
        return;
    }
    row_.resize(tensor.ne[0]);
    data_ = host_data(tensor);
    if (data_ == nullptr) {
        copied_.resize(n_bytes(tensor));
        tensor_read(tensor, copied_.data(), 0, copied_.size());
        data_ = copied_.data();
    }
}

const std::byte* TensorRows::address(int64_t index) const noexcept {
    size_t offset = 0;
    for (size_t d = 1; d < tensor_.ne.size(); ++d) {
        offset += (index % tensor_.ne[d]) * tensor_.nb[d];
        index /= tensor_.ne[d];
    }
    return data_ + offset;
}

std::span<const double> TensorRows::row(int64_t index) {
    const std::byte* at = address(index);
    const bool side_by_side = tensor_.nb[0] == traits(tensor_.type).bytes;
    if (side_by_side && can_expand(tensor_.type)) {
        floats_.resize(row_.size());
        row_to_float(tensor_.type, at, floats_.data(), tensor_.ne[0]);
        for (size_t i = 0; i < row_.size(); ++i) {
            row_[i] = floats_[i];
        }
        return row_;
    }
    for (size_t i = 0; i < row_.size(); ++i) {
        row_[i] = element(tensor_.type, at + i * tensor_.nb[0]);
    }
    return row_;
}

} // namespace schedscope
