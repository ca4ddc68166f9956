
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/machine_limits.h"
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

/// Bytes and elements of all matrices; the output is the embedding, so that all are read for a token.
struct Weights110m {
    double bytes = 0;
    double elements = 0;
};

Weights110m matrices(const gguf::File& file) {
    Weights110m w;
    for (const gguf::FileTensor& t : file.tensors()) {
        if (t.n_dims > 1) {
            w.bytes += static_cast<double>(t.bytes);
            w.elements += static_cast<double>(t.ne[0] * t.ne[1]);
        }
    }
    return w;
}

std::unique_ptr<Session> session_of(Type type, int32_t n_ctx = 1024, FlashAttention flash = FlashAttention::automatic) {
    const Registry& registry = Registry::kept();
    RunOptions o;
    o.devices = "cpu";
    o.n_ctx = n_ctx;
    o.flash_attention = flash;
    o.sampling.temperature = 0.0F;
    o.sampling.ignore_eos = true;
    return std::make_unique<Session>(registry, model_of(type), o);
}

std::vector<Token> prompt_of(int32_t n) {
    std::vector<Token> tokens{1};
    for (int32_t i = 1; i < n; ++i) {
        tokens.push_back(300 + 37 * i % 30000);
    }
    return tokens;
}

void report(benchmark::State& state, Type type, int64_t tokens, double ns, int32_t batch) {
    const Weights110m w = matrices(*model_of(type));
    const MachineLimits& limits = machine_limits(physical_cores()); // as many threads as the session has
    const double seconds = ns * 1e-9;
    const double evaluations = static_cast<double>(tokens) / batch;
    state.counters["tokens/s"] = static_cast<double>(tokens) / seconds;
    state.counters["of_read_bandwidth"] = w.bytes * evaluations / seconds / limits.read_bytes_per_s;
    state.counters["of_fma_peak"] = 2 * w.elements * static_cast<double>(tokens) / seconds / limits.flops;
}

void decode(benchmark::State& state, Type type) {
    const auto session = session_of(type);
    GenerateRequest request;
    request.prompts.push_back({0, prompt_of(16), std::nullopt});
    request.n_predict = n_decode;
    int64_t tokens = 0;
    double ns = 0;
    for (auto _ : state) {
        const GenerateResult result = generate(*session, request);
        tokens += result.n_decoded;
        ns += static_cast<double>(result.generate_ns);
    }
    report(state, type, tokens, ns, 1);
}

/// A token behind many others reads their keys and values, too.
void decode_behind(benchmark::State& state, FlashAttention flash) {
    const auto depth = static_cast<int32_t>(state.range(0));
    const auto session = session_of(Type::F16, depth + n_decode, flash);
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
    const Hparams& h = session->model().hparams();
    const double cached = 2.0 * depth * h.n_layer * (h.n_embd_k() + h.n_embd_v()); // halves
    const double bytes = matrices(*model_of(Type::F16)).bytes + cached;
    state.counters["tokens/s"] = 1e9 / best_ns;
    state.counters["of_read_bandwidth"] = bytes / (best_ns * 1e-9) / machine_limits(physical_cores()).read_bytes_per_s;
}

void prefill(benchmark::State& state, Type type) {
    const auto session = session_of(type);
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
    report(state, type, tokens, ns, n_prompt);
}

} // namespace

BENCHMARK_CAPTURE(decode, f32, Type::F32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, f16, Type::F16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q8_0, Type::Q8_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode, q4_0, Type::Q4_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(decode_behind, flash, FlashAttention::on)->Arg(1)->Arg(1500)->Arg(4000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_behind, no_flash, FlashAttention::off)->Arg(1)->Arg(1500)->Arg(4000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(prefill, f32, Type::F32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, f16, Type::F16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q8_0, Type::Q8_0)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(prefill, q4_0, Type::Q4_0)->Unit(benchmark::kMillisecond)->UseRealTime();
