#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace schedscope {

/// How the models of one family cut text into words before merging (key `tokenizer.ggml.pre`), and what else goes with the name.
struct PreTokenizerRule {
    std::span<const std::string_view> names;
    /// Applied one after the other, each to the pieces of the one before: matches and what lies between them are the new pieces.
    std::span<const std::string_view> patterns;
    bool whole_words = false;  ///< a word that is a token is not merged
    bool add_bos = false;      ///< unless the file says otherwise
    bool cleans_spaces = true; ///< decoded text loses spaces before punctuation
    bool no_default_bos = false;
};

/// Null for an unknown name. "" is "default".
const PreTokenizerRule* find_pre_tokenizer(std::string_view name) noexcept;

/// Splits text by a rule. Any thread may use it.
class PreTokenizer {
public:
    explicit PreTokenizer(const PreTokenizerRule& rule);
    PreTokenizer(const PreTokenizer&) = delete;
    PreTokenizer& operator=(const PreTokenizer&) = delete;
    ~PreTokenizer();

    /// The words, in order; together they are the text.
    std::vector<std::u32string_view> split(std::u32string_view text) const;

private:
    class Pattern;
    std::vector<std::unique_ptr<Pattern>> patterns_;
};

} // namespace schedscope
