#include "inspector/cli/bench/bench.h"

#include "runtime/backend/registry.h"
#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/memory/allocate.h"
#include "runtime/sampling/make_chain.h"
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

/// The tests on one session. What stands in front of a test stays in the cache for the next.
class TestRun {
public:
    TestRun(Session& session, const BenchRequest& request, std::string devices)
        : session_(session), context_(session.context()), request_(request), devices_(std::move(devices)),
          tokens_(made_up_tokens(session, context_.options().n_ctx)) {}

    std::optional<Measured> measure(const BenchTest& test) {
        std::vector<double> rates;
        // A first run is not counted: memory is touched, shaders are compiled.
        for (int i = request_.warm_up ? 0 : 1; i <= request_.repetitions && !stopped(); ++i) {
            tell(test, i);
            fill(test.depth);
            const int64_t ns = test.n_prompt > 0 ? prompt_ns(test) : generation_ns(test);
            const int64_t n = test.n_prompt > 0 ? test.n_prompt : int64_t{test.n_generate} * test.sequences;
            if (i > 0 && ns > 0 && !stopped()) {
                rates.push_back(1e9 * to_double(n) / to_double(ns));
            }
            for (int32_t sequence = 1; sequence < test.sequences; ++sequence) {
                context_.cells().remove(sequence, 0, -1);
            }
            context_.cells().remove(0, test.depth, -1);
        }
        return mean_of(rates);
    }

private:
    bool stopped() const { return request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed); }

    void tell(const BenchTest& test, int repetition) const {
        if (!request_.progress) {
            return;
        }
        std::string what =
            test.n_prompt > 0 ? "prompt of " + std::to_string(test.n_prompt) : "generation of " + std::to_string(test.n_generate);
        what += test.sequences > 1 ? " in " + std::to_string(test.sequences) + " sequences" : "";
        what += test.depth > 0 ? " behind " + std::to_string(test.depth) : "";
        request_.progress(devices_ + "  " + what + "  " + std::to_string(repetition) + "/" +
                          std::to_string(request_.repetitions));
    }

    /// Tokens [from, to) of sequence 0, in batches as a prompt is decoded; the last one has an output where it is wanted.
    void decode(int32_t from, int32_t to, bool with_output) {
        while (from < to && !stopped()) {
            const int32_t end = std::min(to, from + context_.options().n_batch);
            Batch batch;
            for (int32_t i = from; i < end; ++i) {
                batch.add(tokens_[i], i, only_sequence(0), with_output && i + 1 == to);
            }
            context_.decode(batch);
            from = end;
        }
    }

    void fill(int32_t depth) {
        context_.cells().remove(0, depth, -1);
        decode(std::min(filled_, depth), depth, false);
        filled_ = depth;
    }

    int64_t prompt_ns(const BenchTest& test) {
        const int64_t begin = now_ns();
        decode(test.depth, test.depth + test.n_prompt, true);
        return now_ns() - begin;
    }

    /// Each token is the likeliest behind the one before it.
    int64_t generation_ns(const BenchTest& test) {
        std::vector<Token> last(test.sequences, tokens_[test.depth]);
        for (int32_t sequence = 1; sequence < test.sequences; ++sequence) {
            context_.cells().copy(0, sequence, 0, test.depth);
        }
        SamplerChain chain = make_chain(session_.sampling(), 0);
        Batch batch;
        const int64_t begin = now_ns();
        for (int32_t i = 0; i < test.n_generate && !stopped(); ++i) {
            batch.clear();
            batch.kind = GraphKind::decode;
            for (int32_t sequence = 0; sequence < test.sequences; ++sequence) {
                batch.add(last[sequence], test.depth + i, only_sequence(sequence), true);
            }
            context_.decode(batch);
            for (int32_t sequence = 0; sequence < test.sequences; ++sequence) {
                last[sequence] = chain.choose(context_.logits(sequence));
            }
        }
        return now_ns() - begin;
    }

    Session& session_;
    InferenceContext& context_;
    const BenchRequest& request_;
    std::string devices_;       ///< as shown
    std::vector<Token> tokens_; ///< [n_ctx]
    int32_t filled_ = 0;        ///< tokens of sequence 0 in the cache
};

class BenchRun {
public:
    BenchRun(const Registry& registry, std::shared_ptr<const gguf::File> file, const BenchRequest& request, std::string devices,
             int n_threads)
        : registry_(registry), file_(std::move(file)), request_(request), devices_(std::move(devices)), n_threads_(n_threads) {}

    /// Nothing: it was stopped.
    std::optional<BenchCase> measure() {
        BenchCase c;
        auto session = make_session(nullptr);
        c.devices = joined(session->backends(), ", ", &Backend::name);
        c.n_threads = n_threads_;
        for (const auto& backend : session->backends()) {
            c.on_processors = c.on_processors && backend->device().kind() != DeviceKind::gpu;
        }
        c.tests = tests_of(request_);
        {
            TestRun runs(*session, request_, c.devices);
            for (BenchTest& test : c.tests) {
                test.tokens_per_s = runs.measure(test);
            }
        }
        session.reset(); // a second one beside it may not fit
        if (request_.overheads && !stopped()) {
            measure_planning(c);
            for (const KernelTimes times : {KernelTimes::none, KernelTimes::splits, KernelTimes::kernels}) {
                if (request_.n_generate > 0 && !stopped()) {
                    measure_recording(times, c);
                }
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

    std::unique_ptr<Session> make_session(Recorder* recorder, bool only_plans = false,
                                          KernelTimes times = KernelTimes::kernels) const {
        RunOptions o = request_.run;
        o.devices = devices_;
        o.n_threads = n_threads_;
        o.n_ctx = 1;
        for (const BenchTest& test : tests_of(request_)) {
            o.n_ctx = std::max(o.n_ctx, test.depth + std::max(test.n_prompt, test.n_generate * test.sequences) + 1);
        }
        o.header_only = only_plans;
        o.kernel_times = times;
        o.sampling.temperature = 0.0F;
        o.sampling.ignore_eos = true;
        auto session = std::make_unique<Session>(registry_, file_, o, recorder);
        session->settle_weights();
        return session;
    }

    /// A prompt, and `n_generate` evaluations of one token each behind it: the first token comes from the prompt's own.
    GenerateRequest tokens(const Session& session, int32_t n_prompt, int32_t n_generate) const {
        GenerateRequest r;
        r.prompts.push_back({0, made_up_tokens(session, n_prompt), std::nullopt});
        r.n_predict = n_generate > 0 ? n_generate + 1 : 0;
        r.stop = request_.stop;
        return r;
    }

    /// The planner alone, on the graph that generating a token plans, with the answers that the devices gave.
    void measure_planning(BenchCase& c) const {
        tell(c.devices + "  planning");
        const auto store = std::make_shared<LiveStore>();
        const auto session = make_session(store.get(), true);
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

    /// The same tokens of the same session with a trace and without, in turns, so that whatever else the machine does meets both;
    /// where two sessions' weights happen to lie in memory makes more of a difference than a trace.
    void measure_recording(KernelTimes times, BenchCase& c) const {
        try {
            const ScratchTrace trace;
            TraceWriter writer(trace.path());
            const auto session = make_session(&writer, false, times);
            const GenerateRequest r = tokens(*session, 1, std::min(request_.n_generate, most_recorded));
            const auto nanoseconds = [&](Recorder* recorder) {
                session->set_recorder(recorder);
                writer.sync(); // what the session is
                const auto ns = to_double(generate(*session, r).generate_ns);
                writer.sync(); // nothing is left over for the next
                return ns;
            };
            if (request_.warm_up) {
                nanoseconds(&writer);
            }
            std::vector<double> longer;
            for (int i = 0; i < request_.repetitions && !stopped(); ++i) {
                tell(c.devices + "  recording, times of " + std::string(kernel_times_name(times)) + "  " + std::to_string(i + 1) +
                     "/" + std::to_string(request_.repetitions));
                const bool plain_first = i % 2 == 0;
                const double first = nanoseconds(plain_first ? nullptr : &writer);
                const double second = nanoseconds(plain_first ? &writer : nullptr);
                const double without = plain_first ? first : second, with = plain_first ? second : first;
                if (without > 0) {
                    longer.push_back(with / without - 1);
                }
            }
            writer.close();
            if (const auto mean = mean_of(longer)) {
                c.recording.push_back({times, *mean});
            }
        } catch (const Error& error) { // a folder may be full: the rest is measured all the same
            c.why_not_recorded = error.what();
        }
    }

    const Registry& registry_;
    std::shared_ptr<const gguf::File> file_;
    const BenchRequest& request_;
    std::string devices_; ///< as the session's options want them
    int n_threads_;
};

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

std::string BenchTest::name() const {
    return (n_prompt > 0 ? "pp" + std::to_string(n_prompt) : "tg" + std::to_string(n_generate)) +
           (sequences > 1 ? " x" + std::to_string(sequences) : "") + (depth > 0 ? " @ d" + std::to_string(depth) : "");
}

std::vector<BenchTest> tests_of(const BenchRequest& request) {
    std::vector<BenchTest> tests;
    for (const int32_t depth : request.depths) {
        if (request.n_prompt > 0) {
            tests.push_back({request.n_prompt, 0, depth, 1});
        }
        for (const int32_t sequences : request.batches) {
            if (request.n_generate > 0) {
                tests.push_back({0, request.n_generate, depth, sequences});
            }
        }
    }
    return tests;
}

std::vector<BenchCase> run_bench(const Registry& registry, const std::shared_ptr<const gguf::File>& file,
                                 const BenchRequest& request) {
    std::vector<BenchCase> cases;
    for (const std::string& devices : request.devices) {
        for (const int n_threads : request.threads) {
            std::optional<BenchCase> c = BenchRun(registry, file, request, devices, n_threads).measure();
            if (!c) {
                return cases;
            }
            cases.push_back(std::move(*c));
        }
    }
    return cases;
}

} // namespace schedscope
