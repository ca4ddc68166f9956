#pragma once

#include "runtime/ops/layout.h"
#include "runtime/planner/records.h"

#include <cstdint>
#include <string>

/// How a verification is told, in the same words everywhere.
namespace schedscope::words {

/// Where an element lies: "[3, 0, 2]", as many numbers as the shape has dimensions; the plain number where the shape is not
/// known.
std::string place(int64_t element, const Shape& ne);
/// As many digits as tell any two 32-bit floats apart: "0.100000001".
std::string exact(double value);

/// Three digits that matter, for lists: "6.27e-15".
std::string rough(double value);

/// The names behind a record's numbers.
struct DifferenceNames {
    std::string device, backend, why;
};
/// "Vulkan0 agrees with CPU: NMSE 2.1e-13 of at most 1e-07; 4.8e-07 apart at most, at [3, 5]: 0.100000001 instead of
/// 0.100000478".
std::string difference(const record::Difference& d, const DifferenceNames& names, const Shape& ne);
/// What came of it, in a word or two: "beyond", "within", "equal", "skipped".
const char* verdict(const record::Difference& d) noexcept;

} // namespace schedscope::words
