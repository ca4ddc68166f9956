#pragma once

#include <string>
#include <vector>

namespace schedscope {

/// A command line for people to read, its words quoted as a shell wants them. Keys, tokens and passwords, which nothing needs,
/// are not in it: "--api-key ***".
std::string masked_command(const std::vector<std::string>& words);

} // namespace schedscope
