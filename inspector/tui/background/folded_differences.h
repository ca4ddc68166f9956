#pragma once

#include "inspector/tui/background/comparison.h"

#include <span>
#include <string>
#include <vector>

namespace schedscope::tui {

/// What differs between two traces as rows: neighbours that differ alike are one, with their like in other layers, as in a
/// what-if (traces/replay/folded_changes.h), and so are evaluations with the same rows. a: the first trace.
std::vector<Comparison::Row> folded_differences(const diff::Result& result, const History& a);

/// Rows of one tensor each, in order: neighbours of which the same is said are one, with their like in other layers.
std::vector<Comparison::Row> fold_rows(std::span<const Comparison::Row> rows, const std::vector<std::string>& said);
/// Of why memory was planned again, on each side: what says it in words. Sides without a reason did not plan it again.
void say_planned_again(Comparison::Row& row);

} // namespace schedscope::tui
