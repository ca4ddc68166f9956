#include "tests/support/models/teller.h"

#include "tests/support/paths.h"

namespace schedscope::teller {

namespace {

const std::string space = "\u2581";

std::vector<std::string> made_vocabulary() {
    std::vector<std::string> all{"<unk>", "<s>", "</s>"};
    const std::string hex = "0123456789ABCDEF";
    for (size_t b = 0; b < 256; ++b) {
        all.push_back(std::string("<0x") + hex[b / 16] + hex[b % 16] + ">");
    }
    all.push_back(space);
    for (char c = 'a'; c <= 'z'; ++c) {
        all.emplace_back(1, c);
    }
    for (const char* mark : {".", ",", "!", "?", "'", "\"", "-"}) {
        all.emplace_back(mark);
    }
    // Pieces are merged from the left, so each word needs its beginnings.
    const std::string consonants = "bdfgklmnprstv", vowels = "aeiou";
    std::vector<std::string> beginnings{space};
    for (const std::string& letters : {consonants, vowels, std::string("nsl")}) {
        std::vector<std::string> longer;
        for (const char end : letters) {
            for (const std::string& beginning : beginnings) {
                if (all.size() < n_vocab) {
                    all.push_back(beginning + end);
                }
                longer.push_back(beginning + end);
            }
        }
        beginnings = longer;
    }
    return all;
}

} // namespace

std::string model(const std::string& type) { return paths::made("teller-" + type + ".gguf"); }

const std::vector<std::string>& vocabulary() {
    static const std::vector<std::string> all = made_vocabulary();
    return all;
}

int32_t n_words() { return n_vocab - first_word; }

std::vector<int32_t> ids(size_t n) {
    std::vector<int32_t> all;
    for (size_t i = 0; i < n;
         ++i) { // 77 has no divisor in common with the number of words: all come, and not in the order of the alphabet
        all.push_back(first_word + static_cast<int32_t>((i + 1) * 77 % static_cast<size_t>(n_words())));
    }
    return all;
}

std::string text(size_t n) {
    std::string all;
    for (const int32_t id : ids(n)) {
        all += " " + vocabulary()[static_cast<size_t>(id)].substr(space.size());
    }
    return all.empty() ? all : all.substr(1);
}

} // namespace schedscope::teller
