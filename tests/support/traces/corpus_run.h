#pragma once

#include "runtime/planner/recorder.h"
#include "tests/corpus/corpus_case.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::test {

/// The session of a corpus case: its backends with their buffer types and what they can use.
SessionInfo session_of(const corpus::Case& c);

/// Records all rounds of a case as a scheduler would, each as one evaluation; as far as the first that can't be planned.
void record_case(const corpus::Case& c, Recorder& recorder);

enum class CorpusPart : uint8_t { whole, sample };

/// Calls `f` for the cases of the corpus, `every`th of each file; where the whole corpus isn't here, and for a sanitizer, for
/// each case of the sample that comes with the sources.
CorpusPart for_each_corpus_case(int every, const std::function<void(const corpus::Case&)>& f);
/// The first case of that corpus of which `is_wanted` says yes.
std::optional<corpus::Case> find_corpus_case(const std::function<bool(const corpus::Case&)>& is_wanted);

} // namespace schedscope::test
