#include "tests/inspector/cli/files.h"
#include "tests/inspector/cli/program.h"
#include "tests/inspector/cli/story.h"

#include <gmock/gmock.h>

namespace schedscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(PerplexityOfAFile, IsPrintedInOneLine) {
    NEEDS_SHARED();
    const Folder folder;
    write_bytes(folder / "story.txt", known_story().text);
    const Outcome outcome = run({"run", "-m", model(), "--ppl", folder / "story.txt", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, MatchesRegex("perplexity [0-9]+\\.[0-9]+ ± [0-9]+\\.[0-9]+ over [0-9]+ tokens\n"));
    EXPECT_EQ(outcome.err, "");
}

TEST(PerplexityOfAFile, ComesWithATrace) {
    NEEDS_SHARED();
    const Folder folder;
    write_bytes(folder / "story.txt", known_story().text);
    const Outcome outcome =
        run({"record", "-m", model(), "--ppl", folder / "story.txt", "--device", "cpu", "-o", folder / "t.trace"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("perplexity "));
    EXPECT_EQ(run({"replay", folder / "t.trace"}).code, 0);
}

TEST(PerplexityOfAFile, IsRefusedWhereItMakesNoSense) {
    NEEDS_SHARED();
    const Folder folder;
    write_bytes(folder / "empty.txt", "");
    EXPECT_EQ(run({"run", "-m", model(), "--ppl", folder / "empty.txt"}).code, 2);
    EXPECT_EQ(run({"run", "-m", model(), "--ppl", folder / "none.txt"}).code, 3);
    const Outcome both = run({"run", "-m", model(), "--ppl", folder / "empty.txt", "-p", "Once"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("--ppl"));
}

} // namespace
} // namespace schedscope::testing
