#pragma once

#include "runtime/numbers.h"
#include "runtime/text/tokenizer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedscope {

/// What a token is; several may hold.
enum TokenAttribute : uint8_t {
    token_normal = 1,
    token_unknown = 2,
    token_control = 4,
    token_user_defined = 8,
    token_unused = 16,
    token_byte = 32,
    token_strips_right = 64, ///< swallows the white space behind it
};

/// What a tokenizer puts around a text, and what stands in it for what has no token.
struct TextFrame {
    Token bos = no_token;
    Token eos = no_token;
    Token unk = no_token;
    bool add_bos = false;
    bool add_eos = false;
    bool add_space_prefix = false;
};

/// The tokens of a model and what is known about them (keys `tokenizer.ggml.…`). Immutable after loading; owns its texts.
class Vocabulary {
public:
    /// Throws Error(input) naming file and key when tokens are missing or occur twice, or other lists are shorter. `defaults`:
    /// what holds for the kind of tokenizer where the file does not say it.
    Vocabulary(const gguf::File& file, const TextFrame& defaults);
    Vocabulary(const Vocabulary&) = delete;
    Vocabulary& operator=(const Vocabulary&) = delete;

    int32_t n_tokens() const noexcept { return n_of(texts_); }
    bool exists(Token t) const noexcept { return t >= 0 && t < n_tokens(); }

    // For tokens that exist.
    std::string_view text(Token t) const noexcept { return texts_[t]; } ///< as stored: "▁the", "Ġthe", "<0x0A>"
    float score(Token t) const noexcept { return scores_.empty() ? 0.0F : scores_[t]; }
    uint8_t attributes(Token t) const noexcept { return attributes_[t]; }
    bool has(Token t, unsigned any_of) const noexcept { return (attributes(t) & any_of) != 0; }
    bool ends_generation(Token t) const noexcept { return ends_[t] != 0; }

    /// The token with exactly this stored text; no_token: none.
    Token find(std::string_view text) const noexcept;
    /// The SPM byte token "<0xHH>", else the byte itself as a token; no_token: neither.
    Token byte_token(uint8_t byte) const noexcept { return bytes_[byte]; }

    const TextFrame& frame() const noexcept { return frame_; }

    /// Tokens that are looked for in text before anything else: control, user-defined, unknown; longest first.
    const std::vector<Token>& special_tokens() const noexcept { return special_; }

private:
    void load_texts(const gguf::File& file);
    void load_attributes(const gguf::File& file);
    void find_ends(const gguf::File& file);
    void mark_control(Token t) noexcept;
    bool is_end(Token t) const noexcept;
    void take_end_back(Token t, uint8_t attribute) noexcept;
    void strip_spaces_as_phi3(const gguf::File& file);

    TextFrame frame_;
    std::string storage_; ///< all texts, one behind the other
    std::vector<std::string_view> texts_;
    std::vector<float> scores_;
    std::vector<uint8_t> attributes_;
    std::vector<uint8_t> ends_;
    std::vector<Token> special_;
    std::unordered_map<std::string_view, Token> by_text_;
    Token bytes_[256];
};

} // namespace schedscope
