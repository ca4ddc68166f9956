#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/registry.h"
#include "runtime/model/synth/synth.h"
#include "runtime/session/generate.h"
#include "traces/format/interner.h"
#include "traces/store/writer.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

/// What recording costs: the same tokens of a made-up llama with a trace writer and without, in turns, so that whatever else the
/// machine does meets both, and of one session, since where weights happen to lie in memory makes more of a difference than a
/// trace. "overhead_percent" is the median over all pairs of how much longer the recorded one took; "thread_percent" the same of
/// the processor time of the thread that decodes, "cpu_percent" of all threads, until the last record is in the file: both depend
/// less on what else the machine does. "records_percent" is what making records takes without writing them; "noise_percent" what
/// the same pairs show where nothing is recorded; "bytes/token" what the trace takes. The levels are those of --kernel-times.
namespace {

using namespace schedscope;

struct Subject {
    const char* preset;
    Type type;
    const char* devices;
    std::optional<KernelTimes> times = {}; ///< absent: the usual ones
    int n_threads = 0;                     ///< 0: one for each core
    int32_t n_decode = 128;                ///< tokens of a run; as many as `run` generates unless it is told otherwise
    int n_pairs = 11;
    int32_t n_gpu_layers = 99;
};

std::unique_ptr<Session> session_of(const std::shared_ptr<const gguf::File>& file, const Subject& subject) {
    const Registry& registry = Registry::kept();
    RunOptions o;
    o.devices = subject.devices;
    o.n_threads = subject.n_threads;
    o.n_ctx = 512;
    o.n_gpu_layers = subject.n_gpu_layers;
    o.sampling.temperature = 0.0F;
    o.sampling.ignore_eos = true;
    o.kernel_times = subject.times;
    return std::make_unique<Session>(registry, file, o);
}

/// Takes what the runtime writes and drops it: what making records costs the runtime, without a writer.
class Sink : public Recorder {
public:
    void session(const SessionInfo&) override {}
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return texts_.intern(text); }
    void keep(const Record& record) override { benchmark::DoNotOptimize(record); }
    void keep_part(const PartRecord& record) override { benchmark::DoNotOptimize(record); }

private:
    Interner texts_;
};

struct Cost {
    double ns = 0, thread_ns = 0; ///< of the decoding
    double cpu_ns = 0;            ///< of all threads, until the last record is in the file
};

double cpu_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Cost decode(Session& session, Recorder* recorder, TraceWriter& writer, int32_t n_decode) {
    session.set_recorder(recorder);
    writer.sync(); // what the session is
    const double before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID), thread_before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    GenerateRequest request;
    request.prompts.push_back({0, {1, 300, 301, 302}, std::nullopt});
    request.n_predict = n_decode;
    const auto ns = static_cast<double>(generate(session, request).generate_ns);
    const double thread_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - thread_before;
    writer.sync(); // nothing is left over for the next
    return {ns, thread_ns, cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - before};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// How much longer the same takes with the recorder (null: none) than without, in percent: the median over pairs of runs, whose
/// order changes.
struct Overhead {
    double time = 0, thread = 0, cpu = 0;
    double plain_ns = 0;
};
Overhead overhead(Session& session, Recorder* recorder, TraceWriter& writer, const Subject& subject) {
    decode(session, recorder, writer, subject.n_decode);
    std::vector<double> times, threads, cpus, plain_times;
    for (int pair = 0; pair < subject.n_pairs; ++pair) {
        const bool plain_first = pair % 2 == 0;
        const Cost first = decode(session, plain_first ? nullptr : recorder, writer, subject.n_decode);
        const Cost second = decode(session, plain_first ? recorder : nullptr, writer, subject.n_decode);
        const Cost &without = plain_first ? first : second, &with = plain_first ? second : first;
        times.push_back(100 * (with.ns / without.ns - 1));
        threads.push_back(100 * (with.thread_ns / without.thread_ns - 1));
        cpus.push_back(100 * (with.cpu_ns / without.cpu_ns - 1));
        plain_times.push_back(without.ns);
    }
    return {median(times), median(threads), median(cpus), median(plain_times)};
}

void recorded_decode(benchmark::State& state, const Subject& subject) {
    const auto file = std::make_shared<const gguf::File>(
        synthesise_in_memory(synth_preset("llama", subject.preset), subject.type, 1, "made up"));
    const std::string path =
        (std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + ".trace")).string();
    for (auto _ : state) {
        TraceWriter writer(path);
        Sink sink;
        const auto session = session_of(file, subject);
        const Overhead nothing = overhead(*session, nullptr, writer, subject);
        const Overhead making = overhead(*session, &sink, writer, subject);
        const Overhead all = overhead(*session, &writer, writer, subject);
        writer.close();
        state.counters["noise_percent"] = nothing.time;
        state.counters["records_percent"] = making.time;
        state.counters["records_thread_percent"] = making.thread;
        state.counters["overhead_percent"] = all.time;
        state.counters["thread_percent"] = all.thread;
        state.counters["cpu_percent"] = all.cpu;
        state.counters["tokens/s"] = subject.n_decode * 1e9 / all.plain_ns;
        state.counters["bytes/token"] =
            static_cast<double>(std::filesystem::file_size(path)) / ((subject.n_pairs + 1) * (subject.n_decode + 1));
    }
    std::filesystem::remove(path);
}

/// At each level, and as it is by itself.
void add_levels(const std::string& name, Subject subject) {
    for (const std::optional<KernelTimes> times : {std::optional<KernelTimes>(), std::optional(KernelTimes::none),
                                                   std::optional(KernelTimes::splits), std::optional(KernelTimes::kernels)}) {
        subject.times = times;
        const std::string level = times ? std::string(kernel_times_name(*times)) : "usual";
        benchmark::RegisterBenchmark(("recorded_decode/" + name + "/" + level).c_str(),
                                     [subject](benchmark::State& state) { recorded_decode(state, subject); })
            ->Unit(benchmark::kMillisecond)
            ->Iterations(1)
            ->UseRealTime();
    }
}

// All cores compute, so that the writer must take its time from them; one core is free, as where a program has fewer threads than
// the machine.
[[maybe_unused]] const bool added = [] {
    add_levels("110m_f16", {"110m", Type::F16, "cpu"});
    add_levels("110m_q8_0", {"110m", Type::Q8_0, "cpu"});
    add_levels("110m_f16_core_free", {"110m", Type::F16, "cpu", {}, std::max(1, physical_cores() - 1)});
    add_levels("tiny_f16", {"tiny", Type::F16, "cpu", {}, 0, 480, 31});
    if (Registry().find("vulkan0") != nullptr) {
        add_levels("vulkan_110m_f16_3_layers", {"110m", Type::F16, "vulkan0,cpu", {}, 0, 32, 5, 3});
        add_levels("vulkan_tiny_f16", {"tiny", Type::F16, "vulkan0,cpu", {}, 0, 128});
    }
    return true;
}();

} // namespace
