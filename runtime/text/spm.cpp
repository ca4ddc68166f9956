#include "runtime/text/spm.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/utf8.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace schedscope {

namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string result;
    result.reserve(text.size());
    size_t begin = 0;
    for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, begin)) {
        result.append(text, begin, at - begin);
        result.append(to);
        begin = at + from.size();
    }
    return result.append(text, begin);
}

constexpr std::string_view spm_space = "\xE2\x96\x81"; // U+2581, which stands for a space in SPM vocabularies

/// By the high bits of its first byte alone, as llama.cpp cuts: what begins none is a character of one byte, or of four.
std::string_view first_character(std::string_view text) noexcept {
    const size_t length = utf8_length(text.front(), Utf8::lenient);
    const bool all_high = static_cast<unsigned char>(text.front()) >= 0xF8;
    return text.substr(0, length != 0 ? length : all_high ? 4 : 1);
}

/// At most four bytes a character, so two fit one number.
uint64_t pair_key(std::string_view left, std::string_view right) noexcept {
    std::array<char, 8> bytes{};
    std::memcpy(bytes.data(), left.data(), left.size());
    std::memcpy(bytes.data() + 4, right.data(), right.size());
    uint64_t key = 0;
    std::memcpy(&key, bytes.data(), sizeof key);
    return key;
}

/// A piece of the text on its way to a token; merged ones have no length.
struct SpmSymbol {
    const char* begin;
    uint32_t size;
    int32_t previous;
    int32_t next;
    std::string_view text() const noexcept { return {begin, size}; }
};

struct SymbolPair {
    float score;
    int32_t left;
    int32_t right;
    uint32_t size; ///< of both together when it was found; a symbol that has changed since makes it void
    bool operator<(const SymbolPair& other) const noexcept {
        return score != other.score ? score < other.score : left > other.left;
    }
};

/// Merges one stretch of characters. Keeps its memory from stretch to stretch.
class Merger {
public:
    explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

    void add_character(std::string_view character) {
        const auto index = n_of(symbols_);
        symbols_.push_back({character.data(), static_cast<uint32_t>(character.size()), index - 1, -1});
        if (index > 0) {
            symbols_[index - 1].next = index;
        }
    }

    void finish(std::vector<Token>& out) {
        for (size_t i = 1; i < symbols_.size(); ++i) {
            consider(static_cast<int32_t>(i - 1), static_cast<int32_t>(i));
        }
        while (!queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            const SymbolPair best = queue_.back();
            queue_.pop_back();
            merge(best);
        }
        for (int32_t i = symbols_.empty() ? -1 : 0; i >= 0; i = symbols_[i].next) {
            append(symbols_[i].text(), out);
        }
        symbols_.clear();
    }

private:
    void consider(int32_t left, int32_t right) {
        if (left < 0 || right < 0) {
            return;
        }
        const SpmSymbol& a = symbols_[left];
        const std::string_view both(a.begin, a.size + symbols_[right].size);
        const Token token = vocabulary_.find(both);
        if (token != no_token) {
            queue_.push_back({vocabulary_.score(token), left, right, static_cast<uint32_t>(both.size())});
            std::push_heap(queue_.begin(), queue_.end());
        }
    }

    void merge(const SymbolPair& c) {
        SpmSymbol& left = symbols_[c.left];
        SpmSymbol& right = symbols_[c.right];
        if (left.size == 0 || right.size == 0 || left.size + right.size != c.size) {
            return;
        }
        left.size += right.size;
        right.size = 0;
        left.next = right.next;
        if (right.next >= 0) {
            symbols_[right.next].previous = c.left;
        }
        consider(left.previous, c.left);
        consider(c.left, left.next);
    }

    void append(std::string_view text, std::vector<Token>& out) const {
        const Token token = vocabulary_.find(text);
        if (token != no_token) {
            out.push_back(token);
            return;
        }
        for (const char c : text) {
            const Token byte = vocabulary_.byte_token(c);
            if (byte == no_token) {
                throw Error(ErrorKind::input, "text: byte " + std::to_string(static_cast<unsigned char>(c)) +
                                                  " has no token in the model's vocabulary");
            }
            out.push_back(byte);
        }
    }

    const Vocabulary& vocabulary_;
    std::vector<SpmSymbol> symbols_;
    std::vector<SymbolPair> queue_; ///< a heap, the best in front
};

/// The byte that "<0xHH>" stands for, or −1.
int byte_value(std::string_view text) noexcept {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>' || digit(text[3]) < 0 || digit(text[4]) < 0) {
        return -1;
    }
    return digit(text[3]) * 16 + digit(text[4]);
}

} // namespace

SpmTokenizer::SpmTokenizer(const gguf::File& file)
    : Tokenizer(std::make_unique<Vocabulary>(
          file, TextFrame{.bos = 1, .eos = 2, .unk = 0, .add_bos = true, .add_eos = false, .add_space_prefix = true})) {
    collect_neighbours();
}

void SpmTokenizer::collect_neighbours() {
    const Vocabulary& v = vocabulary();
    for (Token t = 0; t < v.n_tokens(); ++t) {
        std::string_view rest = v.text(t);
        std::string_view left = first_character(rest);
        for (rest.remove_prefix(left.size()); !rest.empty(); rest.remove_prefix(left.size())) {
            const std::string_view right = first_character(rest);
            neighbours_.insert(pair_key(left, right));
            left = right;
        }
    }
}

bool SpmTokenizer::can_join(std::string_view left, std::string_view right) const {
    return neighbours_.contains(pair_key(left, right));
}

void SpmTokenizer::encode_text(std::string_view text, bool after_special, std::vector<Token>& out) const {
    if (text.size() > (std::numeric_limits<int32_t>::max()) / 4) {
        throw Error(ErrorKind::usage, "text: " + std::to_string(text.size()) + " bytes are too many to tokenize at once");
    }
    std::string escaped = vocabulary().frame().add_space_prefix && after_special ? std::string(spm_space) : std::string();
    escaped += replaced(text, " ", spm_space);

    // A token never reaches over two characters that stand side by side in no token. Between such cuts the text can be merged
    // piece by piece, with the same result as at once and a queue that stays short.
    Merger merger(vocabulary());
    std::string_view rest = escaped;
    std::string_view last;
    while (!rest.empty()) {
        const std::string_view character = first_character(rest);
        if (!last.empty() && !can_join(last, character)) {
            merger.finish(out);
        }
        merger.add_character(character);
        last = character;
        rest.remove_prefix(character.size());
    }
    merger.finish(out);
}

std::string SpmTokenizer::text_of(Token token) const {
    const Vocabulary& v = vocabulary();
    const std::string_view text = v.text(token);
    if (v.has(token, token_unknown | token_control | token_user_defined)) {
        return std::string(text);
    }
    if (v.has(token, token_normal)) {
        return replaced(text, spm_space, " ");
    }
    const int byte = v.has(token, token_byte) ? byte_value(text) : -1;
    return byte >= 0 ? std::string(1, static_cast<char>(byte)) : std::string();
}

} // namespace schedscope
