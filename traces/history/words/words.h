#pragma once

#include "runtime/planner/records.h"
#include "runtime/system/number_words.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace schedscope::tables {
struct SizeSum;
}

/// What records say in numbers, as people read it.
namespace schedscope::words {

/// Sizes that a log may not tell: "4.0 KiB"; "at least 4.0 KiB" where only some are known; "?" where none is.
std::string bytes(const tables::SizeSum& sum);
/// The same behind what is counted: "3 copies of 4.0 KiB", "… of at least 4.0 KiB", "… of unknown size"; "no copies".
std::string counted_of(int64_t n, std::string_view noun, const tables::SizeSum& sum);
std::string
value(const record::Value& v); ///< "from 0 to 1, mean 0.25, norm 2 of 16 elements"; with its NaN and infinite ones, if any

} // namespace schedscope::words
