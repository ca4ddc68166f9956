// A dry run of a llama with 70 billion parameters: its header is read, the graphs of a prompt and of a token are built and
// planned, memory is planned. Target: less than 100 ms without a recorder.

#include "runtime/error.h"
#include "runtime/model/synth/synth.h"
#include "runtime/session/generate.h"
#include "traces/store/live_store.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace {

using namespace schedscope;

/// A header on the disk, removed at the end.
class Header {
public:
    Header() : path_(std::filesystem::temp_directory_path() / ("dry-run-" + std::to_string(getpid()) + ".gguf")) {
        synthesise_header(synth_preset("llama", "70b"), Type::Q8_0, 1, path_.string());
    }
    ~Header() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

const Header& header() {
    static const Header file;
    return file;
}

RunOptions options() {
    RunOptions o;
    o.model = header().path();
    o.devices = "big=vulkan:48GiB,small=vulkan:24GiB,cpu";
    o.n_gpu_layers = 60;
    o.n_threads = 1;
    o.header_only = true;
    return o;
}

void plan(const Registry& registry, Recorder* recorder) {
    Session session(registry, options(), recorder);
    GenerateRequest request;
    request.prompts.push_back({0, std::vector<Token>(512, 1), std::nullopt});
    plan_generation(session, request);
    if (session.scheduler().n_splits() == 0) {
        std::abort();
    }
}

void dry_run(benchmark::State& state) {
    const Registry& registry = Registry::kept();
    for (auto _ : state) {
        plan(registry, nullptr);
    }
}

void dry_run_recorded(benchmark::State& state) {
    const Registry& registry = Registry::kept();
    for (auto _ : state) {
        LiveStore store;
        plan(registry, &store);
    }
}

void read_header(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(gguf::File::open(header().path()).tensors().size());
    }
}

BENCHMARK(read_header)->Unit(benchmark::kMillisecond);
BENCHMARK(dry_run)->Unit(benchmark::kMillisecond);
BENCHMARK(dry_run_recorded)->Unit(benchmark::kMillisecond);

} // namespace
