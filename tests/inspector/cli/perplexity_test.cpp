#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(PerplexityOfAFile, IsPrintedInOneLine) {
    const Folder folder;
    write_bytes(folder / "story.txt", known_text());
    const Outcome outcome = run({"run", "-m", model(), "--ppl", folder / "story.txt", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, MatchesRegex("perplexity [0-9]+\\.[0-9]+ ± [0-9]+\\.[0-9]+ over [0-9]+ tokens\n"));
    EXPECT_EQ(outcome.err, "");
}

TEST(PerplexityOfAFile, ComesWithATrace) {
    const Folder folder;
    write_bytes(folder / "story.txt", known_text());
    const Outcome outcome =
        run({"record", "-m", model(), "--ppl", folder / "story.txt", "--device", "cpu", "-o", folder / "t.trace"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("perplexity "));
    EXPECT_EQ(run({"replay", folder / "t.trace"}).code, 0);
}

/// The same evaluations: windows, and their ubatches.
TEST(PerplexityOfAFile, IsPlannedAsItRuns) {
    const Folder folder;
    write_bytes(folder / "story.txt", known_text() + " " + known_text());
    const auto evaluations = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"record", "-m",       model(), "--ppl", folder / "story.txt", "-c", "128", "-ub",
                                              "50",     "--device", "cpu",   "-o",    folder / "t.trace"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::vector<std::string> all;
        for (const std::string& line : lines_of(run({"export", folder / "t.trace", "--jsonl", "-"}).out)) {
            const auto record = nlohmann::json::parse(line);
            if (record.at("kind") == "evaluation_begin") {
                all.push_back(record.at("graph_kind").get<std::string>() + " " + record.at("n_tokens").dump() + " " +
                              record.at("n_outputs").dump());
            }
        }
        return all;
    };
    const auto run_through = evaluations({});
    EXPECT_GT(run_through.size(), 5U);
    EXPECT_EQ(evaluations({"--dry-run"}), run_through);
}

TEST(PerplexityOfAFile, OfOneTokenSaysSo) {
    const Folder folder;
    write_bytes(folder / "word.txt", known_text(1));
    const Outcome outcome = run({"run", "-m", model(), "--ppl", folder / "word.txt", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, MatchesRegex("perplexity [0-9]+\\.[0-9]+ ± inf over 1 token\n"));
}

TEST(PerplexityOfAFile, IsRefusedWhereItMakesNoSense) {
    const Folder folder;
    write_bytes(folder / "empty.txt", "");
    EXPECT_EQ(run({"run", "-m", model(), "--ppl", folder / "empty.txt"}).code, 2);
    EXPECT_EQ(run({"run", "-m", model(), "--ppl", folder / "none.txt"}).code, 3);
    EXPECT_EQ(run({"record", "-m", model(), "--ppl", folder / "empty.txt", "--dry-run", "-o", folder / "t"}).code, 2);
    EXPECT_EQ(run({"record", "-m", model(), "--ppl", folder / "none.txt", "--dry-run", "-o", folder / "t"}).code, 3);
    const Outcome both = run({"run", "-m", model(), "--ppl", folder / "empty.txt", "-p", "Once"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("--ppl"));
}

} // namespace
} // namespace schedscope::test
