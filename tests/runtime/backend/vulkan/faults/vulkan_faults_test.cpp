// A Vulkan device that fails at any call of the driver: one sentence, nothing kept, and what comes after works.
#include "tests/runtime/backend/vulkan/faults/vulkan_faults.h"
#include "traces/store/reading/integrity.h"

#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/session/generate.h"
#include "tests/support/models/made_model.h"
#include "tests/support/traces/plan_record.h"
#include "traces/history/history.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <unistd.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::StartsWith;

namespace {

const std::vector<int32_t> prompt{1, 300, 301};

class Faults : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        setenv("SCHEDSCOPE_VULKAN_VALIDATION", "1", 0); // as in vulkan_devices.h
        setenv("SCHEDSCOPE_VULKAN_LIKE_HARDWARE", GetParam() ? "1" : "0", 1);
        registry_ = std::make_unique<Registry>();
        if (registry_->find("vulkan0") == nullptr) {
            GTEST_SKIP() << "there is no Vulkan device";
        }
        messages_ = vulkan_validation_messages();
        options_.devices = "vulkan0,cpu";
        options_.n_gpu_layers = 2; // the first block stays on the CPU: weights, splits and copies on both sides
        options_.n_threads = 2;
        options_.n_ctx = 256;
        options_.sampling.temperature = 0.0F;
        options_.sampling.ignore_eos = true;
    }
    void TearDown() override {
        registry_.reset();
        EXPECT_EQ(driver_.live_allocations(), 0U);
        EXPECT_EQ(vulkan_validation_messages(), messages_) << "the validation layer complained (see above)";
    }

    static std::vector<Token> generate_in(Session& session) {
        GenerateRequest request;
        request.prompts.push_back({0, prompt, std::nullopt});
        request.n_predict = 4;
        return generate(session, request).sequences.at(0).tokens;
    }
    std::vector<Token> run() {
        Session session(*registry_, file_, options_, nullptr);
        return generate_in(session);
    }
    /// What `work` says when it fails; empty when it does not.
    static std::string sentence(const std::function<void()>& work) { return sentence_of(ErrorKind::device, work); }

    FaultyDriver driver_; // before the devices are opened, and until they are closed
    std::unique_ptr<Registry> registry_;
    std::shared_ptr<gguf::File> file_ = made_model();
    RunOptions options_;
    int messages_ = 0;
};

TEST_P(Faults, MemoryMayEndAtAnyAllocation) {
    const std::vector<Token> expected = run();
    driver_.relent();
    run();
    const long n = driver_.calls("vkAllocateMemory");
    ASSERT_GT(n, 3); // weights, cache, compute buffer, parameters
    const size_t live = driver_.live_allocations();
    int without = 0; // what was only to be reserved: goes on and takes what it needs when it needs it
    for (long nth = 1; nth <= n; ++nth) {
        driver_.fail("vkAllocateMemory", nth, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        std::vector<Token> tokens;
        const std::string said = sentence([&] { tokens = run(); });
        EXPECT_TRUE(driver_.failed()) << nth;
        EXPECT_EQ(driver_.live_allocations(), live) << "not freed after the fault at allocation " << nth;
        if (said.empty()) {
            EXPECT_EQ(tokens, expected) << nth << " of " << n;
            ++without;
            continue;
        }
        EXPECT_THAT(said, AllOf(HasSubstr("Vulkan0: no memory for a buffer of "), HasSubstr("out of device memory"),
                                Not(HasSubstr("\n"))))
            << nth << " of " << n;
    }
    EXPECT_THAT(without, AllOf(Ge(1), Le(2)));
    driver_.relent();
    EXPECT_EQ(run(), expected);
}

// Memory for the worst case is not there: recorded, and the run takes what it needs.
TEST_P(Faults, WhatCanNotBeReservedIsTakenWhenItIsNeeded) {
    options_.n_ctx = 4096;
    const std::vector<Token> expected = run();
    PlanRecord record;
    Session session(*registry_, file_, options_, &record);
    driver_.limit_memory(driver_.live_bytes() + 256 * 1024);
    EXPECT_EQ(generate_in(session), expected);
    const std::vector<record::Reserve> reserves = record.all<record::Reserve>();
    ASSERT_EQ(reserves.size(), 2U);
    EXPECT_THAT(record.text(reserves.back().error), HasSubstr("no memory for a buffer of "));
    EXPECT_FALSE(record.all<record::BufferSize>().empty());
}

TEST_P(Faults, ASessionGoesOnAfterAnEvaluationFailed) {
    Session session(*registry_, file_, options_, nullptr);
    const std::vector<Token> expected = generate_in(session);
    for (const std::string_view function : FaultyDriver::functions()) {
        driver_.relent();
        generate_in(session);
        const long n = driver_.calls(function);
        for (const long nth : std::set<long>{1, n / 2, n}) {
            if (nth == 0 || nth > n || function == "vkGetFenceStatus" || function == "vkDeviceWaitIdle") {
                continue; // not called here, or the answer is not needed
            }
            driver_.fail(function, nth, VK_ERROR_OUT_OF_HOST_MEMORY);
            EXPECT_THAT(sentence([&] { generate_in(session); }),
                        AllOf(StartsWith("Vulkan0"), HasSubstr("out of host memory"), Not(HasSubstr("\n"))))
                << function << " call " << nth << " of " << n;
            driver_.relent();
            EXPECT_EQ(generate_in(session), expected) << function << " call " << nth << " of " << n;
        }
    }
}

TEST_P(Faults, NothingIsLeftOfASessionThatCanNotBegin) {
    for (const std::string_view function : FaultyDriver::functions()) {
        registry_ = std::make_unique<Registry>(); // its devices are not opened yet
        driver_.fail(function, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
        const std::string said = sentence([&] { run(); });
        if (!driver_.failed() || function == "vkGetFenceStatus" || function == "vkDeviceWaitIdle") {
            continue;
        }
        EXPECT_THAT(said, AllOf(HasSubstr("Vulkan0"), HasSubstr("out of host memory"), Not(HasSubstr("\n")))) << function;
        registry_.reset();
        EXPECT_EQ(driver_.live_allocations(), 0U) << function;
    }
}

TEST_P(Faults, ALostDeviceIsSaidAndTheNextSessionHasANewOne) {
    const std::vector<Token> expected = run();
    for (const std::string_view function : {"vkQueueSubmit", "vkWaitForFences"}) {
        driver_.relent();
        run();
        const long n = driver_.calls(function);
        ASSERT_GT(n, 2) << function;
        for (const long nth : {long{1}, n / 2, n}) {
            driver_.fail(function, nth, VK_ERROR_DEVICE_LOST);
            EXPECT_THAT(sentence([&] { run(); }),
                        AllOf(StartsWith("Vulkan0"), HasSubstr("the device was lost"), Not(HasSubstr("\n"))))
                << function << " call " << nth << " of " << n;
            driver_.relent();
            EXPECT_EQ(run(), expected) << function << " call " << nth << " of " << n;
        }
    }
}

TEST_P(Faults, ASessionWhoseDeviceWasLostSaysSoEachTime) {
    Session session(*registry_, file_, options_, nullptr);
    const std::vector<Token> expected = generate_in(session);
    driver_.fail("vkQueueSubmit", 3, VK_ERROR_DEVICE_LOST);
    for (int i = 0; i < 3; ++i) {
        EXPECT_THAT(sentence([&] { generate_in(session); }), HasSubstr("the device was lost"));
    }
    driver_.relent();
    EXPECT_EQ(run(), expected) << "another session beside it";
}

TEST_P(Faults, ARecordingEndsWithTheFailureAndCanBeRead) {
    const std::string path = std::filesystem::temp_directory_path() / ("schedscope-faults-" + std::to_string(getpid()));
    std::string said;
    {
        TraceWriter writer(path);
        Session session(*registry_, file_, options_, &writer);
        generate_in(session);
        driver_.fail("vkWaitForFences", 3, VK_ERROR_DEVICE_LOST);
        said = sentence([&] { generate_in(session); });
        EXPECT_THAT(said, HasSubstr("the device was lost"));
        writer.close();
    }
    const auto reader = std::make_shared<TraceReader>(path);
    EXPECT_EQ(reader->count_failed(), 1);
    std::vector<Record> records;
    reader->read(0, reader->n_steps(), records);
    const auto& end = std::get<record::EvaluationEnd>(records.back().fact);
    EXPECT_TRUE(end.failed);
    EXPECT_EQ(reader->text(end.error), said);
    EXPECT_EQ(check_integrity(path), std::nullopt);
    History history(reader);
    EXPECT_EQ(history.state_at(history.n_steps() - 1).evaluation, history.n_evaluations() - 1);
    std::filesystem::remove(path);
}

TEST_P(Faults, MovingTheKeysOfACacheMayFail) {
    Session session(*registry_, file_, options_, nullptr);
    InferenceContext& context = session.context();
    const auto decode = [&](int32_t token, int32_t position) {
        Batch batch;
        batch.add(token, position, only_sequence(0), true);
        context.decode(batch);
    };
    for (int32_t position = 0; position < 4; ++position) {
        decode(300, position);
    }
    context.cells().remove(0, 0, 1);
    context.cells().shift(0, 1, -1, -1);
    driver_.fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_THAT(sentence([&] { decode(301, 3); }), HasSubstr("out of host memory"));
    EXPECT_EQ(context.cells().used(), 0) << "which keys were turned is not known";
    driver_.relent();
    decode(301, 0);
    EXPECT_EQ(context.n_outputs(), 1);
}

TEST_P(Faults, ADeviceThatIsTooSmallIsNamedWithWhatToDo) {
    const std::vector<Token> expected = run();
    options_.n_ctx = 512;
    size_t weights_and_cache = 0;
    {
        const Session session(*registry_, file_, options_, nullptr);
        weights_and_cache = driver_.live_bytes();
    }
    const size_t kept = driver_.live_bytes(); // the context's own: staging buffers
    const auto with_room_for = [&](size_t bytes) {
        driver_.limit_memory(kept + bytes);
        return sentence([&] { run(); });
    };
    const size_t room = weights_and_cache - kept;
    EXPECT_THAT(with_room_for(1000),
                AllOf(StartsWith("weights: "), HasSubstr("Vulkan0"), HasSubstr("the device has"), HasSubstr("-ngl")));
    EXPECT_THAT(with_room_for(room - 1),
                AllOf(StartsWith("KV cache: "), HasSubstr("Vulkan0"), HasSubstr("-c"), HasSubstr("-ngl")));
    EXPECT_THAT(with_room_for(room),
                AllOf(StartsWith("compute buffer: "), HasSubstr("Vulkan0"), HasSubstr("-ub"), HasSubstr("-ngl")));
    driver_.relent();
    options_.n_ctx = 256;
    EXPECT_EQ(run(), expected);
}

INSTANTIATE_TEST_SUITE_P(Driver, Faults, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "like_hardware" : "as_it_is"); });

} // namespace
