#pragma once

#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <vector>

/// Columns of a product rounded to 8 bits.
namespace schedscope::cpu {

/// What the kernels that multiply with them read.
struct Rounding {
    bool lifts = false;            ///< see VectorOps::quantise
    int taken_off = 0, scaled = 0; ///< of Int8Columns::begins; scaled = 0: there are none
    bool operator==(const Rounding&) const = default;
};

/// n columns of k numbers, which lie in `room`, for which there are `room_for` floats.
class RoundedColumns {
public:
    RoundedColumns(const Rounding& rounding, float* room, int64_t k, int64_t n) noexcept;
    static int64_t room_for(int64_t k, int64_t n) noexcept; ///< floats

    /// Rounds columns [first, end) of floats `stride` apart.
    void round(const VectorOps& vector, const float* data, int64_t stride, int64_t first, int64_t end) const;
    void copy(const Int8Columns& column, int64_t to) const; ///< one that was rounded so before; without `begins`
    Int8Columns columns() const noexcept;

private:
    Rounding rounding_;
    int64_t k_, stride_, groups_;
    float *scales_, *sums_;
    int32_t* totals_; ///< or Int8Columns::begins in their place
    int8_t* codes_;
};

/// The columns of a tensor that all threads have rounded together, for each product that multiplies with it.
class SharedColumns {
public:
    /// Room for those of all rows of `b`. They are there when they have been rounded.
    RoundedColumns make(const Tensor& b, const Rounding& rounding);
    bool has(const Tensor& b, const Rounding& rounding) const noexcept { return of_ == &b && rounding_ == rounding; }
    const Int8Columns& columns() const noexcept { return columns_; }
    /// Are they no longer those of their tensor, now that this one was computed?
    void written(const Tensor& node) noexcept;
    void forget() noexcept { of_ = nullptr; }

private:
    const Tensor* of_ = nullptr; ///< null: nothing is held
    Rounding rounding_;
    Int8Columns columns_;
    std::vector<float> room_;
};

} // namespace schedscope::cpu
