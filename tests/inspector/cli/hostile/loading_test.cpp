// However weights come into memory: the same text, and no more memory than the file and a tenth.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

class Loading : public ::testing::TestWithParam<std::vector<std::string>> {
protected:
    static Outcome generate(const std::string& path, std::vector<std::string> options) {
        options.insert(options.begin(),
                       {"run", "-m", path, "-p", "Once", "-n", "2", "-c", "256", "--temp", "0", "--device", "cpu"});
        return run(options);
    }
    const Folder folder;
};

INSTANTIATE_TEST_SUITE_P(Ways, Loading,
                         ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--no-mmap"},
                                           std::vector<std::string>{"--no-repack"},
                                           std::vector<std::string>{"--no-repack", "--no-mmap"},
                                           std::vector<std::string>{"--mlock"},
                                           std::vector<std::string>{"--no-mmap", "--mlock"}));

TEST_P(Loading, TakesTheFileAndATenth) {
    const Outcome small = generate(model(), {});     // the program itself, and the drivers that it looks for
    for (const std::string type : {"Q8_0", "F16"}) { // laid out, and copied
        const std::string path = folder / (type + ".gguf");
        ASSERT_EQ(run({"synth", "llama", "--preset", "110m", "--type", type, "-o", path}).code, 0);
        const auto size = static_cast<long long>(std::filesystem::file_size(path));
        const Outcome large = generate(path, GetParam());
        EXPECT_EQ(large.code, 0) << large.err;
        EXPECT_GE(large.peak_bytes - small.peak_bytes, size / 2) << type;
        constexpr long long computing = 24LL << 20; // the context, what graphs compute with, and the vocabulary
        EXPECT_LE(large.peak_bytes - small.peak_bytes, size + size / 10 + computing) << type;
    }
}

TEST_P(Loading, ChangesNoText) {
    const Outcome usual = generate(model(), {}), other = generate(model(), GetParam());
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.out, usual.out);
    if (other.err.find("--mlock: ") == std::string::npos) { // where the system lets nobody lock
        EXPECT_EQ(other.err, "") << "progress is for terminals";
    }
}

/// Models of one vocabulary and one set of weights, rounded differently.
TEST(Repacking, ChangesNoText) {
    for (const std::string type : {"q4_0", "q8_0"}) {
        const std::string path = paths::shared("models/stories260K-" + type + ".gguf");
        if (!std::filesystem::exists(path)) {
            GTEST_SKIP() << path << " is not here";
        }
        const auto text = [&](const std::string& option) {
            std::vector<std::string> line{"run",    "-m", path,       "-p", "Once upon a time", "-n", "60",
                                          "--temp", "0",  "--device", "cpu"};
            if (!option.empty()) {
                line.push_back(option);
            }
            return run(line).out;
        };
        EXPECT_EQ(text(""), text("--no-repack")) << type;
    }
}

} // namespace
} // namespace schedscope::test
