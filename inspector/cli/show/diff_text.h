#pragma once

#include "traces/diff/diff.h"

#include <iosfwd>

namespace schedscope {

struct DiffText {
    bool all = false;   ///< a line for each difference and setting; else alike ones are folded
    bool times = false; ///< and how long all took
};

/// For people: what the two are and which settings differ, how much of everything before and after, then the differences by
/// evaluation and kind.
void print_diff(const diff::Result& result, const History& a, const History& b, const DiffText& how, std::ostream& out);

/// The last part of it: a line for each difference (`all`), or for alike ones.
void print_differences(const diff::Result& result, const History& a, const History& b, bool all, std::ostream& out);

} // namespace schedscope
