#include "runtime/text/pre_tokenizer.h"

#include <algorithm>
#include <array>

// The patterns are the models' own (tokenizer.json), as llama.cpp adapts them: contractions in both cases written out, and for
// models that tell upper from lower case only ASCII letters told apart.

namespace schedscope {

namespace {

#define CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define WORDS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define SYMBOLS_AND_SPACES " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SYMBOLS_SLASHES_AND_SPACES " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
// Letters but for a … z, and but for A … Z.
#define CAPITALS "[^\\P{L}a-z]"
#define SMALLS "[^\\P{L}A-Z]"

constexpr std::string_view gpt2_words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";
constexpr std::string_view cjk = "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+";
constexpr std::string_view deepseek_words =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

constexpr std::array<std::string_view, 4> default_patterns = {"[\\p{P}\\$\\+<=>\\^~\\|]+", gpt2_words, "\\p{N}+",
                                                              "[0-9][0-9][0-9]"};
constexpr std::array<std::string_view, 1> gpt2_patterns = {gpt2_words};
constexpr std::array<std::string_view, 2> digit_patterns = {"\\p{N}", gpt2_words};
constexpr std::array<std::string_view, 3> falcon_patterns = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2_words, "[0-9][0-9][0-9]"};
constexpr std::array<std::string_view, 1> llama3_patterns = {CONTRACTIONS "|" WORDS "|\\p{N}{1,3}|" SYMBOLS_AND_SPACES};
constexpr std::array<std::string_view, 1> qwen2_patterns = {CONTRACTIONS "|" WORDS "|\\p{N}|" SYMBOLS_AND_SPACES};
constexpr std::array<std::string_view, 1> qwen35_patterns = {
    CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};
constexpr std::array<std::string_view, 3> deepseek3_patterns = {"\\p{N}{1,3}", cjk, deepseek_words};
constexpr std::string_view asian_words = "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+";
constexpr std::array<std::string_view, 5> deepseek_coder_patterns = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", asian_words,
                                                                     "\\p{N}"};
// Letters of scripts that know capitals, as an older Unicode had them.
constexpr std::string_view cased_words =
    "\\s?["
    "A-Za-z\\x{00B5}\\x{00C0}-\\x{00D6}\\x{00D8}-\\x{00F6}\\x{00F8}-\\x{01BA}\\x{01BC}-\\x{01BF}\\x{01C4}-\\x{0293}"
    "\\x{0295}-\\x{02AF}\\x{0370}-\\x{0373}\\x{0376}-\\x{0377}\\x{037B}-\\x{037D}\\x{037F}\\x{0386}\\x{0388}-\\x{038A}"
    "\\x{038C}\\x{038E}-\\x{03A1}\\x{03A3}-\\x{03F5}\\x{03F7}-\\x{0481}\\x{048A}-\\x{052F}\\x{0531}-\\x{0556}"
    "\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}"
    "\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}"
    "\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}"
    "\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}"
    "\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}"
    "\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}-\\x{2184}"
    "\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}-\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}"
    "\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}"
    "\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}"
    "\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}"
    "]+";
constexpr std::array<std::string_view, 6> deepseek_llm_patterns = {
    "[\\r\\n]", cased_words, "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+",
    "\\s+$",    asian_words, "\\p{N}+"};
constexpr std::array<std::string_view, 1> tekken_patterns = {"[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "*" SMALLS
                                                             "+|[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "+" SMALLS
                                                             "*|\\p{N}|" SYMBOLS_SLASHES_AND_SPACES};
constexpr std::array<std::string_view, 1> gpt4o_patterns = {"[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "*" SMALLS "+" CONTRACTIONS "?|"
                                                            "[^\\r\\n\\p{L}\\p{N}]?" CAPITALS "+" SMALLS "*" CONTRACTIONS "?|"
                                                            "\\p{N}{1,3}|" SYMBOLS_SLASHES_AND_SPACES};
constexpr std::string_view spaced_words = " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{0964}\\x{06D4}\\x{060C})]+";
constexpr std::array<std::string_view, 1> bloom_patterns = {spaced_words};
constexpr std::array<std::string_view, 2> viking_patterns = {spaced_words, "\\p{N}"};
constexpr std::array<std::string_view, 1> seed_patterns = {
    CONTRACTIONS "|" WORDS "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};
constexpr std::array<std::string_view, 1> bailing_patterns = {
    "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" WORDS "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"};

#undef CONTRACTIONS
#undef WORDS
#undef SYMBOLS_AND_SPACES
#undef SYMBOLS_SLASHES_AND_SPACES
#undef CAPITALS
#undef SMALLS

constexpr auto default_names = std::to_array<std::string_view>({"", "default"});
constexpr auto gpt2_names =
    std::to_array<std::string_view>({"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0",
                                     "mellum", "modern-bert", "mpt", "olmo", "jais", "exaone4"});
constexpr auto gpt2_exact_names = std::to_array<std::string_view>({"trillion", "granite-docling"});
constexpr auto digit_names =
    std::to_array<std::string_view>({"starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2"});
constexpr auto digit_exact_names = std::to_array<std::string_view>({"command-r", "smollm"});
constexpr auto falcon_names = std::to_array<std::string_view>({"falcon"});
constexpr auto llama3_names = std::to_array<std::string_view>(
    {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"});
constexpr auto llama3_merging_names = std::to_array<std::string_view>({"dbrx", "smaug-bpe"});
constexpr auto chatglm_names = std::to_array<std::string_view>({"glm4", "chatglm-bpe"});
constexpr auto qwen2_names =
    std::to_array<std::string_view>({"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "hunyuan", "grok-2", "solar-open"});
constexpr auto qwen2_cleaning_names = std::to_array<std::string_view>({"stablelm2", "megrez"});
constexpr auto qwen35_names = std::to_array<std::string_view>({"qwen35"});
constexpr auto deepseek3_names = std::to_array<std::string_view>({"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"});
constexpr auto deepseek_llm_names = std::to_array<std::string_view>({"deepseek-llm"});
constexpr auto deepseek_coder_names = std::to_array<std::string_view>({"deepseek-coder"});
constexpr auto tekken_names = std::to_array<std::string_view>({"tekken"});
constexpr auto gpt4o_names = std::to_array<std::string_view>({"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"});
constexpr auto bloom_names = std::to_array<std::string_view>({"bloom", "gpt3-finnish"});
constexpr auto poro_names = std::to_array<std::string_view>({"poro-chat"});
constexpr auto viking_names = std::to_array<std::string_view>({"viking"});
constexpr auto seed_names = std::to_array<std::string_view>({"seed-coder"});
constexpr auto bailing_names = std::to_array<std::string_view>({"bailingmoe", "bailingmoe2", "llada-moe"});

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
    {.names = deepseek_llm_names, .patterns = deepseek_llm_patterns, .cleans_spaces = false},
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
