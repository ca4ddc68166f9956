#include "runtime/context/generate.h"
#include "runtime/model/synth.h"
#include "traces/writer.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include <unistd.h>

/// What recording costs: the same tokens of a made-up llama of 110 million parameters with a trace writer and without, in turns, so that whatever else the machine
/// does meets both. "overhead_percent" is the median over all pairs of how much longer the recorded one took; "bytes/token" what the trace takes.
namespace {

using namespace schedscope;

constexpr int32_t n_decode = 32;
constexpr int n_pairs = 15;

std::unique_ptr<Session> session_of(const std::shared_ptr<const gguf::File>& file, const std::string& devices,
                                    Recorder* recorder) {
    static const Registry registry;
    RunOptions o;
    o.devices = devices;
    o.n_ctx = 512;
    o.sampling.temperature = 0.0F;
    o.sampling.ignore_eos = true;
    return std::make_unique<Session>(registry, file, o, recorder);
}

/// Nanoseconds for n_decode tokens.
double decode(Session& session) {
    GenerateRequest request;
    request.prompts.push_back({0, {1, 300, 301, 302}, std::nullopt});
    request.n_predict = n_decode;
    return static_cast<double>(generate(session, request).generate_ns);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void recorded_decode(benchmark::State& state, Type type, const char* devices) {
    const auto file = std::make_shared<const gguf::File>(synthesise_llama_in_memory(synth_preset("110m"), type, 1, "110m"));
    const std::string path =
        (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + ".trace")).string();
    for (auto _ : state) {
        TraceWriter writer(path);
        const auto plain = session_of(file, devices, nullptr);
        const auto recorded = session_of(file, devices, &writer);
        decode(*plain);
        decode(*recorded);
        std::vector<double> overheads, times;
        for (int pair = 0; pair < n_pairs; ++pair) {
            const bool plain_first = pair % 2 == 0;
            const double first = decode(plain_first ? *plain : *recorded);
            writer.sync(); // nothing is left over for the other
            const double second = decode(plain_first ? *recorded : *plain);
            writer.sync();
            const double without = plain_first ? first : second, with = plain_first ? second : first;
            overheads.push_back(100 * (with / without - 1));
            times.push_back(without);
        }
        writer.close();
        state.counters["overhead_percent"] = median(overheads);
        state.counters["tokens/s"] = n_decode * 1e9 / median(times);
        state.counters["bytes/token"] = static_cast<double>(std::filesystem::file_size(path)) / ((n_pairs + 1) * (n_decode + 1));
    }
    std::filesystem::remove(path);
}

} // namespace

BENCHMARK_CAPTURE(recorded_decode, f16, Type::F16, "cpu")->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(recorded_decode, q8_0, Type::Q8_0, "cpu")->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
