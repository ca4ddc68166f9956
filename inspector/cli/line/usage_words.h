#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace schedscope {

/// What is wrong with a command line, as one line in the words of the rest of the program: options as they were typed, a wrong
/// value with what is wanted instead, and where the help is. CLI11's own texts run over several lines, and know options by their
/// first long names.
std::string usage_words(const CLI::App& program, const std::vector<std::string>& arguments, const CLI::ParseError& error);

} // namespace schedscope
