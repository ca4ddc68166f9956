// A model that somebody cuts short while the program has it open: one line and exit 3, nothing printed that was computed from
// what is not there, and the trace closed.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class CutModel : public ::testing::Test {
protected:
    void SetUp() override {
        fs::copy_file(test::model(), model);
        ASSERT_EQ(mkfifo(prompt.c_str(), 0600), 0);
    }
    /// The prompt is read when the model has been loaded: until then the program waits for it, and meanwhile the file is cut.
    void cut_before_the_prompt(const std::string& file, uintmax_t size, const std::string& text = "Once upon a time") const {
        const int end = open(prompt.c_str(), O_WRONLY | O_CLOEXEC); // waits until the program reads
        fs::resize_file(file, size);
        ASSERT_EQ(write(end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        close(end);
    }
    std::vector<std::string> with_model(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"-m", model, "-f", prompt, "-n", "4", "--temp", "0"});
        return arguments;
    }
    void expect_cut(const std::vector<std::string>& arguments, const std::string& file, uintmax_t size) const {
        Program program(arguments);
        cut_before_the_prompt(file, size);
        const Outcome outcome = program.wait();
        EXPECT_EQ(outcome.code, 3);
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err,
                    EndsWith("schedscope: " + file + ": was cut short while it was read\n")); // behind notes of the model
    }

    Folder folder;
    const std::string model = folder / "model.gguf", prompt = folder / "prompt", trace = folder / "t.trace";
};

TEST_F(CutModel, EndsARun) { expect_cut(with_model({"run", "--device", "cpu"}), model, 8192); }

TEST_F(CutModel, EndsARunWhereOnlyAByteIsMissing) {
    expect_cut(with_model({"run", "--device", "cpu"}), model, fs::file_size(model) - 1);
}

TEST_F(CutModel, EndsARunWithBlas) {
    if (!has_device("BLAS")) {
        GTEST_SKIP() << "no BLAS";
    }
    expect_cut(with_model({"run", "--device", "blas,cpu"}), model, 0);
}

TEST_F(CutModel, EndsAVerificationWithoutAnAnswer) {
    const std::string other = has_device("Vulkan0") ? "vulkan0" : "blas";
    expect_cut(with_model({"verify", "--device", other + ",cpu"}), model, 8192);
}

TEST_F(CutModel, ClosesTheTrace) {
    expect_cut(with_model({"record", "--device", "cpu", "-o", trace}), model, 8192);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"model.gguf", "prompt", "t.trace"}));
    const Outcome shown = run({"show", trace, "--what", "passes"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("2a"));
    EXPECT_THAT(run({"show", trace}).out, HasSubstr("1 failed"));
}

TEST_F(CutModel, MayBeAnImageEncoder) {
    const std::string encoder = folder / "mmproj.gguf";
    fs::copy_file(image_encoder(), encoder);
    expect_cut(with_model({"run", "--device", "cpu", "--mmproj", encoder, "--image", photo()}), encoder, 8192);
}

TEST_F(CutModel, IsToldWhenTheInspectorIsLeft) {
    std::vector<std::string> arguments = with_model({program_path(), "inspect", "--device", "cpu"});
    Terminal terminal(24, 100, arguments);
    cut_before_the_prompt(model, 8192);
    ASSERT_TRUE(terminal.shows("step")) << terminal.text();
    terminal.press("c");
    ASSERT_TRUE(terminal.shows("the program has ended")) << terminal.text();
    terminal.press("q");
    EXPECT_EQ(terminal.wait_for_exit(), 3);
    EXPECT_FALSE(terminal.alternate_screen());
    EXPECT_TRUE(terminal.is_cooked());
    EXPECT_THAT(terminal.text(), HasSubstr("was cut short"));
}

} // namespace
} // namespace schedscope::test
