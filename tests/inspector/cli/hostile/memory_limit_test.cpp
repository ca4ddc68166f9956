// Where memory is limited the program does what it can, says in one line what it can't, and ends.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Limited : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (GetParam() == std::string("blas,cpu") && !has_device("BLAS")) {
            GTEST_SKIP() << "no BLAS";
        }
    }
    static std::vector<std::string> arguments() {
        return {"run", "-m", model(), "-n", "3", "--temp", "0", "-p", "Once upon a time", "--device", GetParam()};
    }
};

INSTANTIATE_TEST_SUITE_P(Devices, Limited, ::testing::Values("cpu", "blas,cpu"),
                         [](const auto& info) { return as_test_name(info.param); });

TEST_P(Limited, EndsWithADocumentedCode) {
    // From what the program needs to be loaded at all to enough for everything, in steps finer than what a library takes at once.
    // Some is enough for everything but a library that another device needs.
    const bool to_the_end = GetParam() == std::string("cpu");
    int code = -1;
    for (long long kib = 64 << 10; kib <= 2 << 20 && (code != 0 || to_the_end); kib += kib / 4) {
        SCOPED_TRACE(kib);
        std::vector<std::string> limited{"/bin/sh", "-c", "ulimit -v " + std::to_string(kib) + "; exec \"$0\" \"$@\"",
                                         program_path()};
        const auto more = arguments();
        limited.insert(limited.end(), more.begin(), more.end());
        Terminal terminal(24, 200, limited);
        code = terminal.wait_for_exit();
        if (terminal.text().find("error while loading shared libraries") == std::string::npos) { // else it was never started
            EXPECT_THAT(code, AnyOf(0, 2, 4)) << terminal.text(); // 2: there is no such device then
        }
    }
    EXPECT_EQ(code, 0);
}

TEST_P(Limited, LoadsLibrariesOfDevicesOnlyWhereTheseAreNamed) {
    const Folder folder;
    const Outcome outcome = run(arguments(), {.environment = {{"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", folder / "loaded"}}});
    EXPECT_EQ(outcome.code, 0);
    std::string loaded;
    for (const std::string& name : folder.names()) {
        loaded += read_bytes(folder / name);
    }
    EXPECT_THAT(loaded, HasSubstr("libc.so"));
    if (GetParam() == std::string("cpu")) {
        EXPECT_THAT(loaded, Not(HasSubstr("openblas")));
    } else {
        EXPECT_THAT(loaded, HasSubstr("openblas"));
    }
    EXPECT_THAT(loaded, Not(HasSubstr("libvulkan")));
}

} // namespace
} // namespace schedscope::test
