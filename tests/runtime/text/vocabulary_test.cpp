// Vocabularies made up for one question each.
#include "runtime/text/vocabulary.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;

enum Kind : int32_t { normal = 1, unknown, control, user, unused, byte };

struct VocabularyEntry {
    std::string text;
    Kind kind = normal;
    float score = 0;
};

/// An SPM vocabulary: <unk>, <s>, </s>, then the entries, then all byte tokens.
gguf::Writer spm(const std::vector<VocabularyEntry>& entries) {
    std::vector<VocabularyEntry> all = {{"<unk>", unknown}, {"<s>", control}, {"</s>", control}};
    all.insert(all.end(), entries.begin(), entries.end());
    for (int b = 0; b < 256; ++b) {
        const char* digits = "0123456789ABCDEF";
        all.push_back({std::string("<0x") + digits[b / 16] + digits[b % 16] + ">", byte});
    }
    std::vector<std::string> texts;
    std::vector<int32_t> kinds;
    std::vector<float> scores;
    for (const VocabularyEntry& e : all) {
        texts.push_back(e.text);
        kinds.push_back(e.kind);
        scores.push_back(e.score);
    }
    gguf::Writer w;
    w.set("tokenizer.ggml.model", "llama");
    w.set("tokenizer.ggml.tokens", texts);
    w.set("tokenizer.ggml.token_type", kinds);
    w.set("tokenizer.ggml.scores", scores);
    return w;
}

std::unique_ptr<Tokenizer> load(const gguf::Writer& w) { return Tokenizer::load(gguf::File::from_bytes(w.to_bytes(), "m.gguf")); }

constexpr Token first = 3; ///< of the entries
#define SPACE "\xE2\x96\x81"

TEST(Spm, MergesTheBestScoreFirst) {
    const auto t = load(spm({{SPACE}, {"a"}, {"b"}, {"c"}, {"ab", normal, -2}, {"bc", normal, -1}, {"abc", normal, -3}}));
    // "bc" comes before "ab"; then a + bc is no pair that makes a token's halves, but "abc" is a token.
    EXPECT_THAT(t->encode("abc", false, false), ElementsAre(first, first + 6));
    EXPECT_THAT(t->encode("abbc", false, false), ElementsAre(first, first + 4, first + 5));
}

TEST(Spm, TakesTheLeftmostOfEquals) {
    const auto t = load(spm({{SPACE}, {"a"}, {"aa", normal, -1}}));
    EXPECT_THAT(t->encode("aaa", false, false), ElementsAre(first, first + 2, first + 1));
}

TEST(Spm, FallsBackToBytes) {
    const auto t = load(spm({{SPACE}}));
    const Token bytes = first + 1;
    EXPECT_THAT(t->encode("\xC3\xA9", false, false), ElementsAre(first, bytes + 0xC3, bytes + 0xA9));
    EXPECT_EQ(t->decode(std::vector<Token>{bytes + 0xC3}), "\xC3"); // decoding may end within a character
}

TEST(Spm, WithoutByteTokensSuchTextIsRefused) {
    gguf::Writer w;
    w.set("tokenizer.ggml.model", "llama");
    w.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", SPACE, "a"});
    const auto t = load(w);
    EXPECT_THAT(t->encode("a", false, false), ElementsAre(3, 4));
    EXPECT_THROW(t->encode("b", false, false), Error);
}

TEST(Spm, PutsTheSpaceBackAfterEverySpecialToken) {
    auto w = spm({{SPACE}, {"a"}, {"<|x|>", user}});
    EXPECT_THAT(load(w)->encode("a<|x|>a", false, false), ElementsAre(first, first + 1, first + 2, first, first + 1));
    w.set("tokenizer.ggml.add_space_prefix", false);
    EXPECT_THAT(load(w)->encode("a<|x|>a", false, false), ElementsAre(first + 1, first + 2, first + 1));
}

TEST(Spm, AddsWhatTheModelWants) {
    auto w = spm({{SPACE}, {"a"}});
    EXPECT_THAT(load(w)->encode("a", true, false), ElementsAre(1, first, first + 1));
    w.set("tokenizer.ggml.add_eos_token", true);
    w.set("tokenizer.ggml.add_bos_token", false);
    EXPECT_THAT(load(w)->encode("a", true, false), ElementsAre(first, first + 1, 2));
    EXPECT_THAT(load(w)->encode("", true, false), ElementsAre(2));
}

TEST(SpecialTokens, ControlTokensOnlyWhenAskedForUserDefinedOnesAlways) {
    const auto t = load(spm({{SPACE}, {"<c>", control}, {"<u>", user}}));
    EXPECT_THAT(t->encode("<c><u>", false, true), ElementsAre(first + 1, first + 2));
    EXPECT_EQ(t->encode("<c>", false, false).size(), 4U); // a space and three bytes
    EXPECT_THAT(t->encode("<u>", false, false), ElementsAre(first + 2));
}

TEST(SpecialTokens, TheLongestIsTakenFirst) {
    const auto t = load(spm({{SPACE}, {"[X]", user}, {"[X]Y", user}, {"Y[", user}}));
    EXPECT_THAT(t->encode("[X]Y[X]", false, false), ElementsAre(first + 2, first + 1));
}

TEST(SpecialTokens, Phi3SwallowsTheWhiteSpaceBehindThem) {
    auto w = spm({{SPACE}, {"a"}, {"<|user|>", control}});
    w.set("general.name", "Phi-3 mini");
    w.set("tokenizer.ggml.add_space_prefix", false);
    EXPECT_THAT(load(w)->encode("<|user|> \n a<s> a", false, true), ElementsAre(first + 2, first + 1, 1, first, first + 1));
}

TEST(Decode, LeavesControlTokensOutUnlessAsked) {
    const auto t = load(spm({{SPACE "a"}, {"<c>", control}, {"u" SPACE, user}}));
    const std::vector<Token> tokens = {1, first, first + 1, first + 2, first, 2};
    EXPECT_EQ(t->decode(tokens, true, false), " au" SPACE " a");
    EXPECT_EQ(t->decode(tokens, false, true), "<s> a<c>u" SPACE " a</s>");
    EXPECT_EQ(t->decode(std::vector<Token>{first, first}), "a a"); // the tokenizer's own space in front is dropped
    EXPECT_EQ(t->piece(first), " a");
    EXPECT_EQ(t->piece(first + 1), "");
    EXPECT_EQ(t->piece(first + 1, true), "<c>");
    EXPECT_THROW((void)t->piece(t->n_tokens()), Error);
    EXPECT_THROW((void)t->piece(-1), Error);
}

TEST(EndOfGeneration, IsKnownByIdAndByText) {
    auto w = spm({{"<|im_end|>"}, {"<end_of_turn>", control}, {"other", control}, {"<|fim_pad|>", control}, {"mine", control}});
    w.set("tokenizer.ggml.eot_token_id", uint32_t{first + 4});
    const auto t = load(w);
    EXPECT_TRUE(t->is_eog(2));
    EXPECT_TRUE(t->is_eog(first));
    EXPECT_TRUE(t->is_control(first)); // by its text, although the file says normal
    EXPECT_TRUE(t->is_eog(first + 1));
    EXPECT_FALSE(t->is_eog(first + 2));
    EXPECT_TRUE(t->is_eog(first + 3));
    EXPECT_TRUE(t->is_eog(first + 4));
    EXPECT_FALSE(t->is_eog(1));
    EXPECT_FALSE(t->is_eog(-1));
}

TEST(EndOfGeneration, HarmonyModelsEndOtherwise) {
    const auto t = load(spm({{"<|end|>", control}, {"<|return|>", control}, {"<|call|>", control}, {"<|start|>", control}}));
    EXPECT_FALSE(t->is_eog(first));
    EXPECT_FALSE(t->is_control(first));
    EXPECT_TRUE(t->is_eog(first + 1));
    EXPECT_FALSE(t->is_control(first + 3));
}

/// A byte-level BPE vocabulary.
gguf::Writer bpe(const std::vector<std::string>& tokens, const std::vector<std::string>& merges, const char* pre) {
    gguf::Writer w;
    w.set("tokenizer.ggml.model", "gpt2");
    w.set("tokenizer.ggml.pre", pre);
    w.set("tokenizer.ggml.tokens", tokens);
    w.set("tokenizer.ggml.merges", merges);
    return w;
}

TEST(Bpe, MergesByRank) {
    const auto t = load(bpe({"a", "b", "c", "ab", "bc", "abc"}, {"b c", "a b", "a bc"}, "gpt-2"));
    EXPECT_THAT(t->encode("abc", false, false), ElementsAre(5));
    EXPECT_THAT(t->encode("abab", false, false), ElementsAre(3, 3));
    EXPECT_THAT(t->encode("ab", false, false), ElementsAre(3));
}

TEST(Bpe, TakesWholeWordsFirstWhereTheModelDoes) {
    const std::vector<std::string> tokens = {"a", "b", "c", "ab", "abc"};
    EXPECT_THAT(load(bpe(tokens, {"a b"}, "gpt-2"))->encode("abc", false, false), ElementsAre(3, 2));
    EXPECT_THAT(load(bpe(tokens, {"a b"}, "qwen2"))->encode("abc", false, false), ElementsAre(3, 2));
    EXPECT_THAT(load(bpe(tokens, {"a b"}, "llama-bpe"))->encode("abc", false, false), ElementsAre(4));
    EXPECT_THAT(load(bpe(tokens, {"a b"}, "tekken"))->encode("abc", false, false), ElementsAre(4));
}

TEST(Bpe, IdElevenIsBosAndEosWhenNoneIsNamed) {
    std::vector<std::string> tokens;
    for (char c = 'a'; c < 'a' + 12; ++c) {
        tokens.push_back(std::string(1, c));
    }
    auto w = bpe(tokens, {}, "gpt-2");
    const auto t = load(w);
    EXPECT_EQ(t->bos(), 11);
    EXPECT_EQ(t->eos(), 11);
    EXPECT_EQ(t->unk(), no_token);
    EXPECT_EQ(load(bpe({"a"}, {}, "gpt-2"))->bos(), no_token); // there is no id 11
    EXPECT_EQ(load(bpe(tokens, {}, "glm4"))->bos(), no_token);
}

TEST(Bpe, DropsWhatTheVocabularyCantSay) {
    const auto t = load(bpe({"a"}, {}, "gpt-2"));
    EXPECT_THAT(t->encode("ab", false, false), ElementsAre(0));
}

TEST(Bpe, TidiesSpacesWhereTheModelDoes) {
    const std::vector<std::string> tokens = {"\xC4\xA0.", "x", "\xC4\xA0's"};
    const std::vector<Token> text = {1, 0, 2, 1};
    EXPECT_EQ(load(bpe(tokens, {}, "gpt-2"))->decode(text), "x.'sx");
    EXPECT_EQ(load(bpe(tokens, {}, "qwen2"))->decode(text), "x . 'sx");
}

struct DamageCase {
    const char* name;
    std::function<void(gguf::Writer&)> harm;
    const char* message;
};

void PrintTo(const DamageCase& d, std::ostream* out) { *out << d.name; }

class DamagedVocabulary : public ::testing::TestWithParam<DamageCase> {};

TEST_P(DamagedVocabulary, IsRefused) {
    auto w = bpe({"a", "b"}, {"a b"}, "gpt-2");
    GetParam().harm(w);
    try {
        load(w);
        FAIL() << "was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(std::string(e.what()), "m.gguf: " + std::string(GetParam().message));
    }
}

const std::vector<std::string> none;

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedVocabulary,
    ::testing::Values(DamageCase{"Model", [](gguf::Writer& w) { w.set("tokenizer.ggml.model", "bert"); },
                                 "tokenizer 'bert' (key tokenizer.ggml.model) is not supported"},
                      DamageCase{"ModelKind", [](gguf::Writer& w) { w.set("tokenizer.ggml.model", 1); },
                                 "key 'tokenizer.ggml.model' is i32 1, not a string"},
                      DamageCase{"PreTokenizer", [](gguf::Writer& w) { w.set("tokenizer.ggml.pre", "weird"); },
                                 "pre-tokenizer 'weird' (key tokenizer.ggml.pre) is not supported"},
                      DamageCase{"NoTokens", [](gguf::Writer& w) { w.set("tokenizer.ggml.tokens", none); },
                                 "key 'tokenizer.ggml.tokens' holds no tokens"},
                      DamageCase{"TokensKind", [](gguf::Writer& w) { w.set("tokenizer.ggml.tokens", std::vector<int32_t>{1}); },
                                 "key 'tokenizer.ggml.tokens' is array of i32, not an array of strings"},
                      DamageCase{"TokenTwice",
                                 [](gguf::Writer& w) {
                                     w.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "a"});
                                 },
                                 "tokens 0 and 2 (key tokenizer.ggml.tokens) are the same"},
                      DamageCase{"ShortScores", [](gguf::Writer& w) { w.set("tokenizer.ggml.scores", std::vector<float>{1}); },
                                 "key 'tokenizer.ggml.scores' has 1 elements for 2 tokens"},
                      DamageCase{"ShortTypes",
                                 [](gguf::Writer& w) { w.set("tokenizer.ggml.token_type", std::vector<int32_t>{1}); },
                                 "key 'tokenizer.ggml.token_type' has 1 elements for 2 tokens"},
                      DamageCase{"MergesKind", [](gguf::Writer& w) { w.set("tokenizer.ggml.merges", "a b"); },
                                 "key 'tokenizer.ggml.merges' is string, not an array of strings"}),
    [](const auto& param) { return std::string(param.param.name); });

} // namespace
} // namespace schedscope
