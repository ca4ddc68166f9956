#include "runtime/backend/cpu/kernels/rounded_columns.h"

#include "runtime/backend/buffer.h"

#include <algorithm>

namespace schedscope::cpu {

namespace {

constexpr int64_t bf16_unit = 32; ///< a line of the cache

/// Numbers from the begin of a column to that of the next.
int64_t stride_of(const Rounding& rounding, int64_t k) noexcept {
    const int64_t unit = rounding.to_bf16 ? bf16_unit : Int8Columns::unit;
    return (k + unit - 1) / unit * unit;
}
int64_t groups_of(const Rounding& rounding, int64_t stride) noexcept {
    return rounding.to_bf16 ? 0 : stride / Int8Columns::group;
}

} // namespace

RoundedColumns::RoundedColumns(const Rounding& rounding, float* room, int64_t k, int64_t n) noexcept
    : rounding_(rounding), k_(k), stride_(stride_of(rounding, k)), groups_(groups_of(rounding, stride_)), scales_(room),
      sums_(scales_ + n * groups_), totals_(reinterpret_cast<int32_t*>(sums_ + n * groups_)),
      codes_(reinterpret_cast<int8_t*>(totals_ + n * groups_)), bf16_(reinterpret_cast<uint16_t*>(room)) {}

int64_t RoundedColumns::room_for(const Rounding& rounding, int64_t k, int64_t n) noexcept {
    const int64_t stride = stride_of(rounding, k), in_float = rounding.to_bf16 ? 2 : 4;
    return n * (stride / in_float + 3 * groups_of(rounding, stride));
}

void RoundedColumns::round(const VectorOps& vector, const float* data, int64_t stride, int64_t first, int64_t end) const {
    if (rounding_.to_bf16) {
        for (int64_t j = first; j < end; ++j) {
            vector.bf16.round(data + j * stride, k_, bf16_ + j * stride_);
        }
        return;
    }
    const int64_t used = k_ / Int8Columns::group, together = rounding_.scaled / Int8Columns::group;
    for (int64_t j = first; j < end; ++j) {
        float *const scales = scales_ + j * groups_, *const sums = sums_ + j * groups_;
        int32_t* const totals = totals_ + j * groups_;
        vector.quantise(data + j * stride, k_, rounding_.lifts, codes_ + j * stride_, scales, sums, totals);
        std::fill(scales + used, scales + groups_, 0.0F);
        std::fill(sums + used, sums + groups_, 0.0F);
        for (int64_t s = 0; together > 0 && s < k_ / rounding_.scaled; ++s) {
            const int64_t group = s * together;
            int32_t total = totals[group];
            if (together == 2) {
                total += totals[group + 1];
                sums[group] += sums[group + 1];
            }
            totals[s] = -rounding_.taken_off * total;
        }
    }
}

void RoundedColumns::copy(const Rounded& column, int64_t to) const {
    if (rounding_.to_bf16) {
        std::copy_n(column.bf16.numbers, k_, bf16_ + to * stride_);
        return;
    }
    std::copy_n(column.int8.codes, stride_, codes_ + to * stride_);
    std::copy_n(column.int8.scales, groups_, scales_ + to * groups_);
    std::copy_n(column.int8.sums, groups_, sums_ + to * groups_);
    if (rounding_.scaled > 0) {
        std::copy_n(column.int8.begins, k_ / rounding_.scaled, totals_ + to * groups_);
    }
}

Rounded RoundedColumns::columns() const noexcept {
    if (rounding_.to_bf16) {
        return {{}, {bf16_, stride_}};
    }
    return {{codes_, stride_, scales_, sums_, groups_, rounding_.scaled > 0 ? totals_ : nullptr}, {}};
}

RoundedColumns SharedColumns::make(const Tensor& b, const Rounding& rounding) {
    of_ = nullptr; // the room may be refused
    const auto room = static_cast<size_t>(RoundedColumns::room_for(rounding, b.ne[0], n_rows(b)));
    if (room_.size() < room) {
        room_.resize(room);
    }
    const RoundedColumns rounded(rounding, room_.data(), b.ne[0], n_rows(b));
    of_ = &b;
    rounding_ = rounding;
    columns_ = rounded.columns();
    return rounded;
}

void SharedColumns::written(const Tensor& node) noexcept {
    if (of_ == nullptr || host_data(node) == nullptr) {
        return;
    }
    const std::byte *const first = host_data(*of_), *const begin = host_data(node);
    if (begin < first + n_bytes(*of_) && first < begin + n_bytes(node)) {
        of_ = nullptr;
    }
}

} // namespace schedscope::cpu
