// Files, decoded in a child: what a sound one gives, and what a child can't do to its parent.
#include "tests/runtime/vision/decoders/written.h"

#include "runtime/error.h"
#include "runtime/system/process/program_role.h"
#include "runtime/vision/decoders/decode_child.h"
#include "runtime/vision/read_image.h"
#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using vision::ImageChild;

class ReadImage : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directory(folder_); }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
    }

    std::string write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return folder_ / name;
    }
    /// Decoded by a child that this program plays in a role.
    static ImageChild child(const std::string& role, const std::vector<std::string>& arguments = {}) {
        ImageChild child;
        child.command = own_command(role);
        child.command.insert(child.command.end(), arguments.begin(), arguments.end());
        return child;
    }
    /// What is said of the file, without its name, when an image of 16 × 16 pixels is decoded.
    std::string why(const ImageChild& child, ErrorKind kind = ErrorKind::input) const {
        const std::string path = write("photo.png", png(PngKind(), samples(16, 16, 3)));
        try {
            vision::read_image(path, child);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), kind);
            const std::string sentence = e.what();
            EXPECT_EQ(sentence.substr(0, path.size() + 2), path + ": ");
            return sentence.substr(path.size() + 2);
        }
        return "";
    }

    std::filesystem::path folder_ = ::testing::TempDir() + "read-image-" + std::to_string(getpid());
};

TEST_F(ReadImage, GivesWhatDecodingGives) {
    const std::vector<std::string> files{jpeg({}), png(PngKind(), samples(16, 16, 3)), webp(16, 16, 3, samples(16, 16, 3), 80),
                                         bmp(BmpKind{7, 5, 24, 40, {}, {}, samples(24, 5, 1)}), "P6\n1 1\n255\nabc"};
    for (const std::string& file : files) {
        const std::string path = write("photo", file);
        expect_same(vision::read_image(path), decode(file), "read");
        expect_same(vision::read_image(path, child("--decode-without-filters")), decode(file), "read without filters");
    }
}

TEST_F(ReadImage, GivesAnImageThatIsLargerThanItsFirstPart) {
    PngKind kind;
    kind.width = 1200;
    kind.height = 900;
    const std::vector<uint8_t> pixels = samples(1200, 900, 3);
    EXPECT_EQ(vision::read_image(write("large.png", png(kind, pixels))).rgb, pixels);
}

TEST_F(ReadImage, SaysWhatDecodingSays) {
    const std::string whole = png(PngKind(), samples(16, 16, 3));
    const std::string half = whole.substr(0, whole.size() / 2);
    const std::string path = write("half.png", half);
    try {
        vision::read_image(path);
        FAIL() << "half a file was read";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(path + refusal(half).substr(std::string("photo").size()), e.what());
    }
}

TEST_F(ReadImage, TakesThreeBytesForAPixelAndNotMuchMore) {
    const std::string path = write("black.png", black_png(6000, 5000, 16, 6)); // of 8 bytes each
    constexpr const char *for_its_pixels = "120", *not_enough = "60";          // MiB; they are 86
    EXPECT_EQ(vision::read_image(path, child("--decode-in-less", {for_its_pixels})).width, 6000);
    try {
        vision::read_image(path, child("--decode-in-less", {not_enough}));
        GTEST_SKIP() << "addresses are not limited under this sanitizer";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(e.what(), path + ": takes more than 1536 MiB of memory to be decoded");
    }
}

TEST_F(ReadImage, IsRefusedInOneLineWhenTheDecoderCrashes) {
    EXPECT_EQ(why(child("--die-by", {std::to_string(SIGSEGV)})), "can't be decoded: the decoder crashed (Segmentation fault)");
    EXPECT_EQ(why(child("--die-by", {std::to_string(SIGKILL)})), "can't be decoded: the decoder crashed (Killed)");
    EXPECT_EQ(why(child("--end-with", {"9"})), "can't be decoded: the decoder failed");
}

TEST_F(ReadImage, IsRefusedInOneLineWhenItTakesTooMuch) {
    EXPECT_EQ(why(child("--die-by", {std::to_string(SIGXCPU)})),
              "takes more than " + std::to_string(budget::image_processor_seconds) + " s of a processor's time to be decoded");
    EXPECT_EQ(why(child("--end-with", {"4"})), "takes more than 1536 MiB of memory to be decoded");
    ImageChild stuck = child("--be-stuck");
    stuck.seconds = 1;
    EXPECT_EQ(why(stuck), "takes more than 1 s to be decoded");
}

TEST_F(ReadImage, DoesNotTrustWhatTheDecoderGives) {
    const std::string none = "can't be decoded: the decoder gave no image";
    EXPECT_EQ(why(child("--give", {"16", "16", "768"})), "");
    EXPECT_EQ(why(child("--give", {"16", "16", "767"})), none);
    EXPECT_EQ(why(child("--give", {"16", "16", "769"})), none);
    EXPECT_EQ(why(child("--give", {"8", "32", "768"})), none) << "the file said 16 x 16";
    EXPECT_EQ(why(child("--give", {"16", "16", "768", "another magic number"})), none);
    EXPECT_EQ(why(child("--give", {"2147483647", "2147483647", "0", "another magic number"})), none);
    EXPECT_EQ(why(child("--end-with", {"0"})), none);
    EXPECT_EQ(why(child("--give", {"-16", "-16", "768"})), "the image is empty: -16 x -16 pixels");
    EXPECT_EQ(why(child("--give", {"60000", "60000", "768"})), "an image of 60000 x 60000 pixels is too large");
    EXPECT_EQ(why(child("--refuse")), "the image?[31m is odd");
}

TEST_F(ReadImage, CanBeInterrupted) {
    ImageChild stuck = child("--be-stuck");
    stuck.cancelled = [] { return true; };
    EXPECT_THROW(why(stuck), Interrupted);
    EXPECT_THROW(why(child("--die-by", {std::to_string(SIGINT)})), Interrupted);
}

TEST_F(ReadImage, IsADevicesErrorWhenNoDecoderCanBeStarted) {
    ImageChild nowhere;
    nowhere.command = {"/nowhere/decoder"};
    EXPECT_EQ(why(nowhere, ErrorKind::device), "the decoder can't be started: No such file or directory");
}

} // namespace
} // namespace schedscope::test
