#include "inspector/cli/bench/bench_work.h"
#include "runtime/backend/machine_limits.h"
#include "runtime/backend/processors.h"
#include "runtime/clock.h"
#include "runtime/model/synth/synth.h"
#include "runtime/session/generate.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>

/// Whole generations on the CPU with a made-up llama of 110 million parameters, and how near they come to what the machine can
/// do: a token reads every weight once (limit: memory), a long prompt multiplies each weight with each token (limit: arithmetic).
namespace {

using namespace schedscope;

constexpr int32_t n_prompt = 512;
constexpr int32_t n_decode = 64;

std::shared_ptr<const gguf::File> model_of(Type type) {
    static std::map<Type, std::shared_ptr<const gguf::File>> made;
    auto& file = made[type];
    if (file == nullptr) {
        file = std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "110m"), type, 1, "110m"));
    }
    return file;
}

RunOptions options_of(int32_t n_ctx = 1024, FlashAttention flash = FlashAttention::automatic) {
    RunOptions o;
    o.devices = "cpu";
    o.n_ctx = n_ctx;
    o.flash_attention = flash;
    o.sampling.temperature = 0.0F;
    o.sampling.ignore_eos = true;
    return o;
}

std::unique_ptr<Session> session_of(Type type, const RunOptions& options) {
    return std::make_unique<Session>(Registry::kept(), model_of(type), options);
}

std::vector<Token> prompt_of(int32_t n) {
    std::vector<Token> tokens{1};
    for (int32_t i = 1; i < n; ++i) {
        tokens.push_back(300 + 37 * i % 30000);
    }
    return tokens;
}

void report(benchmark::State& state, Type type, const RunOptions& options, const BenchTest& test, double tokens_per_s) {
    const BenchWork work(*model_of(type), options);
    const MachineLimits& limits = machine_limits(physical_cores()); // as many threads as the session has
    state.counters["tokens/s"] = tokens_per_s;
    state.counters["of_reading"] = work.share_of_reading(test, tokens_per_s, limits);
    state.counters["of_multiplying"] = work.share_of_multiplying(test, tokens_per_s, limits);
}

void decode(benchmark::State& state, Type type) {
    constexpr int32_t depth = 16;
    const RunOptions options = options_of();
    const auto session = session_of(type, options);
    GenerateRequest request;
    request.prompts.push_back({0, prompt_of(depth), std::nullopt});
    request.n_predict = n_decode;
    int64_t tokens = 0;
    double ns = 0;
    for (auto _ : state) {
        const GenerateResult result = generate(*session, request);
        tokens += result.n_decoded;
        ns += static_cast<double>(result.generate_ns);
    }
    report(state, type, options, {.n_generate = n_decode, .depth = depth}, 1e9 * static_cast<double>(tokens) / ns);
}

/// A token behind many others reads their keys and values, too.
void decode_behind(benchmark::State& state, FlashAttention flash) {
    const auto depth = static_cast<int32_t>(state.range(0));
    const RunOptions options = options_of(depth + n_decode, flash);
    const auto session = session_of(Type::F16, options);
    GenerateRequest request;
    request.prompts.push_back({0, prompt_of(depth), std::nullopt});
    request.n_predict = n_decode;
    double best_ns = 1e30; // of a token
    for (auto _ : state) {
        int64_t last = 0;
        request.on_token = [&](const Choice&) {
            const int64_t now = now_ns();
            best_ns = last > 0 ? std::min(best_ns, static_cast<double>(now - last)) : best_ns;
            last = now;
        };
        generate(*session, request);
    }
    report(state, Type::F16, options, {.n_generate = n_decode, .depth = depth}, 1e9 / best_ns);
}

void prefill(benchmark::State& state, Type type) {
    const RunOptions options = options_of();
    const auto session = session_of(type, options);
    GenerateRequest request;
    request.prompts.push_back({0, prompt_of(n_prompt), std::nullopt});
    request.n_predict = 0;
    int64_t tokens = 0;
    double ns = 0;
    for (auto _ : state) {
        const GenerateResult result = generate(*session, request);
        tokens += result.n_prompt;
        ns += static_cast<double>(result.prompt_ns);
    }
    report(state, type, options, {.n_prompt = n_prompt}, 1e9 * static_cast<double>(tokens) / ns);
}

} // namespace

BENCHMARK_CAPTURE(decode, f32, Type::F32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, f16, Type::F16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q8_0, Type::Q8_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q4_0, Type::Q4_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q4_k, Type::Q4_K)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q6_k, Type::Q6_K)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode_behind, flash, FlashAttention::on)->Arg(1)->Arg(1500)->Arg(4000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_behind, no_flash, FlashAttention::off)->Arg(1)->Arg(1500)->Arg(4000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(prefill, f32, Type::F32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, f16, Type::F16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q8_0, Type::Q8_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q4_0, Type::Q4_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q4_k, Type::Q4_K)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q6_k, Type::Q6_K)->Unit(benchmark::kMillisecond)->UseRealTime();
