#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// Neighbours of a list of tensors of which the same is said.
struct NameRun {
    size_t first = 0, n = 0;
};
/// goes_on(first of the run, i): the same is said of both.
std::vector<NameRun> runs_of(size_t n, const std::function<bool(size_t first, size_t i)>& goes_on);

/// Runs that are told together: they are alike but for the number of their layer.
struct FoldedRuns {
    std::string name;            ///< "attn_norm-0 … l_out-0, and 3 more alike"
    size_t run = 0;              ///< the first of them: its index
    std::vector<size_t> members; ///< of the list, in order
};
/// In order of the first run of each. said: [runs] what is said of each: those of which something else is said stay apart.
std::vector<FoldedRuns> fold_runs(const std::vector<NameRun>& runs, const std::function<std::string_view(size_t)>& name,
                                  const std::vector<std::string>& said);

} // namespace schedscope
