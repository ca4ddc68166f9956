// What a command reads it never writes over, and two results never share a file.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/recorded.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NamedFiles : public ::testing::Test {
protected:
    void SetUp() override {
        write_bytes(text_, read_bytes(model()));
        write_bytes(eye_, read_bytes(image_encoder()));
        write_bytes(photo_, read_bytes(photo()));
        write_bytes(prompt_, "Once upon");
    }

    /// The command is refused for what its options `writes` and `other` name, and all files are as they were.
    void expect_refusal(const std::vector<std::string>& arguments, const std::string& writes, const std::string& other) {
        std::string command;
        for (const std::string& a : arguments) {
            command += " " + a;
        }
        SCOPED_TRACE(command);
        const auto contents = [&] {
            std::vector<std::string> all;
            for (const std::string& name : folder.names()) {
                all.push_back(name + ":" + (exists(folder / name) ? read_bytes(folder / name) : "a link to nothing"));
            }
            return all;
        };
        const auto before = contents();
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(::testing::StartsWith("schedscope: " + writes + " "), HasSubstr("(" + other + ")")));
        EXPECT_TRUE(contents() == before);
    }

    Folder folder;
    const std::string text_ = folder / "m.gguf", eye_ = folder / "eye.gguf", photo_ = folder / "photo.ppm",
                      prompt_ = folder / "prompt";
};

TEST_F(NamedFiles, LogitsDoNotReplaceWhatTheRunReads) {
    const std::vector<std::string> start = {"run", "-m",    text_, "--mmproj", eye_,       "--image", photo_,
                                            "-f",  prompt_, "-n",  "1",        "--device", "cpu",     "--logits-out"};
    for (const auto& [path, option] : {std::pair{text_, "-m"}, {eye_, "--mmproj"}, {photo_, "--image"}, {prompt_, "-f"}}) {
        std::vector<std::string> arguments = start;
        arguments.push_back(path);
        expect_refusal(arguments, "--logits-out", option);
    }
}

TEST_F(NamedFiles, LinksAreTheFilesThatTheyLeadTo) {
    std::filesystem::create_symlink(text_, folder / "symbolic");
    std::filesystem::create_hard_link(text_, folder / "hard");
    for (const char* name : {"symbolic", "hard", "./m.gguf"}) {
        expect_refusal({"run", "-m", text_, "-n", "1", "--device", "cpu", "--logits-out", folder / name}, "--logits-out", "-m");
        expect_refusal({"record", "-m", text_, "-n", "1", "--device", "cpu", "--force", "-o", folder / name}, "-o", "-m");
    }
}

TEST_F(NamedFiles, PartsOfASplitModelAreRead) {
    const std::string first = folder / "s-00001-of-00003.gguf", last = folder / "s-00003-of-00003.gguf";
    for (const std::string& part : {first, last, folder / "s-00002-of-00003.gguf"}) {
        write_bytes(part, "a part");
    }
    expect_refusal({"record", "-m", first, "--force", "-o", last}, "-o", "-m");
    expect_refusal({"run", "-m", first, "--logits-out", last}, "--logits-out", "-m");
    expect_refusal({"embed-image", "--mmproj", first, "--image", photo_, "-o", last}, "-o", "--mmproj");
}

TEST_F(NamedFiles, EmbeddingsAndTheirTraceDoNotReplaceWhatTheyAreMadeFrom) {
    const std::vector<std::string> start = {"embed-image", "--mmproj", eye_, "--image", photo_, "--device", "cpu"};
    const auto refused = [&](const std::vector<std::string>& more, const char* writes, const char* other) {
        std::vector<std::string> arguments = start;
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_refusal(arguments, writes, other);
    };
    refused({"-o", eye_}, "-o", "--mmproj");
    refused({"-o", photo_}, "-o", "--image");
    refused({"-o", folder / "e", "--force", "--record", eye_}, "--record", "--mmproj");
    refused({"-o", folder / "e", "--force", "--record", photo_}, "--record", "--image");
}

TEST_F(NamedFiles, TwoResultsNeedTwoFiles) {
    const std::string both = folder / "both";
    std::filesystem::create_symlink("both", folder / "link"); // to a file that is not there yet
    for (const std::string& again : {both, folder / "./both", folder / "link"}) {
        expect_refusal({"run", "-m", text_, "--device", "cpu", "--record", both, "--logits-out", again}, "--logits-out",
                       "--record");
        expect_refusal({"record", "-m", text_, "--device", "cpu", "-o", both, "--logits-out", again}, "--logits-out", "-o");
        expect_refusal({"embed-image", "--mmproj", eye_, "--image", photo_, "--record", both, "-o", again}, "-o", "--record");
    }
    EXPECT_FALSE(exists(both));
}

TEST_F(NamedFiles, DevicesAreNoFilesToLose) {
    EXPECT_EQ(run({"run", "-m", text_, "-f", "/dev/null", "-n", "1", "--device", "cpu", "--logits-out", "/dev/null"}).code, 0);
}

TEST_F(NamedFiles, PicturesAndRecordsDoNotReplaceTheirTrace) {
    const std::string trace = folder / "trace.svg";
    ASSERT_EQ(run({"record", "-m", text_, "-n", "1", "--device", "cpu", "-o", trace}).code, 0);
    expect_refusal({"dot", trace, "-o", trace}, "-o", "trace");
    expect_refusal({"export", trace, "--jsonl", trace}, "--jsonl", "trace");
    EXPECT_EQ(run({"show", trace}).code, 0);
}

} // namespace
} // namespace schedscope::test
