#include "runtime/text/pre_tokenizer.h"

#include <algorithm>
#include <array>

// The patterns are the models' own (tokenizer.json), as llama.cpp adapts them: contractions in both cases written out, and for
// models that tell upper from lower case only ASCII letters told apart.

namespace schedscope {

namespace {

using Text = std::string_view;

#define CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SYMBOLS_AND_SPACES " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SYMBOLS_SLASHES_AND_SPACES " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
// Letters but for a … z, and but for A … Z.
#define CAPITALS "[^\\P{L}a-z]"
#define SMALLS "[^\\P{L}A-Z]"

constexpr Text gpt2_words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";
constexpr Text cjk = "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+";
constexpr Text deepseek_words =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

constexpr std::array<Text, 4> default_patterns = {"[\\p{P}\\$\\+<=>\\^~\\|]+", gpt2_words, "\\p{N}+", "[0-9][0-9][0-9]"};
constexpr std::array<Text, 1> gpt2_patterns = {gpt2_words};
constexpr std::array<Text, 2> digit_patterns = {"\\p{N}", gpt2_words};
constexpr std::array<Text, 3> falcon_patterns = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2_words, "[0-9][0-9][0-9]"};
constexpr std::array<Text, 1> llama3_patterns = {CONTRACTIONS "|" WORDS "|\\p{N}{1,3}|" SYMBOLS_AND_SPACES};
constexpr std::array<Text, 1> qwen2_patterns = {CONTRACTIONS "|" WORDS "|\\p{N}|" SYMBOLS_AND_SPACES};
constexpr std::array<Text, 1> qwen35_patterns = {
    CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};
constexpr std::array<Text, 3> deepseek3_patterns = {"\\p{N}{1,3}", cjk, deepseek_words};
constexpr std::array<Text, 5> deepseek_coder_patterns = {
    "[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+", "\\p{N}"};
constexpr std::array<Text, 1> tekken_patterns = {"[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "*" SMALLS "+|[^\\r\\n\\p{L}\\p{N}]?" CAPITALS
                                                 "+" SMALLS "*|\\p{N}|" SYMBOLS_SLASHES_AND_SPACES};
constexpr std::array<Text, 1> gpt4o_patterns = {"[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "*" SMALLS "+" CONTRACTIONS "?|"
                                                "[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "+" SMALLS "*" CONTRACTIONS "?|"
                                                "\\p{N}{1,3}|" SYMBOLS_SLASHES_AND_SPACES};
constexpr Text spaced_words = " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{0964}\\x{06D4}\\x{060C})]+";
constexpr std::array<Text, 1> bloom_patterns = {spaced_words};
constexpr std::array<Text, 2> viking_patterns = {spaced_words, "\\p{N}"};
constexpr std::array<Text, 1> seed_patterns = {CONTRACTIONS
                                               "|" WORDS "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};
constexpr std::array<Text, 1> bailing_patterns = {"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORDS
                                                  "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"};

#undef CONTRACTIONS
#undef WORDS
#undef SYMBOLS_AND_SPACES
#undef SYMBOLS_SLASHES_AND_SPACES
#undef CAPITALS
#undef SMALLS

constexpr auto default_names = std::to_array<Text>({"", "default"});
constexpr auto gpt2_names = std::to_array<Text>({"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de",
                                                 "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "exaone4"});
constexpr auto gpt2_exact_names = std::to_array<Text>({"trillion", "granite-docling"});
constexpr auto digit_names = std::to_array<Text>({"starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2"});
constexpr auto digit_exact_names = std::to_array<Text>({"command-r", "smollm"});
constexpr auto falcon_names = std::to_array<Text>({"falcon"});
constexpr auto llama3_names = std::to_array<Text>(
    {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"});
constexpr auto llama3_merging_names = std::to_array<Text>({"dbrx", "smaug-bpe"});
constexpr auto chatglm_names = std::to_array<Text>({"glm4", "chatglm-bpe"});
constexpr auto qwen2_names =
    std::to_array<Text>({"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "hunyuan", "grok-2", "solar-open"});
constexpr auto qwen2_cleaning_names = std::to_array<Text>({"stablelm2", "megrez"});
constexpr auto qwen35_names = std::to_array<Text>({"qwen35"});
constexpr auto deepseek3_names = std::to_array<Text>({"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"});
constexpr auto deepseek_coder_names = std::to_array<Text>({"deepseek-coder"});
constexpr auto tekken_names = std::to_array<Text>({"tekken"});
constexpr auto gpt4o_names = std::to_array<Text>({"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"});
constexpr auto bloom_names = std::to_array<Text>({"bloom", "gpt3-finnish"});
constexpr auto poro_names = std::to_array<Text>({"poro-chat"});
constexpr auto viking_names = std::to_array<Text>({"viking"});
constexpr auto seed_names = std::to_array<Text>({"seed-coder"});
constexpr auto bailing_names = std::to_array<Text>({"bailingmoe", "bailingmoe2", "llada-moe"});

constexpr auto rules = std::to_array<PreTokenizerRule>({
    {.names = default_names, .patterns = default_patterns},
    {.names = gpt2_names, .patterns = gpt2_patterns},
    {.names = gpt2_exact_names, .patterns = gpt2_patterns, .cleans_spaces = false},
    {.names = digit_names, .patterns = digit_patterns},
    {.names = digit_exact_names, .patterns = digit_patterns, .cleans_spaces = false},
    {.names = falcon_names, .patterns = falcon_patterns},
    {.names = llama3_names, .patterns = llama3_patterns, .whole_words = true, .add_bos = true},
    {.names = llama3_merging_names, .patterns = llama3_patterns},
    {.names = chatglm_names, .patterns = llama3_patterns, .no_default_bos = true},
    {.names = qwen2_names, .patterns = qwen2_patterns, .cleans_spaces = false},
    {.names = qwen2_cleaning_names, .patterns = qwen2_patterns},
    {.names = qwen35_names, .patterns = qwen35_patterns, .cleans_spaces = false},
    {.names = deepseek3_names, .patterns = deepseek3_patterns, .cleans_spaces = false},
    {.names = deepseek_coder_names, .patterns = deepseek_coder_patterns, .cleans_spaces = false},
    {.names = tekken_names, .patterns = tekken_patterns, .whole_words = true, .add_bos = true, .cleans_spaces = false},
    {.names = gpt4o_names, .patterns = gpt4o_patterns, .cleans_spaces = false},
    {.names = bloom_names, .patterns = bloom_patterns},
    {.names = poro_names, .patterns = bloom_patterns, .cleans_spaces = false},
    {.names = viking_names, .patterns = viking_patterns, .cleans_spaces = false},
    {.names = seed_names, .patterns = seed_patterns, .cleans_spaces = false},
    {.names = bailing_names, .patterns = bailing_patterns, .cleans_spaces = false},
});

} // namespace

const PreTokenizerRule* find_pre_tokenizer(std::string_view name) noexcept {
    const auto* found = std::find_if(rules.begin(), rules.end(), [name](const PreTokenizerRule& rule) {
        return std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
    });
    return found != rules.end() ? found : nullptr;
}

} // namespace schedscope
