#pragma once

#include "tests/corpus/compare.h"

#include <filesystem>
#include <vector>

namespace schedscope::corpus {

struct FileResult {
    int n_cases = 0, n_identical = 0;
    std::vector<CaseDifference> differences; ///< at most as many as asked for
};

/// Runs each case of a .jsonl or .jsonl.gz file. Throws Error(input), "FILE: line N: WHY", when it can't be read or is not a
/// corpus.
FileResult compare_file(const std::filesystem::path& file, size_t most_differences);

/// The five files of the corpus in `folder`, in the order of its description. What they hold is what ggml commit d99724f2 (August
/// 2026) decided: who records the corpus again names the new commit here.
std::vector<std::filesystem::path> corpus_files(const std::filesystem::path& folder);

} // namespace schedscope::corpus
