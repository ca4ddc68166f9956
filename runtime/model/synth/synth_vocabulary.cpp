#include "runtime/model/synth/synth_vocabulary.h"

#include "runtime/gguf/writer.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

namespace {

// Kinds of tokens as files number them.
constexpr int32_t normal = 1;
constexpr int32_t unknown = 2;
constexpr int32_t control = 3;
constexpr int32_t byte = 6;

constexpr std::string_view space = "\xE2\x96\x81"; // how SentencePiece writes a space

constexpr std::array<std::string_view, 120> words{
    "the",   "a",     "to",   "and",  "was",   "in",      "it",    "of",    "he",   "she",    "said", "day",   "her",   "his",
    "with",  "had",   "that", "they", "on",    "for",     "not",   "very",  "big",  "little", "girl", "boy",   "mom",   "dad",
    "dog",   "cat",   "bird", "tree", "house", "sun",     "moon",  "rain",  "snow", "wind",   "sea",  "boat",  "ball",  "box",
    "book",  "song",  "home", "went", "saw",   "came",    "ran",   "sat",   "took", "gave",   "made", "found", "lost",  "liked",
    "loved", "asked", "told", "knew", "red",   "blue",    "green", "old",   "new",  "good",   "bad",  "sad",   "happy", "warm",
    "cold",  "fast",  "slow", "loud", "soft",  "one",     "two",   "three", "many", "all",    "some", "no",    "yes",   "then",
    "when",  "where", "why",  "how",  "what",  "who",     "once",  "upon",  "time", "long",   "far",  "near",  "up",    "down",
    "under", "over",  "out",  "into", "from",  "by",      "at",    "is",    "were", "be",     "are",  "can",   "could", "would",
    "will",  "do",    "did",  "but",  "so",    "because", "if",    "or",
};

class MadeVocabulary {
public:
    explicit MadeVocabulary(int32_t n) : n_(n) {
        add("<unk>", unknown);
        add("<s>", control);
        add("</s>", control);
        constexpr std::string_view hex = "0123456789ABCDEF";
        for (size_t b = 0; b < 256; ++b) {
            add(std::string("<0x") + hex[b / 16] + hex[b % 16] + ">", byte);
        }
        add(std::string(space), normal);
        for (char c = 'a'; c <= 'z'; ++c) {
            add(std::string(1, c), normal);
        }
        for (const char c : {'.', ',', '!', '?', '\'', '"', '-'}) {
            add(std::string(1, c), normal);
        }
        for (const std::string_view word : words) {
            add(std::string(space) + std::string(word), normal);
        }
        for (size_t i = 0; texts_.size() < n_; ++i) {
            add(std::string(space) + syllables(i), normal);
        }
    }

    void write(gguf::Writer& writer) const {
        writer.set("tokenizer.ggml.model", "llama");
        writer.set("tokenizer.ggml.pre", "default");
        writer.set("tokenizer.ggml.tokens", texts_);
        writer.set("tokenizer.ggml.scores", scores_);
        writer.set("tokenizer.ggml.token_type", kinds_);
        writer.set("tokenizer.ggml.bos_token_id", uint32_t{1});
        writer.set("tokenizer.ggml.eos_token_id", uint32_t{2});
        writer.set("tokenizer.ggml.unknown_token_id", uint32_t{0});
        writer.set("tokenizer.ggml.add_bos_token", true);
        writer.set("tokenizer.ggml.add_eos_token", false);
        writer.set("tokenizer.ggml.add_space_prefix", true);
    }

private:
    void add(std::string text, int32_t kind) {
        if (texts_.size() < n_) {
            texts_.push_back(std::move(text));
            kinds_.push_back(kind);
            // Longer pieces first: pieces are merged in order of score.
            scores_.push_back(kind == normal ? -static_cast<float>(texts_.size()) : 0.0F);
        }
    }

    /// The number written in syllables, with a mark that no word above has: "kamu'", "tosa'".
    static std::string syllables(size_t i) {
        constexpr std::string_view consonants = "bdfgklmnprstvz";
        constexpr std::string_view vowels = "aeiou";
        const size_t base = consonants.size() * vowels.size();
        std::string text;
        do {
            text += consonants[i % base / vowels.size()];
            text += vowels[i % vowels.size()];
            i /= base;
        } while (i > 0);
        return text + "'";
    }

    size_t n_;
    std::vector<std::string> texts_;
    std::vector<float> scores_;
    std::vector<int32_t> kinds_;
};

} // namespace

void add_synth_vocabulary(gguf::Writer& writer, int32_t n) { MadeVocabulary(n).write(writer); }

} // namespace schedscope
