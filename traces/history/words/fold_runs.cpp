#include "traces/history/words/fold_runs.h"

#include "runtime/system/number_words.h"
#include "traces/history/words/fold_names.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace schedscope {

namespace {

/// "Qcur-N", and for what has a number instead of a name, "node_N".
std::string any_of_its_kind(std::string_view name) {
    for (const std::string_view numbered : {"node_", "leaf_"}) {
        if (name.starts_with(numbered)) {
            const size_t behind = std::min(name.find_first_not_of("0123456789", numbered.size()), name.size());
            if (behind > numbered.size()) {
                return std::string(numbered) + "N" + std::string(name.substr(behind));
            }
        }
    }
    const std::string text(name);
    return in_any_layer(text, text);
}

} // namespace

std::vector<NameRun> runs_of(size_t n, const std::function<bool(size_t first, size_t i)>& goes_on) {
    std::vector<NameRun> runs;
    for (size_t i = 0; i < n; ++i) {
        if (runs.empty() || !goes_on(runs.back().first, i)) {
            runs.push_back({i, 0});
        }
        ++runs.back().n;
    }
    return runs;
}

std::vector<FoldedRuns> fold_runs(const std::vector<NameRun>& runs, const std::function<std::string_view(size_t)>& name,
                                  const std::vector<std::string>& said) {
    using Key = std::tuple<std::string, std::string, size_t, std::string>;
    std::map<Key, size_t> place;
    std::vector<FoldedRuns> folded;
    std::vector<int64_t> n_alike; // [folded]
    for (size_t r = 0; r < runs.size(); ++r) {
        const NameRun& run = runs[r];
        const std::string_view first = name(run.first), last = name(run.first + run.n - 1);
        const auto [at, is_new] =
            place.try_emplace(Key{any_of_its_kind(first), any_of_its_kind(last), run.n, said[r]}, folded.size());
        if (is_new) {
            folded.push_back({std::string(first) + (first == last ? "" : " … " + std::string(last)), r, {}});
            n_alike.push_back(0);
        }
        ++n_alike[at->second];
        for (size_t i = 0; i < run.n; ++i) {
            folded[at->second].members.push_back(run.first + i);
        }
    }
    for (size_t i = 0; i < folded.size(); ++i) {
        if (n_alike[i] > 1) {
            folded[i].name += ", " + words::and_more(n_alike[i] - 1) + " alike";
        }
    }
    return folded;
}

} // namespace schedscope
