// What a program may do and few do, with somebody who looks on or who has stopped to: it finds nothing changed, and what was
// recorded is whole.
#include "tests/inspector/cli/attach/programs/reproduced.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The oldest build and the newest.
class AwkwardProgram : public ::testing::TestWithParam<Released> {
protected:
    std::vector<std::string> command(const std::string& way) const {
        std::vector<std::string> words = {paths::program("awkward_program"), way, ready, go};
        for (const std::string& library : ggml_libraries(GetParam().folder, false)) {
            words.push_back(library);
        }
        return words;
    }
    /// How many of the lines of the trace have all of this.
    size_t n_lines(const std::vector<std::string>& parts) const {
        std::istringstream all(run({"export", trace, "--jsonl", "-"}).out);
        size_t n = 0;
        for (std::string line; std::getline(all, line);) {
            bool has_all = true;
            for (const std::string& part : parts) {
                has_all = has_all && line.find(part) != std::string::npos;
            }
            n += has_all ? 1 : 0;
        }
        return n;
    }

    const Folder folder;
    const std::string trace = folder / "x.trace", ready = folder / "ready", go = folder / "go";
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AwkwardProgram);
std::vector<Released> two_builds() {
    const std::vector<Released> all = released_builds();
    return all.size() < 2 ? all : std::vector<Released>{all.front(), all.back()};
}
INSTANTIATE_TEST_SUITE_P(On, AwkwardProgram, ::testing::ValuesIn(two_builds()),
                         [](const auto& info) { return as_test_name(info.param.version); });

TEST_P(AwkwardProgram, ThrowsPastWhatIsRecorded) {
    const Reproduced found = expect_reproduced(command("throw"), trace);
    EXPECT_EQ(count(found.said, "thrown\n"), 16U);
    EXPECT_EQ(count(found.said, "0: 5.000000 44.000000\n"), 32U);
    EXPECT_EQ(found.plans, 48);
    // Those after an exception are recorded as those before it, and which ended so is known.
    EXPECT_EQ(n_lines({"\"evaluation_end\"", "\"failed\":true"}), 16U);
    EXPECT_EQ(n_lines({"\"evaluation_end\"", "\"failed\":false"}), 32U);
    EXPECT_EQ(n_lines({"\"split_run\""}), 16U + 2 * 32U); // to the product, and behind it
}

TEST_P(AwkwardProgram, ComputesInTwoThreadsThatWaitForEachOther) {
    const Reproduced found = expect_reproduced(command("meet"), trace);
    EXPECT_EQ(found.said, "0: 5.000000 44.000000\n0: 5.000000 44.000000\n");
    EXPECT_EQ(found.plans, 100);
    EXPECT_EQ(n_lines({"\"split_run\""}), 200U);
}

TEST_P(AwkwardProgram, ForksWithoutAProgram) {
    const Reproduced found = expect_reproduced(command("fork"), trace);
    EXPECT_EQ(count(found.said, "child 0: 5.000000 44.000000\n"), 3U);
    EXPECT_EQ(found.plans, 3); // the child's are nobody's matter
}

TEST_P(AwkwardProgram, NeverWaitsForARecorderThatStands) {
    const std::vector<std::string> words = command("flood");
    std::vector<std::string> arguments = {"record", "-o", trace, "--"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const std::string said = folder / "said";
    const int out = open(said.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    Program recorder(arguments, {.out_descriptor = out});
    close(out);
    while (!exists(ready)) {
        ASSERT_FALSE(recorder.has_ended()) << recorder.wait().err;
        breathe();
    }
    recorder.signal(SIGSTOP);
    write_bytes(go, "");
    while (read_bytes(said).empty()) { // it says that at its end; the recorder stands still
        breathe();
    }
    recorder.signal(SIGCONT);
    const Outcome outcome = recorder.wait();
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_bytes(said), "0: 2002.000000 8032.000000\n");
    EXPECT_THAT(outcome.err, HasSubstr(" dropped by the program, for which there was no room"));
    const json verdicts = json::parse(run({"show", trace, "--what", "verdicts", "--json"}).out, nullptr, false);
    ASSERT_TRUE(verdicts.is_object());
    EXPECT_GT(verdicts["plans"], 10);
    EXPECT_LT(verdicts["plans"], 1001);
    EXPECT_EQ(verdicts["plans"], verdicts["reproduced"]); // those that are there are whole
}

TEST_P(AwkwardProgram, GoesOnWhenTheInspectorStandsThatHoldsIt) {
    std::vector<std::string> arguments = {program_path(), "inspect", "--", "sh", "-c", "exec \"$@\" >" + (folder / "said"), "sh"};
    for (const std::string& word : command("meet")) {
        arguments.push_back(word);
    }
    Terminal t(24, 80, arguments);
    ASSERT_TRUE(t.shows("step 0/0")) << t.text();
    t.send_signal(SIGSTOP);
    while (read_bytes(folder / "said").empty()) {
        breathe();
    }
    EXPECT_EQ(read_bytes(folder / "said"), "0: 5.000000 44.000000\n0: 5.000000 44.000000\n");
    t.send_signal(SIGCONT);
    t.press("c");
    ASSERT_TRUE(t.shows("the program has ended")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
}

} // namespace
} // namespace schedscope::test
