// What a program writes, as it is kept to be seen.
#include "inspector/tui/background/program_output.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Output : public ::testing::Test {
protected:
    void write(const std::string& text) {
        ASSERT_EQ(::write(output.descriptor_for_program(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    std::vector<std::string> lines() {
        output.look();
        return output.lines();
    }
    bool is_readable() const {
        pollfd one{output.descriptor(), POLLIN, 0};
        return poll(&one, 1, 0) == 1;
    }

    ProgramOutput output;
};

TEST_F(Output, IsLinesAndTheBeginningOfOne) {
    EXPECT_FALSE(output.look());
    EXPECT_THAT(output.lines(), IsEmpty());
    write("one\ntw");
    EXPECT_TRUE(is_readable());
    EXPECT_THAT(lines(), ElementsAre("one", "tw"));
    EXPECT_FALSE(is_readable());
    const uint64_t before = output.version();
    EXPECT_FALSE(output.look());
    EXPECT_EQ(output.version(), before);
    write("o\n\n");
    EXPECT_THAT(lines(), ElementsAre("one", "two", ""));
    EXPECT_NE(output.version(), before);
}

TEST_F(Output, IsWhatATerminalWouldShowInTheEnd) {
    write("\x1b[1mbold\x1b[0m and \x1b[38;5;2mgreen\x1b[m\n");
    write("\x1b]0;a title\atext \x1b]8;;http://x\x1b\\link\n");
    write(" 10 %\r 50 %\r100 %\r\n");
    write("a\tb\n12345678\tc\n");
    write("\x1b[1"); // cut
    EXPECT_THAT(lines(), ElementsAre("bold and green", "text link", "100 %", "a       b", "12345678        c", ""));
}

TEST_F(Output, IsKeptUpToABound) {
    const std::string line(99, 'x');
    for (int i = 0; i < 100; ++i) {
        std::string many;
        for (int k = 0; k < 1'000; ++k) {
            many += std::to_string(100'000 + i * 1'000 + k) + line + "\n";
        }
        write(many);
        output.look();
    }
    EXPECT_EQ(output.lines().size(), ProgramOutput::most_lines);
    EXPECT_TRUE(output.forgot_some());
    EXPECT_EQ(output.lines().back().substr(0, 6), "199999");
    struct stat status = {};
    ASSERT_EQ(fstat(output.descriptor_for_program(), &status), 0);
    EXPECT_GT(status.st_size, 10'000'000);
    EXPECT_LT(status.st_blocks * 512, 2 << 20); // what was read is given back
}

TEST_F(Output, IsCutWhereALineIsEndless) {
    write(std::string(3 * ProgramOutput::longest_line, 'y'));
    EXPECT_EQ(lines().size(), 3U);
    EXPECT_EQ(lines().front().size(), ProgramOutput::longest_line);
}

TEST_F(Output, GoesOnWhereTheProgramBeginsItsFileAgain) {
    write("before\n");
    EXPECT_THAT(lines(), ElementsAre("before"));
    ASSERT_EQ(ftruncate(output.descriptor_for_program(), 0), 0);
    write("now\n");
    EXPECT_EQ(lines().back(), "now");
}

} // namespace
} // namespace schedscope::tui
