#pragma once

#include "runtime/text/tokenizer.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::test {

/// What the reference tokenizer made of one text.
struct TokenRecord {
    std::string text;
    bool add_special = false;
    bool parse_special = false;
    std::optional<std::vector<Token>> ids; ///< nothing: the reference refuses the text
    std::string detok;                     ///< special tokens written out
    std::string detok_removed;             ///< BOS and EOS removed, other special tokens left out
    std::string pieces;                    ///< of all tokens, one behind the other
};

/// A file of the shared tokenizer folder.
std::filesystem::path tokenizer_file(const std::string& name);
std::string unpacked(const std::filesystem::path& gz); ///< its bytes
std::vector<TokenRecord> read_records(const std::filesystem::path& gz);

} // namespace schedscope::test
