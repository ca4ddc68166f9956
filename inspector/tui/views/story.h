#pragma once

#include "inspector/tui/state/inspector_session.h"

#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// One thing that happened to a tensor, as a sentence.
struct StoryPart {
    Step step = no_step;      ///< of its record
    std::optional<Pass> pass; ///< nothing: not known
    std::string text;
    std::vector<std::string> asked = {}; ///< "Vulkan0 runs this operator? yes", one a question
};

/// The story of a tensor (traces/history/explain.h) up to the present step, in order. `n_ahead`: its parts that lie after the
/// present step.
std::vector<StoryPart> story(InspectorSession& session, TensorId id, int& n_ahead);

} // namespace schedscope::tui
