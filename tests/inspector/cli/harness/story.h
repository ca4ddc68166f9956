#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope::testing {

/// What the models' README says that the stories260K model tells, greedily from BOS alone.
struct KnownStory {
    std::string text;         ///< of 200 tokens, without a newline at the end
    std::vector<int32_t> ids; ///< the 200 tokens
};

KnownStory known_story();

/// The beginning of the known text that its first n tokens make, by the model's vocabulary.
std::string known_text(size_t n);

/// Is the device there? Asks `devices --json`.
bool has_device(const std::string& name);

} // namespace schedscope::testing
