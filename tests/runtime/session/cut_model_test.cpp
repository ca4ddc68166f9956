// A model's file that is cut short while it generates: an error, no token that was computed from what is not there, and a trace
// that ends properly.
#include "runtime/session/generate.h"
#include "tests/support/models/made_model.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::EndsWith;

namespace {

class CutModel : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string first = std::string(GetParam()).substr(0, std::string(GetParam()).find(','));
        if (registry.find(first) == nullptr) {
            GTEST_SKIP() << "no device " << first;
        }
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        synthesise(small_shape(), Type::F32, 1, path);
        options.model = path;
        options.devices = GetParam();
        options.n_gpu_layers = 2; // the first block stays on the CPU
        options.n_threads = 2;
        options.n_ctx = 256;
        options.sampling.temperature = 0.0F;
        options.sampling.ignore_eos = true;
        for (Token t = 1; t <= 40; ++t) { // enough rows for BLAS
            prompt.push_back(t);
        }
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    /// Generates, and cuts the file when `n` tokens are there. Returns what is said of it.
    std::string cut_after(int32_t n, int32_t tokens, Recorder* recorder) {
        return sentence_of(ErrorKind::input, [&] {
            Session session(registry, options, recorder);
            GenerateRequest request;
            request.prompts.push_back({0, prompt, std::nullopt});
            request.n_predict = tokens;
            request.on_token = [&](const Choice& choice) {
                told.push_back(choice.token);
                if (choice.index + 1 == n) {
                    std::filesystem::resize_file(path, 16384);
                }
            };
            generate(session, request);
        });
    }

    Registry registry;
    const std::string folder = ::testing::TempDir() + "schedscope-cut-" + std::to_string(getpid());
    const std::string path = folder + "/model.gguf", trace = folder + "/t.trace";
    RunOptions options;
    std::vector<Token> prompt, told;
};

INSTANTIATE_TEST_SUITE_P(Devices, CutModel, ::testing::Values("cpu", "blas,cpu", "vulkan0,cpu"),
                         [](const auto& info) { return std::string(info.param).substr(0, std::string(info.param).find(',')); });

TEST_P(CutModel, GivesNoMoreTokens) {
    EXPECT_EQ(cut_after(2, 6, nullptr), path + ": was cut short while it was read");
    EXPECT_EQ(told.size(), 2U);
}

TEST_P(CutModel, LeavesATraceOfAllThatWasBefore) {
    {
        TraceWriter writer(trace);
        EXPECT_THAT(cut_after(2, 6, &writer), EndsWith("was cut short while it was read"));
    }
    EXPECT_FALSE(std::filesystem::exists(trace + "-wal"));
    EXPECT_EQ(check_integrity(trace), std::nullopt);
    const auto reader = std::make_shared<TraceReader>(trace);
    ASSERT_EQ(reader->n_evaluations(), 3); // the prompt, the first token, and the one that failed
    std::vector<Token> recorded;
    std::vector<std::string> errors;
    reader->for_each(0, reader->n_steps(), [&](const Record& r) {
        if (const auto* token = std::get_if<record::NextToken>(&r.fact)) {
            recorded.push_back(*token->token);
        } else if (const auto* end = std::get_if<record::EvaluationEnd>(&r.fact)) {
            errors.emplace_back(reader->text(end->error));
        }
    });
    EXPECT_THAT(errors, ::testing::ElementsAre("", "", path + ": was cut short while it was read"));
    EXPECT_EQ(recorded, told);
}

TEST_P(CutModel, IsNotLoaded) {
    ModelFiles files = open_models(options);
    std::filesystem::resize_file(path, 16384);
    EXPECT_EQ(sentence_of(ErrorKind::input, [&] { Session session(registry, std::move(files), options); }),
              path + ": was cut short while it was read");
}

} // namespace
