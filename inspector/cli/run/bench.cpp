#include "inspector/cli/run/bench.h"

#include "runtime/backend/registry.h"
#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/memory/allocate.h"
#include "runtime/session/generate.h"
#include "runtime/system/joined.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include <unistd.h>

namespace schedscope {

namespace {

constexpr int plan_rounds = 20;       ///< plans a repetition; the fastest counts
constexpr int32_t most_recorded = 32; ///< tokens of one run that is recorded

/// An empty file for a trace that is not kept.
class ScratchTrace {
public:
    ScratchTrace() {
        std::error_code error;
        path_ = (std::filesystem::temp_directory_path(error) / "schedscope-bench-XXXXXX").string();
        if (error) {
            throw Error(ErrorKind::device, "the folder for temporary files: " + error.message());
        }
        const int file = mkstemp(path_.data());
        if (file < 0) {
            throw Error(ErrorKind::device, path_ + ": can't be made");
        }
        close(file);
    }
    ~ScratchTrace() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ScratchTrace(const ScratchTrace&) = delete;
    ScratchTrace& operator=(const ScratchTrace&) = delete;
    const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

/// Tokens that are there in every vocabulary and not all the same.
std::vector<Token> made_up_tokens(const Session& session, int32_t n) {
    const int32_t n_vocab = session.model().hparams().n_vocab;
    std::vector<Token> tokens;
    tokens.reserve(n);
    for (int32_t i = 0; i < n; ++i) {
        tokens.push_back(i == 0 ? std::min(1, n_vocab - 1) : (300 + 37 * i) % n_vocab);
    }
    return tokens;
}

class BenchRun {
public:
    BenchRun(const Registry& registry, std::shared_ptr<const gguf::File> file, const BenchRequest& request)
        : registry_(registry), file_(std::move(file)), request_(request) {}

    /// Nothing: it was stopped.
    std::optional<BenchCase> measure(const std::string& devices) {
        BenchCase c;
        const auto session = make_session(devices, nullptr);
        c.devices = joined(session->backends(), ", ", &Backend::name);
        for (const auto& backend : session->backends()) {
            c.on_processors = c.on_processors && backend->device().kind() != DeviceKind::gpu;
        }
        if (request_.n_prompt > 0) {
            c.prompt = rate(*session, c.devices + "  prompt of " + std::to_string(request_.n_prompt), request_.n_prompt, 0);
        }
        if (request_.n_generate > 0) {
            c.generation =
                rate(*session, c.devices + "  generation of " + std::to_string(request_.n_generate), 1, request_.n_generate);
        }
        measure_planning(devices, c);
        if (request_.n_generate > 0 && !stopped()) {
            for (const KernelTimes times : {KernelTimes::none, KernelTimes::splits, KernelTimes::kernels}) {
                measure_recording(devices, times, *session, c);
            }
        }
        return stopped() ? std::nullopt : std::optional(std::move(c));
    }

private:
    bool stopped() const { return request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed); }
    void tell(const std::string& doing) const {
        if (request_.progress) {
            request_.progress(doing);
        }
    }

    std::unique_ptr<Session> make_session(const std::string& devices, Recorder* recorder, bool only_plans = false,
                                          KernelTimes times = KernelTimes::kernels) const {
        RunOptions o = request_.run;
        o.devices = devices;
        o.n_ctx = std::max(request_.n_prompt, request_.n_generate) + 1;
        o.header_only = only_plans;
        o.kernel_times = times;
        o.sampling.temperature = 0.0F;
        o.sampling.ignore_eos = true;
        return std::make_unique<Session>(registry_, file_, o, recorder);
    }

    /// A prompt, and `n_generate` evaluations of one token each behind it: the first token comes from the prompt's own.
    GenerateRequest tokens(const Session& session, int32_t n_prompt, int32_t n_generate) const {
        GenerateRequest r;
        r.prompts.push_back({0, made_up_tokens(session, n_prompt), std::nullopt});
        r.n_predict = n_generate > 0 ? n_generate + 1 : 0;
        r.stop = request_.stop;
        return r;
    }

    /// Tokens a second of a prompt, or where n_generate is given of what follows it.
    std::optional<Measured> rate(Session& session, const std::string& what, int32_t n_prompt, int32_t n_generate) const {
        const GenerateRequest r = tokens(session, n_prompt, n_generate);
        std::vector<double> rates;
        // A first run is not counted: memory is touched, shaders are compiled.
        for (int i = request_.warm_up ? 0 : 1; i <= request_.repetitions && !stopped(); ++i) {
            tell(what + "  " + std::to_string(i) + "/" + std::to_string(request_.repetitions));
            const GenerateResult result = generate(session, r);
            const int64_t n = n_generate > 0 ? result.n_generated - 1 : result.n_prompt;
            const int64_t ns = n_generate > 0 ? result.generate_ns : result.prompt_ns;
            if (i > 0 && ns > 0) {
                rates.push_back(1e9 * to_double(n) / to_double(ns));
            }
        }
        return mean_of(rates);
    }

    /// The planner alone, on the graph that generating a token plans, with the answers that the devices gave.
    void measure_planning(const std::string& devices, BenchCase& c) const {
        tell(c.devices + "  planning");
        const auto store = std::make_shared<LiveStore>();
        const auto session = make_session(devices, store.get(), true);
        plan_generation(*session, tokens(*session, 1, 1));
        History history(store);
        const EvaluationId planned = history.last_planned();
        if (planned < 0) {
            return;
        }
        const PlanState& state = history.plan(planned);
        const OwnedGraph& graph = store->graph(state.graph);
        const CapabilityTable& answers = store->answers(state.graph);
        const std::vector<BufferTypeInfo> buffer_types = store->session().buffer_types;
        c.n_nodes = graph.nodes.size();
        c.n_splits = n_of(state.splits);

        PlanOptions options;
        options.op_offload = request_.run.op_offload;
        options.n_stages = request_.run.stages;
        Plan plan;
        AllocatedGraph copy;
        std::vector<double> planning, allocation;
        for (int i = 0; i < request_.repetitions && !stopped(); ++i) {
            int64_t plan_ns = INT64_MAX, allocate_ns = INT64_MAX;
            Carry carry;
            for (int round = 0; round < plan_rounds; ++round) {
                const int64_t start = now_ns();
                make_plan(graph.view(), answers, options, carry, plan, nullptr);
                copy_graph(graph.view(), plan, graph.nodes, copy);
                const int64_t made = now_ns();
                MemoryPlanner planner;
                planner.place(graph.view(), plan, copy, answers, buffer_types, nullptr);
                plan_ns = std::min(plan_ns, made - start);
                allocate_ns = std::min(allocate_ns, now_ns() - made);
            }
            planning.push_back(to_double(plan_ns) / to_double(c.n_nodes));
            allocation.push_back(to_double(allocate_ns) / to_double(c.n_nodes));
        }
        c.planning = mean_of(planning);
        c.allocation = mean_of(allocation);
    }

    /// The same tokens with a trace and without, in turns, so that whatever else the machine does meets both.
    void measure_recording(const std::string& devices, KernelTimes times, Session& plain, BenchCase& c) const {
        try {
            const ScratchTrace trace;
            TraceWriter writer(trace.path());
            const auto recorded = make_session(devices, &writer, false, times);
            const GenerateRequest r = tokens(plain, 1, std::min(request_.n_generate, most_recorded));
            const auto nanoseconds = [&](Session& session) {
                const auto ns = to_double(generate(session, r).generate_ns);
                writer.sync(); // nothing is left over for the next
                return ns;
            };
            if (request_.warm_up) {
                nanoseconds(*recorded);
            }
            std::vector<double> longer;
            for (int i = 0; i < request_.repetitions && !stopped(); ++i) {
                tell(c.devices + "  recording, times of " + std::string(kernel_times_name(times)) + "  " + std::to_string(i + 1) +
                     "/" + std::to_string(request_.repetitions));
                const bool plain_first = i % 2 == 0;
                const double first = nanoseconds(plain_first ? plain : *recorded);
                const double second = nanoseconds(plain_first ? *recorded : plain);
                const double without = plain_first ? first : second, with = plain_first ? second : first;
                if (without > 0) {
                    longer.push_back(with / without - 1);
                }
            }
            writer.close();
            if (const auto mean = mean_of(longer)) {
                c.recording.push_back({times, *mean});
            }
        } catch (const Error& error) { // a second session may not fit, a folder may be full: the rest is measured all the same
            c.why_not_recorded = error.what();
        }
    }

    const Registry& registry_;
    std::shared_ptr<const gguf::File> file_;
    const BenchRequest& request_;
};

/// Of all experts, how many a token uses; 1 without any.
double share_of_experts(const gguf::File& file) {
    const std::string architecture(file.get_string("general.architecture").value_or(""));
    const uint32_t used = file.get_u32(architecture + ".expert_used_count").value_or(1);
    const uint32_t all = file.get_u32(architecture + ".expert_count").value_or(1);
    return all > 0 ? to_double(used) / all : 1;
}

} // namespace

std::optional<Measured> mean_of(std::span<const double> values) {
    if (values.empty()) {
        return std::nullopt;
    }
    Measured m;
    const auto n = to_double(values.size());
    m.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double v : values) {
        squares += (v - m.mean) * (v - m.mean);
    }
    m.deviation = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
    return m;
}

BenchWork work_of(const gguf::File& file) {
    const double experts = share_of_experts(file);
    bool has_output = false;
    for (const gguf::FileTensor& t : file.tensors()) {
        has_output = has_output || t.name == "output.weight";
    }
    BenchWork work;
    for (const gguf::FileTensor& t : file.tensors()) {
        const bool embedding = t.name == "token_embd.weight", output = t.name == "output.weight";
        if (t.n_dims < 2 || (embedding && has_output)) { // of the embeddings a row is read, unless they are the output, too
            continue;
        }
        const double share = t.name.find("_exps.") != std::string::npos ? experts : 1;
        work.bytes_per_token += share * to_double(t.bytes);
        if (!embedding && !output) {
            double elements = share;
            for (const int64_t n : t.ne) {
                elements *= to_double(n);
            }
            work.flops_per_prompt_token += 2 * elements;
        }
    }
    return work;
}

std::vector<BenchCase> run_bench(const Registry& registry, const std::shared_ptr<const gguf::File>& file,
                                 const BenchRequest& request) {
    std::vector<BenchCase> cases;
    for (const std::string& devices : request.devices) {
        std::optional<BenchCase> c = BenchRun(registry, file, request).measure(devices);
        if (!c) {
            break;
        }
        cases.push_back(std::move(*c));
    }
    return cases;
}

} // namespace schedscope
