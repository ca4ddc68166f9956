#pragma once

#include "runtime/text/vocabulary.h"

#include <string_view>
#include <vector>

namespace schedscope {

/// A stretch of plain text, or one special token.
struct Fragment {
    std::string_view text; ///< empty for a token
    Token token = no_token;
};

/// Finds a vocabulary's special tokens in text. The longest are looked for first, in the whole text; shorter ones then in what is
/// left.
class SpecialTokens {
public:
    explicit SpecialTokens(const Vocabulary& vocabulary);

    /// Stretches and tokens in the text's order; no stretch is empty. Control and unknown tokens only with `parse_control`.
    std::vector<Fragment> split(std::string_view text, bool parse_control) const;

private:
    struct Node { ///< of a tree over the bytes of all special texts; siblings are chained
        int32_t first_child = -1;
        int32_t next_sibling = -1;
        Token token = no_token;
        char byte = 0;
    };
    int32_t child(int32_t node, char byte) const noexcept;
    void insert(Token token);
    std::vector<Token> present(std::string_view text, bool parse_control) const;

    const Vocabulary& vocabulary_;
    std::vector<Node> tree_;
    std::vector<int32_t> roots_; ///< by first byte
};

} // namespace schedscope
