#pragma once

#include "traces/replay/plan_change.h"
#include "traces/store/record_source.h"

#include <string>
#include <vector>

namespace schedscope {

/// A change of settings that puts a tensor on another backend.
struct Lever {
    std::vector<std::string> settings;  ///< as `replay --set` takes each: "ngl=5"; empty: no setting of ours says it
    std::string words;                  ///< as a run's options say it: "-ngl 5 or more"
    std::string backend;                ///< where the tensor is then
    int64_t n_moved = 0;                ///< tensors that are elsewhere then, this one among them
    std::vector<MemoryFit> memory = {}; ///< what lies in each backend's memory then, with what plans before it reserved

    std::string misfit() const; ///< "does not fit into big: 11.6 GiB too much"; empty: it fits, as far as is known
};

/// What would put a tensor elsewhere, the change that moves least first.
struct FoundLevers {
    std::vector<Lever> found;
    std::string why_none; ///< where nothing does
    std::string goes_to;  ///< of a plan that is recorded in part: the backend that the tensor comes to; "": there is none
    bool tried = true;    ///< else nothing could be planned again: what would is not known
};

/// What would put a tensor on another backend: of each kind of setting the smallest change that does, each tried by itself by
/// planning the evaluation again; where none does, two of them together. Each number of a range that is told was tried. The
/// evaluation is one that was planned; where its plan is recorded in part, elsewhere is where it does not come to as recorded. At
/// most some hundred plans are made.
FoundLevers levers_of(const RecordSource& source, EvaluationId evaluation, TensorId tensor);

/// "on Vulkan0 with -ngl 5 or more, or --offload-min-batch 1", one line for each backend; or why there is none, in one. Of a plan
/// that is recorded in part, where it leads stands before. Behind a change whose plan does not fit a memory stands by how much.
std::vector<std::string> levers_in_words(const FoundLevers& levers);

} // namespace schedscope
