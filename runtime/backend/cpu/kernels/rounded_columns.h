#pragma once

#include "runtime/backend/cpu/vectors/vector_ops.h"
#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <vector>

/// Columns of a product rounded to what they are multiplied as: numbers of 8 bits, or of BF16.
namespace schedscope::cpu {

/// What the kernels that multiply with them read.
struct Rounding {
    bool to_bf16 = false;          ///< else to 8 bits
    bool lifts = false;            ///< see VectorOps::quantise
    int taken_off = 0, scaled = 0; ///< of Int8Columns::begins, and with them of its sums; scaled = 0: no begins
    bool operator==(const Rounding&) const = default;
};

/// Where such columns lie; one of the two is set.
struct Rounded {
    Int8Columns int8;
    Bf16Columns bf16;

    Rounded from(int64_t column) const noexcept { return {int8.from(column), bf16.from(column)}; }
};

/// n columns of k numbers, which lie in `room`, for which there are `room_for` floats.
class RoundedColumns {
public:
    RoundedColumns(const Rounding& rounding, float* room, int64_t k, int64_t n) noexcept;
    static int64_t room_for(const Rounding& rounding, int64_t k, int64_t n) noexcept; ///< floats

    /// Rounds columns [first, end) of floats `stride` apart.
    void round(const VectorOps& vector, const float* data, int64_t stride, int64_t first, int64_t end) const;
    void copy(const Rounded& column, int64_t to) const; ///< one that was rounded so before
    Rounded columns() const noexcept;

private:
    Rounding rounding_;
    int64_t k_, stride_, groups_; ///< of BF16 there are no groups
    float *scales_, *sums_;
    int32_t* totals_; ///< or Int8Columns::begins in their place
    int8_t* codes_;
    uint16_t* bf16_; ///< in place of all that
};

/// The columns of a tensor that all threads have rounded together, for each product that multiplies with it.
class SharedColumns {
public:
    /// Room for those of all rows of `b`. They are there when they have been rounded.
    RoundedColumns make(const Tensor& b, const Rounding& rounding);
    bool has(const Tensor& b, const Rounding& rounding) const noexcept { return of_ == &b && rounding_ == rounding; }
    const Rounded& columns() const noexcept { return columns_; }
    /// Are they no longer those of their tensor, now that this one was computed?
    void written(const Tensor& node) noexcept;
    void forget() noexcept { of_ = nullptr; }

private:
    const Tensor* of_ = nullptr; ///< null: nothing is held
    Rounding rounding_;
    Rounded columns_;
    std::vector<float> room_;
};

} // namespace schedscope::cpu
