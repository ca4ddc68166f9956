#include "tests/inspector/cli/harness/offers.h"

#include "tests/inspector/cli/harness/files.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace schedscope::test {

std::vector<std::string> commands() {
    const std::string help = run({"--help"}).out;
    std::vector<std::string> names;
    for (const std::string& line : lines_of(help.substr(help.find("Subcommands:")))) {
        std::smatch found;
        if (std::regex_search(line, found, std::regex("^  ([a-z-]+) "))) {
            names.push_back(found[1]);
        }
    }
    return names;
}

std::vector<std::string> candidates(std::vector<std::string> words, const Start& start) {
    words.insert(words.begin(), "--complete");
    const Outcome outcome = run(words, start);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> found;
    for (const std::string& line : lines_of(outcome.out)) {
        found.push_back(line.substr(0, line.find('\t')));
    }
    return found;
}

std::set<std::string> options_in(const std::string& help) {
    std::set<std::string> names;
    for (const std::string& line : lines_of(help)) {
        std::smatch found;
        if (std::regex_search(line, found, std::regex("^  (-[^ ]+)"))) {
            std::stringstream list(found[1]);
            for (std::string name; std::getline(list, name, ',');) {
                names.insert(name);
            }
        }
    }
    return names;
}

std::vector<std::string> topics() {
    std::vector<std::string> names = candidates({"show", "any.trace", "--what", ""});
    std::erase(names, "differences");
    EXPECT_FALSE(names.empty());
    return names;
}

} // namespace schedscope::test
