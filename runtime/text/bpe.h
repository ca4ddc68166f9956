#pragma once

#include "runtime/text/pre_tokenizer.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/vocabulary.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace schedscope {

/// Byte-level BPE vocabularies with ranked merges ("gpt2"): text is cut into words, a word into bytes, and neighbours are merged
/// in the order of the merges' ranks, the leftmost first among equals.
class BpeTokenizer final : public Tokenizer {
public:
    explicit BpeTokenizer(const gguf::File& file);

protected:
    void encode_text(std::string_view text, bool after_special, std::vector<Token>& out) const override;
    std::string text_of(Token token) const override;
    bool cleans_spaces() const noexcept override { return rule_.cleans_spaces; }

private:
    /// A piece of a word that merges know, or −1: they don't.
    using Piece = int32_t;
    struct Merge {
        int32_t rank;
        Piece joined;
    };
    class Word;

    BpeTokenizer(const gguf::File& file, const PreTokenizerRule& rule);
    void load_merges(const gguf::File& file);
    Piece piece_of(std::string_view text);
    void append_piece(std::string_view stored, std::vector<Token>& out) const;
    void encode_word(std::string_view bytes, Word& word, std::vector<Token>& out) const;

    const PreTokenizerRule& rule_;
    PreTokenizer splitter_;
    std::unordered_map<std::string, Piece> pieces_; ///< by stored text
    std::unordered_map<uint64_t, Merge> merges_;    ///< by the two pieces
    std::array<Piece, 256> bytes_;
    std::vector<std::vector<Token>> tokens_of_piece_;
    std::array<std::vector<Token>, 256> tokens_of_byte_;
};

} // namespace schedscope
