#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/model/synth/synth.h"
#include "runtime/session/generate.h"
#include "traces/format/interner.h"
#include "traces/store/writer.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <vector>

#include <unistd.h>

/// What recording costs: the same tokens of a made-up llama of 110 million parameters with a trace writer and without, in turns, so that whatever else the machine
/// does meets both. "overhead_percent" is the median over all pairs of how much longer the recorded one took, "cpu_percent" the same of processor time, which does
/// not depend on what else the machine does; "bytes/token" what the trace takes.
namespace {

using namespace schedscope;

constexpr int32_t n_decode = 32;
constexpr int n_pairs = 15;

std::unique_ptr<Session> session_of(const std::shared_ptr<const gguf::File>& file, const std::string& devices, int n_threads,
                                    Recorder* recorder) {
    static const Registry registry;
    RunOptions o;
    o.devices = devices;
    o.n_threads = n_threads;
    o.n_ctx = 512;
    o.sampling.temperature = 0.0F;
    o.sampling.ignore_eos = true;
    return std::make_unique<Session>(registry, file, o, recorder);
}

/// Takes what the runtime writes and drops it: what making records costs the runtime, without a writer.
class Sink : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return texts_.intern(text); }
    void keep(const Record& record) override { benchmark::DoNotOptimize(record); }

private:
    Interner texts_;
};

struct Cost {
    double ns = 0;     ///< of the decoding
    double cpu_ns = 0; ///< of all threads, until the last record is in the file
};

double cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Of n_decode tokens.
Cost decode(Session& session, TraceWriter& writer) {
    const double before = cpu_ns();
    GenerateRequest request;
    request.prompts.push_back({0, {1, 300, 301, 302}, std::nullopt});
    request.n_predict = n_decode;
    const auto ns = static_cast<double>(generate(session, request).generate_ns);
    writer.sync(); // nothing is left over for the next
    return {ns, cpu_ns() - before};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// How much longer the same takes with a recorder than without, in percent: the median over pairs of runs, whose order changes.
struct Overhead {
    double time = 0, cpu = 0;
    double plain_ns = 0;
};
Overhead overhead(Session& plain, Session& recorded, TraceWriter& writer) {
    decode(plain, writer);
    decode(recorded, writer);
    std::vector<double> times, cpus, plain_times;
    for (int pair = 0; pair < n_pairs; ++pair) {
        const bool plain_first = pair % 2 == 0;
        const Cost first = decode(plain_first ? plain : recorded, writer);
        const Cost second = decode(plain_first ? recorded : plain, writer);
        const Cost &without = plain_first ? first : second, &with = plain_first ? second : first;
        times.push_back(100 * (with.ns / without.ns - 1));
        cpus.push_back(100 * (with.cpu_ns / without.cpu_ns - 1));
        plain_times.push_back(without.ns);
    }
    return {median(times), median(cpus), median(plain_times)};
}

void recorded_decode(benchmark::State& state, Type type, const char* devices, int n_threads) {
    const auto file = std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "110m"), type, 1, "110m"));
    const std::string path =
        (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + ".trace")).string();
    for (auto _ : state) {
        TraceWriter writer(path);
        Sink sink;
        const auto plain = session_of(file, devices, n_threads, nullptr);
        const auto made = session_of(file, devices, n_threads, &sink);
        const auto recorded = session_of(file, devices, n_threads, &writer);
        const auto again = session_of(file, devices, n_threads, nullptr);
        const Overhead nothing = overhead(*plain, *again, writer);
        const Overhead making = overhead(*plain, *made, writer);
        const Overhead all = overhead(*plain, *recorded, writer);
        writer.close();
        state.counters["noise_percent"] = nothing.time;
        state.counters["records_percent"] = making.time;
        state.counters["overhead_percent"] = all.time;
        state.counters["cpu_percent"] = all.cpu;
        state.counters["tokens/s"] = n_decode * 1e9 / all.plain_ns;
        state.counters["bytes/token"] = static_cast<double>(std::filesystem::file_size(path)) / ((n_pairs + 1) * (n_decode + 1));
    }
    std::filesystem::remove(path);
}

} // namespace

// All cores compute, so that the writer must take its time from them; one core is free, as where a program has fewer threads than the machine.
BENCHMARK_CAPTURE(recorded_decode, f16, Type::F16, "cpu", 0)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(recorded_decode, q8_0, Type::Q8_0, "cpu", 0)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(recorded_decode, f16_core_free, Type::F16, "cpu", physical_cores() - 1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->UseRealTime();
