// Megabytes a second through the tokenizers: ordinary text, and one endless run, which no cut between words shortens.
#include "runtime/gguf/writer.h"
#include "runtime/text/tokenizer.h"

#include <benchmark/benchmark.h>
#include <string>
#include <vector>

namespace {

using namespace schedscope;

constexpr size_t text_bytes = 1'000'000;

std::string ordinary_text() {
    std::string text;
    while (text.size() < text_bytes) {
        text += "Once upon a time there was a little girl. She didn't like 12345 rainy days, but <|x|> she loved the sun!\n";
    }
    return text;
}

/// Single letters and a few merges; `extra` user-defined tokens that do not occur.
gguf::Writer letters(const char* model, int extra) {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "\xE2\x96\x81", "\xC4\xA0"};
    std::vector<int32_t> kinds = {2, 3, 3, 1, 1};
    for (char c = '!'; c <= '~'; ++c) {
        tokens.emplace_back(1, c);
        kinds.push_back(1);
    }
    const std::vector<std::string> merges = {"t h", "th e", "a a", "aa aa", "i n", "a n", "an d"};
    for (const std::string& merge : merges) {
        std::string joined = merge;
        joined.erase(joined.find(' '), 1);
        tokens.push_back(joined);
        kinds.push_back(1);
    }
    tokens.emplace_back("\n");
    tokens.emplace_back("\xC4\x8A");
    kinds.insert(kinds.end(), {1, 1});
    for (int i = 0; i < extra; ++i) {
        tokens.push_back("<|unused_" + std::to_string(i) + "|>");
        kinds.push_back(4);
    }
    gguf::Writer w;
    w.set("tokenizer.ggml.model", model);
    w.set("tokenizer.ggml.pre", "llama-bpe");
    w.set("tokenizer.ggml.tokens", tokens);
    w.set("tokenizer.ggml.token_type", kinds);
    w.set("tokenizer.ggml.merges", merges);
    return w;
}

void encode(benchmark::State& state, const char* model, int extra, const std::string& text) {
    const auto tokenizer = Tokenizer::load(gguf::File::from_bytes(letters(model, extra).to_bytes()));
    for (auto _ : state) {
        benchmark::DoNotOptimize(tokenizer->encode(text, true, true).size());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

BENCHMARK_CAPTURE(encode, spm_text, "llama", 0, ordinary_text());
BENCHMARK_CAPTURE(encode, spm_text_5000_special_tokens, "llama", 5000, ordinary_text());
BENCHMARK_CAPTURE(encode, spm_one_run, "llama", 0, std::string(text_bytes, 'a'));
BENCHMARK_CAPTURE(encode, bpe_text, "gpt2", 0, ordinary_text());
BENCHMARK_CAPTURE(encode, bpe_one_run, "gpt2", 0, std::string(text_bytes, 'a'));

} // namespace
