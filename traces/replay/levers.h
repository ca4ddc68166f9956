#pragma once

#include "traces/store/record_source.h"

#include <string>
#include <vector>

namespace schedscope {

/// A change of settings that puts a tensor on another backend.
struct Lever {
    std::string setting; ///< as `replay --set` takes it: "ngl=5"; empty: no setting of ours says it
    std::string words;   ///< as a run's options say it: "-ngl 5 or more"
    std::string backend; ///< where the tensor is then
};

/// What would put a tensor on another backend: of each kind of setting the smallest change that does, each tried by itself by
/// planning the evaluation again. The evaluation is one that was planned. Empty: none of those that can be tried here does, or
/// the trace does not hold what planning takes.
std::vector<Lever> levers_of(const RecordSource& source, EvaluationId evaluation, TensorId tensor);

/// "on Vulkan0 with -ngl 5 or more, or --offload-min-batch 1", one line for each backend.
std::vector<std::string> levers_in_words(const std::vector<Lever>& levers);

} // namespace schedscope
