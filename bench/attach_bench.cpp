#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// What recording costs a program that is not ours: the newest released build of llama.cpp that is here, run by itself and under
/// `record`, in turns, so that whatever else the machine does meets both. It measures itself, with its own clock.
///
/// attach/graph: a graph of its own (scheduled_graph.c): "plan_ns/node" is what a plan takes longer when it is recorded, for each
/// node; "compute_ns" the same of a computation of a plan that is there. Medians of the pairs; "_low", "_high": a quarter of the
/// pairs is below, above.
/// attach/tokens: tokens of a model, one thread: "overhead_percent" is how much longer the median token of a recorded run is;
/// "program_cpu_percent" how much more of the processor the program takes for all of them; "recorder_cpu_us/token" what the
/// recorder takes beside it, from its start to the finished trace. "noise_percent": two runs by themselves, one pair apart.
namespace {

using namespace schedscope;
namespace fs = std::filesystem;

/// A folder that goes with it.
struct Scratch {
    Scratch() : path(fs::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()))) {
        fs::create_directories(path);
    }
    ~Scratch() { fs::remove_all(path); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string file(const std::string& name) const { return (path / name).string(); }
    fs::path path;
};

using Command = std::vector<std::string>;

/// Seconds of the processor, of the program and all that it waited for. None: it failed.
std::optional<double> run(const Command& command) {
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        std::vector<char*> argv;
        argv.reserve(command.size() + 1);
        for (const std::string& argument : command) {
            argv.push_back(const_cast<char*>(argument.c_str()));
        }
        argv.push_back(nullptr);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child || status != 0) {
        return std::nullopt;
    }
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Command recorded(const Command& command, const Scratch& scratch) {
    Command all = {paths::program("schedscope"), "record", "--force", "-o", scratch.file("run.trace"), "--"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[std::min(values.size() - 1, static_cast<size_t>(q * static_cast<double>(values.size())))];
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

void count(benchmark::State& state, const std::string& name, const std::vector<double>& values) {
    state.counters[name] = median(values);
    state.counters[name + "_low"] = quantile(values, 0.25);
    state.counters[name + "_high"] = quantile(values, 0.75);
}

/// The newest build; the benchmark is left out where there is none.
std::optional<test::Released> newest(benchmark::State& state) {
    const std::vector<test::Released> builds = test::released_builds();
    if (builds.empty()) {
        state.SkipWithError("no released build of llama.cpp is here: tests/support/ggml/fixtures.sh");
        return std::nullopt;
    }
    return builds.back();
}

struct GraphTimes {
    double nodes = 0, plan_ns = 0, compute_ns = 0;
};
GraphTimes graph_times(const std::string& file) {
    GraphTimes times;
    std::vector<double> plans, computes;
    std::ifstream in(file);
    double value = 0;
    for (std::string what; in >> what >> value;) {
        if (what == "nodes") {
            times.nodes = value;
        } else {
            (what == "plan" ? plans : computes).push_back(value);
        }
    }
    times.plan_ns = median(plans);
    times.compute_ns = median(computes);
    return times;
}

void own_graph(benchmark::State& state) {
    constexpr int n_pairs = 7;
    const std::optional<test::Released> build = newest(state);
    if (!build) {
        return;
    }
    const std::string libraries = build->folder + "/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/";
    const Scratch scratch;
    const std::string file = scratch.file("times");
    const Command command = {paths::program("scheduled_graph"), file, "192", "1500", libraries + "libggml-base.so",
                             libraries + "libggml-cpu-x64.so"};
    std::vector<double> plan, compute, plain_plan, plain_compute;
    for (auto _ : state) {
        for (int pair = 0; pair < n_pairs; ++pair) {
            if (!run(command)) {
                state.SkipWithError(("scheduled_graph fails with " + build->version).c_str());
                return;
            }
            const GraphTimes without = graph_times(file);
            if (!run(recorded(command, scratch))) {
                state.SkipWithError("scheduled_graph fails when it is recorded");
                return;
            }
            const GraphTimes with = graph_times(file);
            plan.push_back((with.plan_ns - without.plan_ns) / with.nodes);
            compute.push_back(with.compute_ns - without.compute_ns);
            plain_plan.push_back(without.plan_ns / without.nodes);
            plain_compute.push_back(without.compute_ns);
        }
    }
    count(state, "plan_ns/node", plan);
    count(state, "compute_ns", compute);
    state.counters["ggml_plan_ns/node"] = median(plain_plan);
    state.counters["ggml_compute_ns"] = median(plain_compute);
}

struct TokenTimes {
    double ns = 0;     ///< of the median token
    double cpu_ns = 0; ///< of a token, all threads
};
TokenTimes token_times(const std::string& file) {
    std::vector<double> times;
    double cpu = 0;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        double value = 0;
        while (words >> value) {
            times.push_back(value);
        }
        words.clear();
        std::string word;
        words >> word >> value;
        cpu += value;
    }
    fs::remove(file);
    return {median(times), cpu / static_cast<double>(std::max<size_t>(times.size(), 1))};
}

struct Subject {
    const char* preset; ///< of `synth`; null: the story model
    int n_tokens, n_contexts, n_pairs;
    bool reuse = true; ///< ggml's plans are used again
};

void tokens(benchmark::State& state, const Subject& subject) {
    const std::optional<test::Released> build = newest(state);
    if (!build) {
        return;
    }
    const Scratch scratch;
    std::string model = paths::shared("models/stories260K-f32.gguf");
    if (subject.preset != nullptr) {
        model = scratch.file("model.gguf");
        run({paths::program("schedscope"), "synth", "llama", "--preset", subject.preset, "--type", "f32", "-o", model});
    }
    if (!fs::exists(model)) {
        state.SkipWithError(("no model: " + model).c_str());
        return;
    }
    const std::string file = scratch.file("times");
    const Command command = test::drive(*build, model,
                                        {"--threads", "1", "--tokens", std::to_string(subject.n_tokens), "--contexts",
                                         std::to_string(subject.n_contexts), "--times", file});
    setenv("LLAMA_GRAPH_REUSE_DISABLE", "1", 1); // NOLINT(concurrency-mt-unsafe): one thread
    if (subject.reuse) {
        unsetenv("LLAMA_GRAPH_REUSE_DISABLE"); // NOLINT(concurrency-mt-unsafe)
    }
    std::vector<double> overhead, noise, cpu, recorder, plain;
    for (auto _ : state) {
        for (int pair = 0; pair < subject.n_pairs; ++pair) {
            struct Ran {
                TokenTimes times;
                double cpu = 0;
            };
            const auto ran = [&](const Command& what) {
                const std::optional<double> seconds = run(what);
                return seconds ? std::optional(Ran{token_times(file), *seconds}) : std::nullopt;
            };
            // Who is first takes turns: a machine that others use gets faster and slower over seconds.
            std::optional<Ran> without, with;
            for (const bool records : {pair % 2 == 1, pair % 2 == 0}) {
                (records ? with : without) = ran(records ? recorded(command, scratch) : command);
            }
            if (!without || !with) {
                state.SkipWithError(("drive.mjs fails with " + build->version).c_str());
                return;
            }
            overhead.push_back(100 * (with->times.ns / without->times.ns - 1));
            if (!plain.empty()) {
                noise.push_back(100 * (without->times.ns / plain.back() - 1));
            }
            cpu.push_back(100 * (with->times.cpu_ns / without->times.cpu_ns - 1));
            const double n = subject.n_tokens * subject.n_contexts;
            recorder.push_back((with->cpu - without->cpu) * 1e6 / n - (with->times.cpu_ns - without->times.cpu_ns) / 1e3);
            plain.push_back(without->times.ns);
        }
    }
    count(state, "overhead_percent", overhead);
    count(state, "noise_percent", noise);
    count(state, "program_cpu_percent", cpu);
    state.counters["recorder_cpu_us/token"] = median(recorder);
    state.counters["tokens/s"] = 1e9 / median(plain);
    state.counters["recorded_tokens/s"] = 1e9 / (median(plain) * (1 + median(overhead) / 100));
}

void add(const std::string& name, void (*what)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name.c_str(), what)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
}

[[maybe_unused]] const bool added = [] {
    add("attach/graph", own_graph);
    add("attach/tokens/story", [](benchmark::State& state) { tokens(state, {nullptr, 200, 8, 16}); });
    add("attach/tokens/story_without_reuse", [](benchmark::State& state) { tokens(state, {nullptr, 200, 8, 16, false}); });
    add("attach/tokens/110m_f32", [](benchmark::State& state) { tokens(state, {"110m", 100, 1, 16}); });
    add("attach/tokens/110m_f32_without_reuse", [](benchmark::State& state) { tokens(state, {"110m", 100, 1, 16, false}); });
    return true;
}();

} // namespace
