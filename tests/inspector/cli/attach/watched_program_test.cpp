// `record --watch … -- PROGRAM`: what nodes of released builds of llama.cpp hold, beside what those of our own runtime do.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// What was recorded of the nodes of this name, in order.
std::vector<json> values_in(const std::string& trace, const std::string& name) {
    std::vector<json> found;
    const json all = json::parse(run({"show", trace, "--what", "values", "--json"}).out);
    for (const json& value : all["values"]) {
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

/// ggml's own libraries of a build, which a program of ours opens.
std::vector<std::string> libraries_of(const Released& build) {
    const std::string folder = build.folder + "/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/";
    return exists(folder + "libggml-base.so")
               ? std::vector<std::string>{folder + "libggml-base.so", folder + "libggml-cpu-x64.so"}
               : std::vector<std::string>{folder + "libggml.so"};
}

TEST(WatchedProgram, SeesWithItsOwnCallbackWhatItSawBefore) {
    NEEDS_RELEASED_BUILDS();
    const Folder folder;
    const std::string trace = folder / "x.trace";
    for (const Released& build : {released_builds().front(), released_builds().back()}) {
        SCOPED_TRACE(build.version);
        const auto record = [&](std::vector<std::string> arguments) {
            arguments.insert(arguments.end(), {"--", paths::program("own_callback")});
            for (const std::string& library : libraries_of(build)) {
                arguments.push_back(library);
            }
            return run(arguments);
        };
        struct Case {
            std::string pattern;
            std::vector<std::string> nodes;
        };
        for (const Case& c : {Case{"op=ADD", {"sum", "last"}},
                              {"op=MUL", {"product"}},
                              {"name=SUM|Last", {"sum", "last"}},
                              {"s", {"sum", "last"}},
                              {"name!~s", {"product"}},
                              {"node>=1 op!=MUL", {"last"}},
                              {"node<1", {"sum"}},
                              {"bytes>16", {}},
                              {"bytes=16B kind=node type=f32 backend=cpu split=0", {"sum", "product", "last"}},
                              {"backend!=CPU", {}}}) {
            SCOPED_TRACE(c.pattern);
            const Outcome recorded = record({"record", "-o", trace, "--watch", c.pattern});
            EXPECT_EQ(recorded.code, 0) << recorded.err;
            EXPECT_EQ(recorded.out, "asked sum\nasked product\nshown product 2 32\nasked last\n3 10 21 36 after 4 calls\n");
            EXPECT_EQ(recorded.err.find("matches no node") != std::string::npos, c.nodes.empty());
            for (const char* name : {"sum", "product", "last"}) {
                const std::vector<json> values = values_in(trace, name);
                ASSERT_EQ(values.size(), std::count(c.nodes.begin(), c.nodes.end(), name)) << name;
                if (std::string_view(name) == "last" && !values.empty()) {
                    EXPECT_EQ(values[0]["first"], json({3, 10, 21, 36}));
                    EXPECT_EQ(values[0]["mean"], 17.5);
                }
            }
        }
        EXPECT_EQ(record({"record", "-o", trace}).code, 0);
        EXPECT_THAT(run({"export", trace, "--jsonl", "-"}).out, HasSubstr("\"observed\":true")); // by the program itself
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
