#include "runtime/text/bpe.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/numbers.h"
#include "runtime/system/utf8.h"
#include "runtime/system/visible_text.h"
#include "runtime/text/byte_level.h"

#include <algorithm>

namespace schedscope {

namespace {

constexpr Token gpt2_end_of_text = 11; ///< what llama.cpp takes when a file names neither BOS nor EOS

const PreTokenizerRule& rule_of(const gguf::File& file) {
    const std::string_view name = file.get_string("tokenizer.ggml.pre").value_or("");
    const PreTokenizerRule* rule = find_pre_tokenizer(name);
    if (rule == nullptr) {
        throw Error(ErrorKind::input,
                    file.path() + ": pre-tokenizer '" + visible_name(name) + "' (key tokenizer.ggml.pre) is not supported");
    }
    return *rule;
}

uint64_t pair_key(int32_t left, int32_t right) noexcept {
    return static_cast<uint64_t>(left) << 32U | static_cast<uint32_t>(right);
}

} // namespace

/// One word on its way to tokens. Keeps its memory from word to word.
class BpeTokenizer::Word {
public:
    explicit Word(const BpeTokenizer& bpe) : bpe_(bpe) {}

    void encode(std::string_view bytes, std::vector<Token>& out) {
        symbols_.clear();
        const auto n = n_of(bytes);
        for (int32_t i = 0; i < n; ++i) {
            const uint8_t byte = bytes[i];
            symbols_.push_back({bpe_.bytes_[byte], 1, i - 1, i + 1 < n ? i + 1 : -1});
        }
        for (int32_t i = 1; i < n; ++i) {
            consider(i - 1, i);
        }
        while (!queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            const MergeCandidate best = queue_.back();
            queue_.pop_back();
            merge(best);
        }
        for (int32_t i = n > 0 ? 0 : -1; i >= 0; i = at(i).next) {
            const Piece piece = at(i).piece;
            const auto& tokens = piece >= 0 ? bpe_.tokens_of_piece_[piece] : bpe_.tokens_of_byte_[static_cast<uint8_t>(bytes[i])];
            out.insert(out.end(), tokens.begin(), tokens.end());
        }
    }

    std::string stored; ///< the word as vocabularies store it

private:
    struct Symbol {
        Piece piece;
        int32_t size; ///< in bytes; 0: merged into another
        int32_t previous;
        int32_t next;
    };
    struct MergeCandidate {
        Merge merge;
        int32_t left;
        int32_t right;
        int32_t size; ///< of both when it was found; a symbol that has changed since makes it void
        bool operator<(const MergeCandidate& other) const noexcept {
            return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : left > other.left;
        }
    };

    Symbol& at(int32_t i) noexcept { return symbols_[i]; }

    void consider(int32_t left, int32_t right) {
        if (left < 0 || right < 0 || at(left).piece < 0 || at(right).piece < 0) {
            return;
        }
        const auto found = bpe_.merges_.find(pair_key(at(left).piece, at(right).piece));
        if (found != bpe_.merges_.end()) {
            queue_.push_back({found->second, left, right, at(left).size + at(right).size});
            std::push_heap(queue_.begin(), queue_.end());
        }
    }

    void merge(const MergeCandidate& c) {
        Symbol& left = at(c.left);
        Symbol& right = at(c.right);
        if (left.size == 0 || right.size == 0 || left.size + right.size != c.size) {
            return;
        }
        left.piece = c.merge.joined;
        left.size += right.size;
        right.size = 0;
        left.next = right.next;
        if (right.next >= 0) {
            at(right.next).previous = c.left;
        }
        consider(left.previous, c.left);
        consider(c.left, left.next);
    }

    const BpeTokenizer& bpe_;
    std::vector<Symbol> symbols_;
    std::vector<MergeCandidate> queue_; ///< a heap, the best in front
};

BpeTokenizer::BpeTokenizer(const gguf::File& file) : BpeTokenizer(file, rule_of(file)) {}

BpeTokenizer::BpeTokenizer(const gguf::File& file, const PreTokenizerRule& rule)
    : Tokenizer(std::make_unique<Vocabulary>(
          file,
          TextFrame{.bos = rule.no_default_bos ? no_token : gpt2_end_of_text, .eos = gpt2_end_of_text, .add_bos = rule.add_bos})),
      rule_(rule), splitter_(rule) {
    load_merges(file);
    for (const auto& [text, piece] : pieces_) {
        append_piece(text, tokens_of_piece_[piece]);
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
        const auto stored = byte_level_character(static_cast<uint8_t>(byte));
        const auto found = pieces_.find(std::string(stored));
        bytes_[byte] = found != pieces_.end() ? found->second : -1;
        append_piece(stored, tokens_of_byte_[byte]);
    }
}

BpeTokenizer::Piece BpeTokenizer::piece_of(std::string_view text) {
    const auto [where, added] = pieces_.emplace(text, static_cast<Piece>(pieces_.size()));
    if (added) {
        tokens_of_piece_.emplace_back();
    }
    return where->second;
}

void BpeTokenizer::load_merges(const gguf::File& file) {
    const auto merges = file.require_string_array("tokenizer.ggml.merges");
    merges_.reserve(merges.size());
    for (size_t rank = 0; rank < merges.size(); ++rank) {
        const std::string_view merge = merges[rank];
        const size_t space = merge.find(' ', 1); // the first character may be a space itself
        if (space == std::string_view::npos) {
            continue;
        }
        const std::string_view left = merge.substr(0, space);
        const std::string_view right = merge.substr(space + 1);
        const Piece joined = piece_of(std::string(left).append(right));
        const uint64_t key = pair_key(piece_of(left), piece_of(right));
        merges_.emplace(key, Merge{static_cast<int32_t>(rank), joined}); // of two equal merges the first counts
    }
}

void BpeTokenizer::append_piece(std::string_view stored, std::vector<Token>& out) const {
    const Token token = vocabulary().find(stored);
    if (token != no_token) {
        out.push_back(token);
        return;
    }
    for (size_t i = 0; i < stored.size(); ++i) {
        const Token byte = vocabulary().find(stored.substr(i, 1));
        if (byte != no_token) {
            out.push_back(byte);
        }
    }
}

void BpeTokenizer::encode_word(std::string_view bytes, Word& word, std::vector<Token>& out) const {
    if (rule_.whole_words) {
        word.stored.clear();
        for (const char byte : bytes) {
            word.stored += byte_level_character(byte);
        }
        const Token token = vocabulary().find(word.stored);
        if (token != no_token) {
            out.push_back(token);
            return;
        }
    }
    word.encode(bytes, out);
}

void BpeTokenizer::encode_text(std::string_view text, bool /*after_special*/, std::vector<Token>& out) const {
    const std::u32string wide = code_points(text, Utf8::lenient);
    Word word(*this);
    std::string bytes;
    for (const std::u32string_view part : splitter_.split(wide)) {
        bytes.clear();
        for (const char32_t c : part) {
            if (!append_utf8(c, bytes)) {
                throw Error(ErrorKind::input, "text: holds the invalid code point " + std::to_string(c));
            }
        }
        encode_word(bytes, word, out);
    }
}

std::string BpeTokenizer::text_of(Token token) const {
    const Vocabulary& v = vocabulary();
    const std::string_view text = v.text(token);
    if (v.has(token, token_unknown | token_control | token_user_defined)) {
        return std::string(text);
    }
    return v.has(token, token_normal) ? byte_level_decoded(text) : std::string();
}

} // namespace schedscope
