#pragma once

#include "tests/corpus/corpus_case.h"

#include <string>
#include <vector>

namespace schedscope::corpus {

struct CaseDifference {
    std::string case_name;
    int round = 0;
    std::string what; ///< "splits[3]"
    std::string expected, got;
};

/// "minimal/wgt0, round 0, cause[3]: expected 1.wgt0, got 2.sup"
std::string to_text(const CaseDifference& difference);

/// Runs the case through the planner; every difference in every round, of each list the first one only. Empty: identical.
std::vector<CaseDifference> compare_case(const Case& c);

} // namespace schedscope::corpus
