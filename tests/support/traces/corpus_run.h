#pragma once

#include "runtime/planner/recorder.h"
#include "tests/corpus/corpus_case.h"

#include <functional>
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
/// Calls `look` with the first case of that corpus that has several splits, of one stage and one round, with memory or without.
void with_corpus_case(bool with_memory, const std::function<void(const corpus::Case&)>& look);

} // namespace schedscope::test
