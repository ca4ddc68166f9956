// What the library asks of a system: it has to load wherever a program on ggml runs.

#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cstdio>
#include <gmock/gmock.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::vector<std::string> lines;
    char line[4096];
    while (pipe != nullptr && fgets(line, sizeof line, pipe.get()) != nullptr) {
        lines.emplace_back(line, std::char_traits<char>::length(line) - 1);
    }
    return lines;
}
std::string library() { return paths::program("../lib/schedscope/libschedscope_attach.so"); }
/// The library's symbols: those of others that it wants, or those that it has.
std::vector<std::string> symbols(const std::string& option) { return lines_of("nm -D " + option + " " + library()); }

TEST(AttachLibrary, WantsNothingNewerThanGlibc228) {
    const std::vector<std::string> wanted = symbols("--undefined-only");
    ASSERT_THAT(wanted, Not(IsEmpty()));
    for (const std::string& line : wanted) {
        const size_t at = line.find("@GLIBC_2.");
        if (at == std::string::npos) {
            EXPECT_NE(line.find(" w "), std::string::npos) << line; // the compiler's own, which may be missing
        } else {
            EXPECT_LE(std::stoi(line.substr(at + 9)), 28) << line;
        }
    }
}

TEST(AttachLibrary, NeedsTheCLibraryAlone) {
    std::vector<std::string> needed;
    for (const std::string& line : lines_of("readelf -d " + library())) {
        if (line.find("(NEEDED)") != std::string::npos) {
            needed.push_back(line.substr(line.find('[') + 1));
        }
    }
    ASSERT_THAT(needed, Contains(StartsWith("libc.so")));
    EXPECT_THAT(needed, Each(AnyOf(StartsWith("libc.so"), StartsWith("libdl.so"))));
}

TEST(AttachLibrary, StaysWhereItIs) { // a thread may be within it, and tables of backends lead to it
    EXPECT_THAT(lines_of("readelf -d " + library()), Contains(AllOf(HasSubstr("(FLAGS_1)"), HasSubstr("NODELETE"))));
}

TEST(AttachLibrary, HasNoNamesButThoseThatItStandsInFrontOf) {
    std::vector<std::string> names;
    for (const std::string& line : symbols("--defined-only")) {
        names.push_back(line.substr(line.rfind(' ') + 1));
    }
    ASSERT_THAT(names, Contains("ggml_backend_sched_alloc_graph"));
    // and how it begins and ends where it was not there before the program
    EXPECT_THAT(names, Each(AnyOf(StartsWith("ggml_"), StartsWith("exec"), "fexecve", "schedscope_join", "schedscope_leave")));
}

} // namespace
} // namespace schedscope::test
