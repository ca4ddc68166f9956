#pragma once

#include "tests/support/paths.h"

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace schedscope::test {

/// A line of tests/data/queries.txt.
struct QueryCase {
    std::string query;
    int number = 0;   ///< tensors: how many match; records: the step of the first that does; −1: none does
    std::string what; ///< tensors: the name of the first; records: its kind; mistakes: what is said
};

/// Those of a section: "tensors", "records", "mistakes". Throws std::runtime_error when there are none.
inline std::vector<QueryCase> query_cases(const std::string& section) {
    std::ifstream file(paths::source("tests/data/queries.txt"));
    std::vector<QueryCase> cases;
    bool here = false;
    for (std::string line; std::getline(file, line);) {
        const size_t tab = line.find('\t');
        if (line.starts_with('[')) {
            here = line == "[" + section + "]";
        } else if (here && tab != std::string::npos) {
            QueryCase found{line.substr(0, tab), 0, line.substr(tab + 1)};
            if (section != "mistakes") {
                const size_t space = found.what.find(' ');
                found.number = std::stoi(found.what);
                found.what = space == std::string::npos ? "" : found.what.substr(space + 1);
            }
            cases.push_back(std::move(found));
        }
    }
    if (cases.empty()) {
        throw std::runtime_error("tests/data/queries.txt has no " + section);
    }
    return cases;
}

} // namespace schedscope::test
