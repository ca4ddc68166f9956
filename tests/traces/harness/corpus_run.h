#pragma once

#include "runtime/planner/recorder.h"
#include "tests/corpus/corpus_case.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::sample {

/// The session of a corpus case: its backends with their buffer types and what they can use.
SessionInfo session_of(const corpus::Case& c);

/// Records all rounds of a case as a scheduler would, each as one evaluation; as far as the first that can't be planned.
void record_case(const corpus::Case& c, Recorder& recorder);

/// Calls `f` for each case of the corpus' files, `every`th of each file; false when the corpus isn't here.
bool for_each_corpus_case(int every, const std::function<void(const corpus::Case&)>& f);

} // namespace schedscope::sample
