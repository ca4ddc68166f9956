#pragma once

#include "runtime/gguf/parser.h"

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope::gguf {

/// The names of a split model's files: PREFIX-00001-of-0000N.gguf, counted from 1.
class SplitName {
public:
    /// `path` holds part `number` (from 0) of `count`. Throws Error(input) when it is not the first, or not named like it.
    SplitName(const std::string& path, uint32_t number, uint32_t count);

    std::string of_part(uint32_t number) const;

private:
    std::string prefix_;
    uint32_t count_;
};

/// The files that a path stands for by its name alone: all of the split model when it is named as a part of one, else itself.
std::vector<std::string> parts_by_name(const std::string& path);

/// Throws Error(input) unless the file says that it is this part (from 0) of a model.
void check_part(const ParsedFile& parsed, int part, const std::string& path);

} // namespace schedscope::gguf
