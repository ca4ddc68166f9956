// `record --watch … -- PROGRAM`: what nodes of released builds of llama.cpp hold, beside what those of our own runtime do.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// What was recorded of the nodes of this name, in order.
std::vector<json> values_in(const std::string& trace, const std::string& name) {
    std::vector<json> found;
    for (const json& value : json::parse(run({"show", trace, "--what", "values", "--json"}).out)["values"]) {
        if (value["tensor"] == name) {
            found.push_back(value);
        }
    }
    return found;
}

TEST(WatchedProgram, HoldsWhatOurOwnRuntimeDoes) {
    NEEDS_SHARED();
    NEEDS_RELEASED_BUILDS();
    const Folder folder;
    const std::string own = folder / "own.trace", others = folder / "others.trace",
                      weights = paths::shared("models/stories260K-f32.gguf");
    const Outcome ran = run({"record", "-o", own, "-m", weights, "--tokens", "1,403,407,261,378", "-n", "8", "--temp", "0",
                             "--device", "cpu", "--watch", "name=ffn_out-1"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const std::vector<json> expected = values_in(own, "ffn_out-1");
    ASSERT_EQ(expected.size(), 8U);
    for (const Released& build : {released_builds().front(), released_builds().back()}) {
        SCOPED_TRACE(build.version);
        std::vector<std::string> arguments = {
            "record", "-o", others, "--watch", "name=ffn_out-1", "--watch", "op=SOFT_MAX bytes>1G", "--"};
        for (const std::string& word : drive(build, weights)) {
            arguments.push_back(word);
        }
        const Outcome recorded = run(arguments);
        ASSERT_EQ(recorded.code, 0) << recorded.err;
        EXPECT_EQ(recorded.out, "432 383 286 261 376 298 315 421\n"); // as without
        EXPECT_THAT(recorded.err, Not(HasSubstr("--watch name")));
        EXPECT_THAT(recorded.err, HasSubstr("--watch op=SOFT_MAX bytes>1G: matches no node that was computed"));
        const std::vector<json> values = values_in(others, "ffn_out-1");
        ASSERT_EQ(values.size(), expected.size());
        for (size_t i = 0; i < values.size(); ++i) {
            for (const char* what : {"min", "max", "mean", "norm"}) {
                EXPECT_NEAR(values[i][what].get<double>(), expected[i][what].get<double>(), 0.02) << what << i;
            }
            EXPECT_EQ(values[i]["elements"], expected[i]["elements"]);
            ASSERT_EQ(values[i]["first"].size(), 8U);
            for (size_t k = 0; k < 8; ++k) {
                EXPECT_NEAR(values[i]["first"][k].get<double>(), expected[i]["first"][k].get<double>(), 0.01) << i;
            }
        }
        const Outcome lines = run({"export", others, "--jsonl", "-"});
        EXPECT_THAT(lines.out, HasSubstr("\"graph_kind\":\"prefill\",\"reused\":false,\"observed\":true"));
    }
}

TEST(WatchedProgram, IsNotAskedWhatIsNotKnownOfIt) {
    const Folder folder;
    for (const char* pattern : {"cause=1.dst", "opp=1", "time>1ms", ""}) {
        const Outcome outcome = run({"record", "-o", folder / "x.trace", "--watch", pattern, "--", "true"});
        EXPECT_EQ(outcome.code, 2) << pattern;
        EXPECT_THAT(outcome.err, HasSubstr("--watch")) << pattern;
    }
}

} // namespace
} // namespace schedscope::test
