#include "runtime/backend/cpu/kernels/rounded_columns.h"

#include "runtime/backend/buffer.h"

#include <algorithm>

namespace schedscope::cpu {

namespace {

int64_t stride_of(int64_t k) noexcept { return (k + Int8Columns::unit - 1) / Int8Columns::unit * Int8Columns::unit; }

} // namespace

RoundedColumns::RoundedColumns(const Rounding& rounding, float* room, int64_t k, int64_t n) noexcept
    : rounding_(rounding), k_(k), stride_(stride_of(k)), groups_(stride_ / Int8Columns::group), scales_(room),
      sums_(scales_ + n * groups_), totals_(reinterpret_cast<int32_t*>(sums_ + n * groups_)),
      codes_(reinterpret_cast<int8_t*>(totals_ + n * groups_)) {}

int64_t RoundedColumns::room_for(int64_t k, int64_t n) noexcept {
    const int64_t stride = stride_of(k);
    return n * (stride / static_cast<int64_t>(sizeof(float)) + 3 * stride / Int8Columns::group);
}

void RoundedColumns::round(const VectorOps& vector, const float* data, int64_t stride, int64_t first, int64_t end) const {
    const int64_t used = k_ / Int8Columns::group, together = rounding_.scaled / Int8Columns::group;
    for (int64_t j = first; j < end; ++j) {
        float *const scales = scales_ + j * groups_, *const sums = sums_ + j * groups_;
        int32_t* const totals = totals_ + j * groups_;
        vector.quantise(data + j * stride, k_, rounding_.lifts, codes_ + j * stride_, scales, sums, totals);
        std::fill(scales + used, scales + groups_, 0.0F);
        std::fill(sums + used, sums + groups_, 0.0F);
        for (int64_t s = 0; together > 0 && s < k_ / rounding_.scaled; ++s) {
            const int32_t total = totals[s * together] + (together == 2 ? totals[s * together + 1] : 0);
            totals[s] = -rounding_.taken_off * total;
        }
    }
}

void RoundedColumns::copy(const Int8Columns& column, int64_t to) const {
    std::copy_n(column.codes, stride_, codes_ + to * stride_);
    std::copy_n(column.scales, groups_, scales_ + to * groups_);
    std::copy_n(column.sums, groups_, sums_ + to * groups_);
}

Int8Columns RoundedColumns::columns() const noexcept {
    return {codes_, stride_, scales_, sums_, groups_, rounding_.scaled > 0 ? totals_ : nullptr};
}

RoundedColumns SharedColumns::make(const Tensor& b, const Rounding& rounding) {
    of_ = nullptr; // the room may be refused
    const auto room = static_cast<size_t>(RoundedColumns::room_for(b.ne[0], n_rows(b)));
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
