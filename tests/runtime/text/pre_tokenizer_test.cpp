// How models cut text into words before merging.
#include "runtime/text/pre_tokenizer.h"

#include "runtime/system/utf8.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

namespace schedscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> words(std::string_view rule, std::string_view text) {
    const PreTokenizerRule* found = find_pre_tokenizer(rule);
    if (found == nullptr) {
        ADD_FAILURE() << rule << " is not known";
        return {};
    }
    const PreTokenizer splitter(*found);
    const std::u32string wide = code_points(text, Utf8::lenient);
    std::vector<std::string> result;
    for (const std::u32string_view part : splitter.split(wide)) {
        std::string& word = result.emplace_back();
        for (const char32_t c : part) {
            append_utf8(c, word);
        }
    }
    return result;
}

// A released llama.cpp cut these texts (tests/support/ggml/words.mjs). SCHEDSCOPE_WORDS: a file with more of them.
TEST(PreTokenizer, CutsWordsAsLlamaCppDoes) {
    const char* more = std::getenv("SCHEDSCOPE_WORDS");
    std::ifstream file(more != nullptr ? more : paths::source("tests/data/words.jsonl"));
    int n = 0;
    for (std::string line; std::getline(file, line); ++n) {
        const nlohmann::json record = nlohmann::json::parse(line);
        EXPECT_EQ(words(record["pre"].get<std::string>(), record["text"].get<std::string>()),
                  record["words"].get<std::vector<std::string>>())
            << record["pre"] << ' ' << record["text"];
    }
    EXPECT_GE(n, 200);
}

TEST(PreTokenizer, Gpt2KeepsSpacesWithTheWordBehindThem) {
    EXPECT_THAT(words("gpt-2", "I've 12345  cats, don't"), ElementsAre("I", "'ve", " 12345", " ", " cats", ",", " don", "'t"));
    EXPECT_THAT(words("gpt-2", "I'VE\n\n x"), ElementsAre("I", "'", "VE", "\n\n", " x"));
    EXPECT_THAT(words("gpt-2", "a   "), ElementsAre("a", "   "));
}

TEST(PreTokenizer, Llama3TakesDigitsInThrees) {
    EXPECT_THAT(words("llama-bpe", "I'VE 12345 cats!!\n\nSo"),
                ElementsAre("I", "'VE", " ", "123", "45", " cats", "!!\n\n", "So"));
    EXPECT_THAT(words("llama-bpe", "(foo)  bar"), ElementsAre("(foo", ")", " ", " bar"));
}

TEST(PreTokenizer, Qwen2TakesDigitsOneByOne) { EXPECT_THAT(words("qwen2", "x 123"), ElementsAre("x", " ", "1", "2", "3")); }

TEST(PreTokenizer, FalconSetsPunctuationApart) {
    EXPECT_THAT(words("falcon", "f(x)=12345"), ElementsAre("f", "(", "x", ")=", "123", "45"));
}

TEST(PreTokenizer, StarcoderSetsDigitsApart) { EXPECT_THAT(words("starcoder", "v 12"), ElementsAre("v", " ", "1", "2")); }

TEST(PreTokenizer, TekkenCutsBeforeCapitals) {
    EXPECT_THAT(words("tekken", "HelloWorld FOO bar 12"), ElementsAre("Hello", "World", " FOO", " bar", " ", "1", "2"));
}

TEST(PreTokenizer, Gpt4oKeepsContractionsWithTheWord) {
    EXPECT_THAT(words("gpt-4o", "don't HelloWorld 1234"), ElementsAre("don't", " Hello", "World", " ", "123", "4"));
}

TEST(PreTokenizer, DeepseekSetsChineseApart) {
    EXPECT_THAT(words("deepseek-v3", "ab\xE4\xB8\xAD\xE6\x96\x87 c1234"),
                ElementsAre("ab", "\xE4\xB8\xAD\xE6\x96\x87", " c", "123", "4"));
}

// Facts of the model's own tokenizer.json: cased letters with the white space before them, then symbols, then white space at the
// end of what is left, Asian letters, digits.
TEST(PreTokenizer, DeepseekLlmKeepsWordsOfCasedLetters) {
    EXPECT_THAT(words("deepseek-llm", "Hi there, 1234 \xC3\xA9t\xC3\xA9  \n"),
                ElementsAre("Hi", " there", ",", " ", "1234", " \xC3\xA9", "t", "\xC3\xA9", "  ",
                            "\n")); // its symbols are : to ~, with the letters between
    EXPECT_THAT(words("deepseek-llm", " \xC3\xA9\xC3\xA9"), ElementsAre(" \xC3\xA9\xC3\xA9"));
    EXPECT_THAT(words("deepseek-llm", "ab\xE4\xB8\xAD\xE6\x96\x87"
                                      "c \xEF\xBC\x81"), // ab, two of Chinese, c, a wide exclamation mark
                ElementsAre("ab", "\xE4\xB8\xAD\xE6\x96\x87", "c", " \xEF\xBC\x81"));
}

TEST(PreTokenizer, DefaultIsForFilesThatSayNothing) {
    EXPECT_EQ(find_pre_tokenizer(""), find_pre_tokenizer("default"));
    EXPECT_THAT(words("", "x = 12345"), ElementsAre("x", " ", "=", " ", "123", "45"));
    EXPECT_EQ(find_pre_tokenizer("no-such"), nullptr);
}

TEST(PreTokenizer, WhiteSpaceIsUnicodesAndNoMore) {
    EXPECT_THAT(words("gpt-2", "a\xC2\x85\xC2\x85z"), ElementsAre("a", "\xC2\x85", "\xC2\x85", "z")); // next line: white space
    EXPECT_THAT(words("gpt-2", "a\xE1\xA0\x8E\xE1\xA0\x8Ez"), ElementsAre("a", "\xE1\xA0\x8E\xE1\xA0\x8E", "z")); // U+180E is not
}

class EveryPreTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryPreTokenizer, LosesNothingHoweverLongARunIs) {
    for (const char* run : {" ", "\n", "a", "A", "1", "!", "\xC3\xA9", " \n", "\xED\xA0\x80", "\xFF"}) {
        std::string text;
        while (text.size() < 200'000) {
            text += run;
        }
        std::string together;
        for (const std::string& word : words(GetParam(), text + "x")) {
            together += word;
        }
        std::string expected;
        for (const char32_t c : code_points(text + "x", Utf8::lenient)) {
            append_utf8(c, expected);
        }
        EXPECT_EQ(together, expected) << run;
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryPreTokenizer,
                         ::testing::Values("default", "gpt-2", "trillion", "starcoder", "smollm", "falcon", "llama-bpe", "dbrx",
                                           "glm4", "qwen2", "stablelm2", "qwen35", "deepseek-v3", "deepseek-llm",
                                           "deepseek-coder", "tekken", "gpt-4o", "bloom", "poro-chat", "viking", "seed-coder",
                                           "bailingmoe"),
                         [](const auto& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(CodePoints, AreDecodedLeniently) {
    EXPECT_EQ(code_points("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", Utf8::lenient), U"a\u00E9\u20AC\U0001F600");
    EXPECT_EQ(code_points("\x80x\xC3", Utf8::lenient), (std::u32string{0xFFFD, U'x', 0xFFFD}));
    EXPECT_EQ(code_points(std::string_view("\xC0\x80", 2), Utf8::lenient), (std::u32string{0}));
    EXPECT_EQ(code_points("\xED\xA0\x80", Utf8::lenient), (std::u32string{0xD800}));
    EXPECT_EQ(code_points("\xE2\x82", Utf8::lenient), (std::u32string{0xFFFD, 0xFFFD}));
    EXPECT_EQ(code_points("\xF4\x90\x80\x80", Utf8::lenient), (std::u32string{0x110000}));
    std::string out;
    EXPECT_FALSE(append_utf8(0x110000, out));
}

} // namespace
} // namespace schedscope
