#pragma once

#include "tests/inspector/cli/harness/program.h"

#include <set>
#include <string>
#include <vector>

/// What the program itself says that there is, so that tests of everything see what is new.
namespace schedscope::test {

/// The commands that the help lists.
std::vector<std::string> commands();

/// What may stand in place of the last word, without its meaning.
std::vector<std::string> candidates(std::vector<std::string> words, const Start& start = {});

/// Every name of an option that a help text lists.
std::set<std::string> options_in(const std::string& help);

/// What `show --what` takes of any run. (Only a verification has differences.)
std::vector<std::string> topics();

} // namespace schedscope::test
