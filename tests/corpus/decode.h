#pragma once

#include "tests/corpus/corpus_case.h"

#include <string_view>

namespace schedscope::corpus {

/// One line of a corpus file (schema 1). Throws Error(input) with what is wrong: bad JSON, a missing key, an id out of range.
Case decode_case(std::string_view line);

} // namespace schedscope::corpus
