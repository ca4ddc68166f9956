// verify: each node on two backends, as text, as JSON and by its exit code.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <map>

namespace schedscope::test {
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
    const Outcome some = verify("f32", "cpu");
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_THAT(some.out, HasSubstr("compared with CPU, 0 beyond tolerance, 0 skipped"));
    const json result = json::parse(verify("f32", "cpu,cpu", {"--json"}).out);
    EXPECT_EQ(lines_of(some.out).size(), 12U) << some.out; // heading, the ten worst, and the sum
    const Outcome all = verify("f32", "cpu,cpu", {"-v"});
    EXPECT_EQ(lines_of(all.out).size(), result["results"].size() + 2);
}

TEST(VerifyText, CountsWhatWasSkippedByReason) {
    if (!has_device("BLAS")) {
        GTEST_SKIP() << "no BLAS";
    }
    const Outcome outcome = verify("f32", "blas,cpu");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("skipped: BLAS does not run it: "));
    EXPECT_THAT(outcome.out, HasSubstr("RMS_NORM × "));
}

TEST(VerifyUsage, NeedsTwoDevicesThatAreHere) {
    for (const char* devices : {"cpu,blas,cpu", ",cpu", "cpu,", "toaster,cpu", "cpu,toaster"}) {
        const Outcome outcome = verify("f32", devices);
        EXPECT_EQ(outcome.code, 2) << devices;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
    }
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--watch", "no such node"}).code, 2);
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--logits-out", "/nowhere/logits"}).code, 2);
    EXPECT_EQ(run({"verify", "--device", "cpu,cpu"}).code, 2);
    EXPECT_EQ(run({"verify", "-m", "nowhere.gguf", "--device", "cpu,cpu"}).code, 3);
}

/// What `show --what differences` says of a recorded verification.
json shown(const std::string& trace, const char* what = "differences", std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"show", trace, "--what", what, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out)[what] : json();
}

TEST_P(Verify, RecordsWhatItPrints) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    const Outcome outcome = verify(type(), devices(), {"--json", "--record", trace});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const json result = json::parse(outcome.out), recorded = shown(trace);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"});
    json compared = json::array(), skipped = json::array();
    for (const json& r : recorded) {
        (r["compared"] == true ? compared : skipped).push_back(r);
    }
    ASSERT_EQ(compared.size(), result["results"].size());
    for (size_t i = 0; i < compared.size(); ++i) {
        const json &r = compared[i], &printed = result["results"][i];
        EXPECT_EQ(r["tensor"], printed["node"]);
        for (const char* same :
             {"eval", "id", "op", "nmse", "tolerance", "beyond", "max_error", "element", "value", "expected", "why"}) {
            EXPECT_EQ(r[same], printed[same]) << same << " of " << printed;
        }
        if (!r["element"].is_null()) {
            EXPECT_EQ(r["max_error"], std::abs(r["value"].get<double>() - r["expected"].get<double>())) << r;
        } else {
            EXPECT_EQ(r["nmse"], 0) << r;
        }
    }
    ASSERT_EQ(skipped.size(), result["skipped"].size());
    for (size_t i = 0; i < skipped.size(); ++i) {
        EXPECT_EQ(skipped[i]["tensor"], result["skipped"][i]["node"]);
        EXPECT_EQ(skipped[i]["why"], result["skipped"][i]["why"]);
        EXPECT_TRUE(skipped[i]["nmse"].is_null());
    }
    // The rest of the trace is that of any run.
    const Outcome again = run({"replay", trace});
    EXPECT_EQ(again.code, 0) << again.out << again.err;
    EXPECT_EQ(shown(trace, "fusion").size(), 0U) << "nodes ran one by one";
    EXPECT_GT(shown(trace, "kernels").size(), 10U);
    const std::string checked = compared.at(0)["device"], reference = compared.at(0)["reference"];
    EXPECT_THAT(run({"show", trace}).out, HasSubstr("verify"));
    EXPECT_THAT(run({"show", trace}).out, HasSubstr(checked + "," + reference));
    EXPECT_THAT(run({"explain", trace, "result_output", "--eval", "1"}).out, HasSubstr("difference     "));
}

/// Statistics and first elements of both backends bound what the difference may be.
TEST_P(Verify, OfWatchedNodesBothValuesFitTheirDifference) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    const Outcome outcome = verify(type(), devices(), {"--record", trace, "--watch", "op=MUL_MAT|MUL"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    std::map<std::pair<int, int>, json> reference, device;
    for (const json& v : shown(trace, "values")) {
        auto& of = v["device"].is_null() ? reference : device;
        EXPECT_TRUE(of.emplace(std::pair(v["eval"].get<int>(), v["id"].get<int>()), v).second) << v;
    }
    size_t n = 0;
    for (const json& d : shown(trace)) {
        const std::pair key(d["eval"].get<int>(), d["id"].get<int>());
        if (d["compared"] != true || !device.contains(key)) {
            continue;
        }
        ++n;
        ASSERT_TRUE(reference.contains(key)) << d;
        const json &a = device[key], &b = reference[key];
        const double norm_a = a["norm"], norm_b = b["norm"], apart = std::sqrt(d["nmse"].get<double>()) * norm_b;
        EXPECT_LE(std::abs(norm_a - norm_b), apart + 1e-9 * norm_b) << d; // the triangle's inequality
        for (size_t i = 0; i < a["first"].size(); ++i) {
            const double error = std::abs(a["first"][i].get<double>() - b["first"][i].get<double>());
            EXPECT_LE(error, d["max_error"].get<double>()) << d;
            if (d["element"] == i) {
                EXPECT_EQ(a["first"][i], d["value"]) << d;
                EXPECT_EQ(b["first"][i], d["expected"]) << d;
            }
        }
        for (const char* end : {"min", "max"}) {
            EXPECT_LE(std::abs(a[end].get<double>() - b[end].get<double>()), d["max_error"].get<double>()) << d;
        }
    }
    EXPECT_EQ(n, device.size());
    EXPECT_GT(n, 0U);
}

TEST(VerifyWatch, WithoutATraceIsPrinted) {
    const Outcome outcome = verify("f32", "cpu,cpu", {"--watch", "name=result_norm", "-n", "0"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = lines_of(outcome.err);
    ASSERT_EQ(lines.size(), 2U) << outcome.err;
    EXPECT_THAT(lines[0], ::testing::StartsWith("evaluation 0  result_norm  from "));
    EXPECT_THAT(lines[1], ::testing::StartsWith("evaluation 0  result_norm  by CPU: from "));
}

TEST(VerifyRecord, RefusesWhatIsNoTraceAndWhatCanNotBeWritten) {
    const Folder folder;
    write_bytes(folder / "letter", "Dear reader");
    const auto refused = [&](const std::string& trace, int code, const std::string& says) {
        const Outcome outcome = verify("f32", "cpu,cpu", {"--record", trace});
        EXPECT_EQ(outcome.code, code) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        ASSERT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(says));
    };
    refused(folder / "letter", 2, "letter");
    EXPECT_EQ(read_bytes(folder / "letter"), "Dear reader");
    refused(folder / "nowhere/t.trace", 4, "nowhere/t.trace");
    refused("", 2, "--record");
    refused(model("f32"), 2, "--record");
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--record", folder / "letter", "--force", "-n", "0"}).code, 0);
    EXPECT_GT(shown(folder / "letter").size(), 0U);
    EXPECT_EQ(verify("f32", "cpu,cpu", {"--record", folder / "letter", "-n", "0"}).code, 0) << "a trace replaces a trace";
    EXPECT_EQ(verify("f32", "cpu,toaster", {"--record", folder / "new"}).code, 2);
    EXPECT_FALSE(exists(folder / "new")) << "a refused command leaves nothing";
}

TEST(VerifyRecord, IsClosedProperlyWhenInterrupted) {
    const Folder folder;
    const std::string trace = folder / "t.trace";
    Program program({"verify", "-m", model(), "-p", "", "-n", "1000000", "--ignore-eos", "--context-shift", "--device", "cpu,cpu",
                     "--record", trace});
    // Until the first evaluation is committed. (A test's time limit bounds a failure.)
    const std::vector<std::string> look{"show", trace, "--what", "differences", "--json"};
    for (Outcome seen = run(look); seen.code != 0 || json::parse(seen.out)["differences"].empty(); seen = run(look)) {}
    program.signal(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("interrupted"));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"t.trace"}) << "no journal";
    const Outcome summary = run({"show", trace});
    EXPECT_EQ(summary.code, 0);
    EXPECT_EQ(summary.err, "") << "it says nothing of a trace that was not closed";
    const json differences = shown(trace);
    std::string out = outcome.out;
    std::erase(out, ','); // of thousands
    EXPECT_THAT(out, HasSubstr(std::to_string(differences.size()) + " nodes of CPU compared with CPU"));
}

TEST(VerifyRecord, OtherTracesSayHowDifferencesAreRecorded) {
    const std::string sample = paths::sample("all-cpu");
    EXPECT_THAT(run({"show", sample, "--what", "differences"}).out, HasSubstr("schedscope verify -m M --device A,B --record T"));
    EXPECT_TRUE(shown(sample).empty());
}

TEST(VerifyRun, GoesAsFarAsItIsTold) {
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
} // namespace schedscope::test
