#pragma once

#include "runtime/tensor/tensor.h"

namespace schedscope {

// clang-format off
/// The normalised mean square error up to which two correct backends may differ at a node, given the same inputs. By what rounds
/// on the way:
///
///     whole numbers                     0      ids and counts have no error
///     products with quantised weights   5e-4   one backend rounds the other factor to 8 bits, the other may not: steps of 1/127
///                                              of a block's largest, squared, over the blocks of a row
///     products with 16-bit weights,     5e-4   factors and sums may be 16-bit floats (F16 has 11 bits, BF16 8), as on devices'
///     attention in one operator                matrix units; ggml's own tests allow the same
///     products with either where both   1e-7   as any other: weights are expanded to F32 (--cpu-products float)
///     backends multiply floats
///     a quantised result                1e-4   a sum that lies between two steps may be rounded to either: a quarter of a step's
///                                              square
///     a BF16 result                     1e-5   8 bits: (2⁻⁹)² is 4e-6
///     any other                         1e-7   float sums in another order: 2⁻²⁴ for each of some thousand terms; approximations
///                                              of exp, sin, … with 2⁻¹⁸ or better; (2⁻¹²)² is 6e-8, and so is an F16 result
///
/// A wrong kernel is beyond all of them by orders of magnitude: one wrong element of a thousand is an error of about 1e-3.
// clang-format on
double tolerance(const Tensor& node, bool in_floats) noexcept;

} // namespace schedscope
