#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::test {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// What a program said by itself, and what a recording of it holds.
struct Reproduced {
    int64_t plans = 0, placed = 0, reused = 0; ///< placed: with their memory; reused: evaluations by a plan that ran before
    std::set<int64_t> schedulers, stages, n_stages;
    std::set<std::string> kinds, libraries, backends;
    std::string said; ///< by the program, the same both times
};

/// Runs a program by itself and recorded, and expects that it says the same and ends the same; that every plan was made again as
/// ggml made it, each decision of it; and where tensors lie in each plan that ran. `trace` is left there.
Reproduced expect_reproduced(const std::vector<std::string>& command, const std::string& trace, const Variables& variables = {});

/// The libraries of ggml of one build, which a program of ours opens. Vulkan: those of the Vulkan build.
std::vector<std::string> ggml_libraries(const std::string& folder, bool vulkan);

} // namespace schedscope::test
