// verify: each node on two backends, as text, as JSON and by its exit code.
#include "tests/inspector/cli/files.h"
#include "tests/inspector/cli/program.h"
#include "tests/inspector/cli/story.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace schedscope::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Outcome verify(const std::string& type, const std::string& devices, std::vector<std::string> more = {}) {
    // 32 tokens and more: BLAS takes large products only.
    std::vector<std::string> arguments{"verify", "-m", model(type), "-p", known_text(40), "--device", devices};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
}

class Verify : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        if (devices().find("vulkan0") != std::string::npos && !has_device("Vulkan0")) {
            GTEST_SKIP() << "no Vulkan device";
        }
        if (devices().find("blas") != std::string::npos && !has_device("BLAS")) {
            GTEST_SKIP() << "no BLAS";
        }
    }
    static std::string devices() { return std::get<0>(GetParam()); }
    static std::string type() { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Pairs, Verify,
                         ::testing::Combine(::testing::Values("cpu,cpu", "blas,cpu", "vulkan0,cpu", "cpu,vulkan0", "cpu,blas"),
                                            ::testing::Values("f32", "f16", "q8_0", "q4_0")),
                         [](const auto& info) {
                             return as_test_name(std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param));
                         });

TEST_P(Verify, FindsOurBackendsWithinTolerance) {
    const Outcome outcome = verify(type(), devices(), {"--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["beyond"], 0);
    EXPECT_TRUE(result["first_beyond"].is_null());
    const json& results = result["results"];
    ASSERT_GT(results.size(), 0U);
    EXPECT_EQ(result["nodes"], results.size());
    for (const json& r : results) {
        EXPECT_TRUE(r["node"].is_string());
        EXPECT_LE(r["nmse"].get<double>(), r["tolerance"].get<double>()) << r;
    }
    for (const json& s : result["skipped"]) {
        EXPECT_NE(s["why"], "") << s;
    }
}

TEST(VerifyText, ShowsTheWorstNodesOrAllOfThem) {
    NEEDS_SHARED();
    const Outcome some = verify("f32", "cpu");
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_THAT(some.out, HasSubstr("compared with CPU, 0 beyond tolerance, 0 skipped"));
    const json result = json::parse(verify("f32", "cpu,cpu", {"--json"}).out);
    EXPECT_EQ(lines_of(some.out).size(), 12U) << some.out; // heading, the ten worst, and the sum
    const Outcome all = verify("f32", "cpu,cpu", {"-v"});
    EXPECT_EQ(lines_of(all.out).size(), result["results"].size() + 2);
}

TEST(VerifyText, CountsWhatWasSkippedByReason) {
    NEEDS_SHARED();
    if (!has_device("BLAS")) {
        GTEST_SKIP() << "no BLAS";
    }
    const Outcome outcome = verify("f32", "blas,cpu");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("skipped: BLAS does not run it: "));
    EXPECT_THAT(outcome.out, HasSubstr("RMS_NORM × "));
}

TEST(VerifyUsage, NeedsTwoDevicesThatAreHere) {
    NEEDS_SHARED();
    for (const char* devices : {"cpu,blas,cpu", ",cpu", "cpu,", "toaster,cpu", "cpu,toaster"}) {
        const Outcome outcome = verify("f32", devices);
        EXPECT_EQ(outcome.code, 2) << devices;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
    }
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--watch", "norm"}).code, 2);
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--logits-out", "/nowhere/logits"}).code, 2);
    EXPECT_EQ(run({"verify", "--device", "cpu,cpu"}).code, 2);
    EXPECT_EQ(run({"verify", "-m", "nowhere.gguf", "--device", "cpu,cpu"}).code, 3);
}

TEST(VerifyRun, GoesAsFarAsItIsTold) {
    NEEDS_SHARED();
    const auto evaluations = [](const char* n) {
        int last = -1;
        const json result = json::parse(verify("f32", "cpu,cpu", {"--json", "-n", n}).out);
        for (const json& r : result["results"]) {
            last = std::max(last, r["eval"].get<int>());
        }
        return last + 1;
    };
    EXPECT_EQ(evaluations("0"), 1);
    EXPECT_EQ(evaluations("4"), 4);
}

} // namespace
} // namespace schedscope::testing
