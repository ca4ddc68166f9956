#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

namespace gguf {
class File;
}

using Token = int32_t; ///< 0 … n_tokens − 1
constexpr Token no_token = -1;

class Vocabulary;
class SpecialTokens;

/// Text to token ids and back, as llama.cpp does it for the same file. Immutable after loading: any thread may use it.
class Tokenizer {
public:
    virtual ~Tokenizer();

    /// By `tokenizer.ggml.model`: "llama" (SPM), "gpt2" (byte-level BPE). Throws Error(input) naming file and key when the
    /// vocabulary is missing, damaged or of another kind.
    static std::unique_ptr<Tokenizer> load(const gguf::File& file);

    /// Any bytes; what is no UTF-8 becomes byte tokens (SPM) or U+FFFD (BPE).
    /// add_special: put BOS in front and EOS behind where the model wants them. parse_special: control tokens written out in the
    /// text ("</s>") become their ids; user-defined tokens do so always.
    std::vector<Token> encode(std::string_view text, bool add_special, bool parse_special) const;

    /// Text of the tokens together: pieces joined, without the space that the tokenizer itself puts before the first word. A BOS
    /// in front and an EOS behind are left out with `remove_special` where the model adds them; control tokens are empty unless
    /// `unparse_special`. May end within a UTF-8 character.
    std::string decode(std::span<const Token> tokens, bool remove_special = false, bool unparse_special = false) const;

    /// Bytes of one token as it appears inside a text, its leading space included. Empty for control tokens unless `special`.
    /// Error(usage) for an id that does not exist.
    std::string piece(Token token, bool special = false) const;

    const Vocabulary& vocabulary() const noexcept { return *vocabulary_; }
    int32_t n_tokens() const noexcept;
    Token bos() const noexcept; ///< no_token when the model has none; so the next ones
    Token eos() const noexcept;
    Token unk() const noexcept;
    bool is_eog(Token token) const noexcept; ///< ends a generation: EOS, end of turn, end of message
    bool is_control(Token token) const noexcept;

protected:
    explicit Tokenizer(std::unique_ptr<Vocabulary> vocabulary);

    /// Appends the tokens of a stretch of text that holds no special token. `after_special`: it begins the text or follows a
    /// special token.
    virtual void encode_text(std::string_view text, bool after_special, std::vector<Token>& out) const = 0;
    /// Bytes that a token of any kind stands for.
    virtual std::string text_of(Token token) const = 0;
    /// Whether decoded text is tidied up as some models' Python code does it: no space before punctuation.
    virtual bool cleans_spaces() const noexcept { return false; }

private:
    std::unique_ptr<Vocabulary> vocabulary_;
    std::unique_ptr<SpecialTokens> special_;
};

} // namespace schedscope
