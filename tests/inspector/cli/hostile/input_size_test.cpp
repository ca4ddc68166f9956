// Inputs that are endless, or larger than they may be: refused in one line, before they are read.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"

#include "runtime/gguf/writer.h"

#include <gmock/gmock.h>

#include <filesystem>

#include <sys/stat.h>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr long long MiB = 1LL << 20;

class InputSize : public ::testing::Test {
protected:
    /// A file that begins like something, and goes on with zeros that take no room.
    std::string sparse(const std::string& name, const std::string& beginning, uint64_t bytes) {
        write_bytes(folder / name, beginning);
        std::filesystem::resize_file(folder / name, bytes);
        return folder / name;
    }
    void expect_refusal(const std::vector<std::string>& arguments, const std::string& name, const std::string& why,
                        long long most_bytes) {
        std::string command;
        for (const std::string& a : arguments) {
            command += " " + a;
        }
        SCOPED_TRACE(command);
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 3);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(HasSubstr("schedscope: " + name + ": "), HasSubstr(why)));
        EXPECT_LT(outcome.peak_bytes, most_bytes);
    }
    void expect_no_image(const std::string& path, const std::string& why) {
        expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", path, "-p", "Why?"}, path, why, 48 * MiB);
        expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", path, "-o", folder / "e"}, path, why, 48 * MiB);
        EXPECT_FALSE(exists(folder / "e"));
    }

    Folder folder;
};

constexpr uint64_t six_gigabytes = 6'000'000'000;

TEST_F(InputSize, OfImagesIsBounded) {
    const std::string png_of_8_by_8("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08\x08\x02\0\0\0", 29);
    expect_no_image(sparse("large.png", png_of_8_by_8, six_gigabytes), "a file of 5722 MiB is too large for an image; 512 MiB");
}

TEST_F(InputSize, OfWhatIsNoImageDoesNotMatter) {
    expect_no_image(sparse("model.gguf", "GGUF", 40 * six_gigabytes), "not an image");
    expect_no_image(sparse("zeros", "", six_gigabytes), "not an image");
}

TEST_F(InputSize, OfADeviceOrAPipeIsNotWaitedForByImages) {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    expect_no_image("/dev/zero", "is not a regular file");
    expect_no_image(folder / "pipe", "is not a regular file");
}

TEST_F(InputSize, OfTextsIsBounded) {
    const std::string large = sparse("large.txt", "Once upon a time", six_gigabytes);
    for (const std::string& path : {large, std::string("/dev/zero")}) {
        expect_refusal({"run", "-m", model(), "--device", "cpu", "-f", path}, path, "64 MiB", 300 * MiB);
        expect_refusal({"run", "-m", model(), "--device", "cpu", "--ppl", path}, path, "64 MiB", 300 * MiB);
        expect_refusal({"tokenize", "-m", model(), "--batch", path}, path, "64 MiB", 300 * MiB);
    }
}

TEST_F(InputSize, OfAPipeIsWhatComesThroughIt) {
    const std::vector<std::string> start = {"run", "-m", model(), "-n", "5", "--temp", "0", "--device", "cpu"};
    std::vector<std::string> piped = start, typed = start;
    piped.insert(piped.end(), {"-f", "/dev/stdin"});
    typed.insert(typed.end(), {"-p", "Once upon"});
    const Outcome outcome = run(piped, {.in = "Once upon"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, run(typed).out);
    EXPECT_EQ(run({"tokenize", "-m", model(), "--batch", "/dev/stdin"}, {.in = "{\"text\": \"" + known_text(2) + "\"}\n"}).out,
              "[" + prompt_ids(3) + "]\n");
}

/// The tiny encoder with other keys.
void write_encoder(const std::string& path, const std::string& from, const std::function<void(gguf::Writer&)>& change) {
    const gguf::File source = gguf::File::open(from);
    gguf::Writer writer;
    for (const gguf::MetadataEntry& e : source.metadata()) {
        writer.set(e.key, e.value);
    }
    for (const gguf::FileTensor& t : source.tensors()) {
        writer.add(t.name, t.type, t.ne, std::span(t.data, t.bytes));
    }
    change(writer);
    writer.write(path);
}

TEST_F(InputSize, OfPicturesThatAnEncoderAsksForIsBounded) {
    const std::string eye = folder / "eye.gguf";
    write_encoder(eye, image_encoder(), [](gguf::Writer& w) {
        w.set("clip.vision.image_size", 2048U);
        w.set("clip.vision.image_grid_pinpoints", std::vector<int32_t>{16384, 16384});
    });
    expect_refusal({"embed-image", "--mmproj", eye, "--image", photo(), "-o", folder / "e"}, eye, "16384 x 16384", 48 * MiB);
    write_encoder(eye, image_encoder(), [](gguf::Writer& w) { w.set("clip.vision.image_size", 8192U); });
    expect_refusal({"run", "-m", model(), "--mmproj", eye, "--image", photo()}, eye, "image_size can't be 8192", 48 * MiB);
}

TEST_F(InputSize, OfDriversDoesNotComeWithAModelThatIsRefused) {
    const std::string broken = folder / "m.gguf";
    const std::string whole = read_bytes(model());
    write_bytes(broken, std::string_view(whole).substr(0, whole.size() / 2));
    expect_refusal({"run", "-m", broken, "-p", "Once"}, broken, "", 48 * MiB);
    expect_refusal({"record", "-m", broken, "-p", "Once", "--dry-run", "-o", folder / "t"}, broken, "", 48 * MiB);
    expect_refusal({"verify", "-m", broken, "-p", "Once", "--device", "blas,cpu"}, broken, "", 48 * MiB);
    expect_refusal({"embed-image", "--mmproj", broken, "--image", photo(), "-o", folder / "e"}, broken, "", 48 * MiB);
    expect_refusal({"run", "-m", model(), "--mmproj", broken, "--image", photo()}, broken, "", 48 * MiB);
}

} // namespace
} // namespace schedscope::test
