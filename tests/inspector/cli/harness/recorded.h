#pragma once

#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace schedscope::test {

/// A prompt of n token ids, the first of them BOS, for `--tokens`: the beginning of the known text.
std::string prompt_ids(size_t n);

/// A trace of model() in a folder of its own.
class Recorded {
public:
    /// `record -m MODEL --tokens … -n 3 --temp 0` with more arguments.
    explicit Recorded(const std::vector<std::string>& arguments, size_t n_prompt = 40);

    const std::string& path() const noexcept { return path_; }
    const Folder& folder() const noexcept { return folder_; }
    const Outcome& outcome() const noexcept { return outcome_; } ///< of the recording

    /// `COMMAND TRACE …`
    Outcome read(const std::string& command, const std::vector<std::string>& arguments = {}, const Start& start = {}) const;
    /// The same with --json, parsed; null when the program failed.
    nlohmann::json json(const std::string& command, const std::vector<std::string>& arguments = {},
                        const Start& start = {}) const;

private:
    Folder folder_;
    std::string path_;
    Outcome outcome_;
};

} // namespace schedscope::test
