#pragma once

#include "runtime/gguf/gguf.h"

namespace schedscope::gguf {

/// What one file says, checked: every view lies inside `bytes`.
struct ParsedFile {
    uint32_t version = 0;
    size_t alignment = 0;
    std::vector<MetadataEntry> entries;
    std::vector<FileTensor> tensors;
};

/// Throws Error(input) "PATH: why". Memory in proportion to what was really found, never to what is claimed.
ParsedFile parse(std::span<const std::byte> bytes, const std::string& path);

} // namespace schedscope::gguf
