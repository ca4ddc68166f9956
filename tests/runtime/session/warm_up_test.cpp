// What a run pays once is paid before it, and nothing else of it is to be seen.

#include "runtime/session/warm_up.h"

#include "runtime/error.h"
#include "tests/support/models/made_model.h"
#include "tests/support/models/reference.h"
#include "tests/support/traces/notebook.h"
#include "tests/support/traces/plan_record.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

/// A run of its own devices, whose shaders nothing has compiled yet.
struct FreshRun {
    FreshRun(const RunOptions& options, bool warm, int32_t n_prompt = 40) : session(registry, made_model(), options, &record) {
        GenerateRequest request;
        request.n_predict = 4;
        request.warm_up = warm;
        std::vector<Token> tokens;
        for (int32_t i = 0; i < n_prompt; ++i) {
            tokens.push_back(i == 0 ? 1 : 260 + i % 60);
        }
        request.prompts.push_back({0, tokens});
        result = generate(session, request);
    }

    /// What was decided, in order: all records but those of times.
    std::vector<std::string> decisions() const {
        std::vector<std::string> all;
        for (const Record& r : record.records) {
            std::string line = std::to_string(r.evaluation) + " ";
            std::visit(
                [&]<typename T>(const T& fact) {
                    if constexpr (std::is_same_v<T, record::Assign>) {
                        line += "assign " + std::to_string(fact.tensor) + " " + std::to_string(fact.after.value_or(no_backend));
                    } else if constexpr (std::is_same_v<T, record::Placement>) {
                        line += "placement " + std::to_string(fact.tensor) + " " + std::to_string(fact.offset);
                    } else if constexpr (std::is_same_v<T, record::BufferSize>) {
                        line += "buffer " + std::to_string(fact.size) + " " + std::to_string(fact.before.value_or(-1));
                    } else if constexpr (std::is_same_v<T, record::NextToken>) {
                        line += "token " + std::to_string(fact.token.value_or(-1));
                    } else if constexpr (std::is_same_v<T, record::EvaluationBegin>) {
                        line += "evaluation of " + std::to_string(fact.n_tokens.value_or(-1));
                    } else {
                        line.clear();
                    }
                },
                r.fact);
            if (!line.empty()) {
                all.push_back(std::move(line));
            }
        }
        return all;
    }
    int32_t shaders_compiled() const {
        int32_t n = 0;
        for (const auto& wait : record.all<record::Wait>()) {
            n += wait.n_shaders;
        }
        return n;
    }

    Registry registry;
    PlanRecord record;
    Session session;
    GenerateResult result;
};

RunOptions options_on(const std::string& devices) {
    RunOptions o = greedy_options("made");
    o.devices = devices;
    o.n_gpu_layers = 1;
    o.n_ctx = 256;
    o.sampling.ignore_eos = true;
    return o;
}

class WarmUp : public ::testing::TestWithParam<bool> {
protected:
    /// Samplers in the graph draw random numbers of their own.
    RunOptions options(const std::string& devices) const {
        RunOptions o = options_on(devices);
        o.sample_in_graph = GetParam();
        o.sampling.temperature = GetParam() ? 0.8F : 0.0F;
        o.seed = 5;
        return o;
    }
};

TEST_P(WarmUp, ChangesNothingThatIsRecorded) {
    for (const char* devices : {"cpu", "vulkan0,cpu"}) {
        if (Registry registry; registry.find("vulkan0") == nullptr && std::string_view(devices) != "cpu") {
            continue;
        }
        const FreshRun cold(options(devices), false), warm(options(devices), true);
        EXPECT_EQ(cold.decisions(), warm.decisions()) << devices;
        EXPECT_EQ(cold.session.context().n_evaluations(), warm.session.context().n_evaluations()) << devices;
        EXPECT_EQ(cold.result.n_prompt, warm.result.n_prompt);
        EXPECT_EQ(cold.result.sequences[0].tokens, warm.result.sequences[0].tokens) << devices;
    }
}

TEST_P(WarmUp, LeavesNoShaderToCompile) {
    Registry registry;
    NEEDS_DEVICES(registry, "vulkan0,cpu");
    RunOptions o = options("vulkan0,cpu");
    o.n_ubatch = 24; // the prompt's end is shorter than its beginning
    o.n_gpu_layers = 99;
    EXPECT_GT(FreshRun(o, false).shaders_compiled(), 3);
    EXPECT_EQ(FreshRun(o, true).shaders_compiled(), 0);
}

INSTANTIATE_TEST_SUITE_P(Sampling, WarmUp, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "InTheGraph" : "OnTheHost"; });

TEST(Compilation, IsAWaitBeforeItsKernels) {
    Registry registry;
    NEEDS_DEVICES(registry, "vulkan0,cpu");
    RunOptions o = options_on("vulkan0,cpu");
    o.kernel_times = KernelTimes::kernels;
    const FreshRun cold(o, false);
    std::optional<record::Wait> compiled;
    for (const Record& r : cold.record.records) {
        if (const auto* wait = std::get_if<record::Wait>(&r.fact); wait != nullptr && wait->n_shaders > 0) {
            EXPECT_LT(wait->start_ns, wait->end_ns);
            compiled = *wait;
        } else if (const auto* kernel = std::get_if<record::Execute>(&r.fact);
                   kernel != nullptr && compiled && kernel->split == compiled->split && kernel->backend == compiled->backend) {
            EXPECT_GE(kernel->start_ns, compiled->end_ns) << "the shaders are no part of a kernel's time";
        } else if (const auto* split = std::get_if<record::SplitRun>(&r.fact);
                   split != nullptr && compiled && split->split == compiled->split && split->start_ns) {
            EXPECT_GE(*split->start_ns, compiled->end_ns) << "nor of the split's";
            compiled.reset();
        }
    }
}

TEST(WarmUpAlone, RefusesWhatTheRunRefuses) {
    const Registry registry;
    Session session(registry, made_model(), options_on("cpu"));
    GenerateRequest request;
    request.warm_up = true;
    request.prompts = {{0, std::vector<Token>(257, 1)}};
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { generate(session, request); }), HasSubstr("257"));
    EXPECT_EQ(session.context().n_evaluations(), 0);
}

/// A recorder that makes a file makes it before the first evaluation, whose time that is no part of.
class MadeReady final : public Notebook {
public:
    void flush() override { is_ready = true; }
    void keep(const Record& record) override {
        begun_early = begun_early || (!is_ready && std::holds_alternative<record::EvaluationBegin>(record.fact));
        Notebook::keep(record);
    }
    bool is_ready = false, begun_early = false;
};

TEST(ARecorder, IsMadeReadyBeforeTheFirstEvaluation) {
    const Registry registry;
    MadeReady recorder;
    Session session(registry, made_model(), options_on("cpu"), &recorder);
    GenerateRequest request;
    request.prompts.push_back({0, {1, 2, 3}});
    request.n_predict = 1;
    generate(session, request);
    EXPECT_FALSE(recorder.all<record::EvaluationBegin>().empty());
    EXPECT_FALSE(recorder.begun_early);
}

} // namespace
} // namespace schedscope::test
