// Images: embed-image, and prompts with images from the command line to the trace.
#include "runtime/model/architecture.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <regex>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> floats_in(const std::string& path) {
    const std::string bytes = read_bytes(path);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        most = std::max<double>(most, std::abs(a[i] - b[i]));
    }
    return most;
}

/// A PPM of some pattern.
std::string ppm(int width, int height) {
    std::string file = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
    for (int i = 0; i < width * height * 3; ++i) {
        file += static_cast<char>(i * 7 + i / 31);
    }
    return file;
}

class WithImages : public ::testing::Test {
protected:
    Outcome embed(const std::vector<std::string>& more, const std::string& image = photo(),
                  const std::string& encoder = image_encoder()) {
        std::vector<std::string> arguments{"embed-image", "--mmproj", encoder, "--image", image};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
    /// A whole LLaVA: the tiny encoder and a text model.
    static std::vector<std::string> llava(const std::string& command, const std::vector<std::string>& more) {
        std::vector<std::string> arguments{command, "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "--temp",
                                           "0",     "-n", "8",     "-ctk",     "f32",           "-ctv",    "f32"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    json show(const std::string& trace, const std::string& what, const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments{"show", trace, "--what", what, "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return json::parse(run(arguments).out)[what];
    }
    /// Logits of a run, and its text.
    std::pair<std::vector<float>, std::string> logits(const std::vector<std::string>& more) {
        std::vector<std::string> arguments = llava("run", more);
        arguments.insert(arguments.end(), {"--logits-out", folder / "l.f32"});
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return {floats_in(folder / "l.f32"), outcome.out};
    }
    void expect_refusal(const std::vector<std::string>& arguments, int code, const std::string& words) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, code) << words;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, AllOf(::testing::StartsWith("schedscope: "), HasSubstr(words)));
    }

    Folder folder;
    /// Whose embeddings were computed in double precision.
    const std::string stored_encoder = paths::shared("models/llava-tiny/mmproj-tiny-f32.gguf"),
                      stored_photo = paths::shared("models/llava-tiny/test56.ppm");
};

TEST_F(WithImages, EmbeddingsAreTheStoredOnes) {
    NEEDS_SHARED();
    const Outcome outcome = embed({"-o", folder / "e.f32", "--device", "cpu"}, stored_photo, stored_encoder);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, stored_photo + ": 56 x 56 pixels, 1 image, 16 tokens of 64 values\n");
    EXPECT_LT(largest_difference(floats_in(folder / "e.f32"), floats_in(paths::shared("models/llava-tiny/embeddings-16x64.f32"))),
              1e-5);
}

TEST_F(WithImages, EmbeddingsAreTheStoredOnesOnVulkan) {
    NEEDS_SHARED();
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    EXPECT_EQ(
        embed({"-o", folder / "e.f32", "--device", "vulkan0,cpu", "--record", folder / "t.trace"}, stored_photo, stored_encoder)
            .code,
        0);
    EXPECT_LT(largest_difference(floats_in(folder / "e.f32"), floats_in(paths::shared("models/llava-tiny/embeddings-16x64.f32"))),
              1e-3);
    int on_device = 0;
    for (const auto& row : show(folder / "t.trace", "assignments")) {
        on_device += row["op"] != "NONE" && row["backend"] == "Vulkan0" ? 1 : 0;
    }
    EXPECT_EQ(on_device, 121); // all of it
}

TEST_F(WithImages, EncodersStayOnTheHostWhereNothingIsOffloaded) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const std::vector<std::string> here{"-o", folder / "e.f32", "--device", "vulkan0,cpu", "--record"};
    auto host = here, patterns = here;
    host.insert(host.end(), {folder / "host.trace", "-ngl", "0"});
    patterns.insert(patterns.end(), {folder / "patterns.trace", "-ot", "v\\.blk\\.[01]\\.=cpu"});
    EXPECT_EQ(embed(host).code, 0);
    const Outcome by_pattern = embed(patterns);
    EXPECT_EQ(by_pattern.code, 0);
    EXPECT_THAT(by_pattern.err, HasSubstr("-ot v\\.blk\\.[01]\\.=CPU: 32 tensors"));
    const auto backend_of = [&](const std::string& trace, const std::string& name) {
        for (const auto& row : show(folder / trace, "assignments")) {
            if (row["name"] == name) {
                return row["backend"].get<std::string>();
            }
        }
        return std::string("nowhere");
    };
    EXPECT_EQ(backend_of("host.trace", "ffn_out-2"), "CPU");
    EXPECT_EQ(backend_of("patterns.trace", "v.blk.1.ffn_up.weight"), "CPU");
    EXPECT_EQ(backend_of("patterns.trace", "v.blk.2.ffn_up.weight"), "Vulkan0");
    // What a trace of the one says of the other.
    EXPECT_EQ(embed({"-o", folder / "e.f32", "--device", "vulkan0,cpu", "--record", folder / "gpu.trace"}).code, 0);
    const std::string what_if = run({"replay", folder / "gpu.trace", "--set", "ngl=0"}).out;
    EXPECT_THAT(what_if, HasSubstr("nodes on CPU"));
    EXPECT_TRUE(std::regex_search(what_if, std::regex("nodes on Vulkan0 +121 +0"))) << what_if;
    EXPECT_TRUE(std::regex_search(what_if, std::regex("weights in Vulkan0 +201 KiB +0 B"))) << what_if;
}

TEST_F(WithImages, GenerateOneText) {
    const auto [once, text] = logits({"-p", "Once upon a time", "--device", "cpu"});
    EXPECT_EQ(once.size(), 8U * 512);
    EXPECT_GT(text.size(), 4U);
    EXPECT_EQ(logits({"-p", "Once upon a time", "--device", "cpu"}).second, text);
    // It looks at the image: another one leads to other logits.
    write_bytes(folder / "other.ppm", ppm(90, 40));
    std::vector<std::string> other =
        llava("run", {"-p", "Once upon a time", "--device", "cpu", "--logits-out", folder / "o.f32"});
    std::replace(other.begin(), other.end(), photo(), folder / "other.ppm");
    EXPECT_EQ(run(other).code, 0);
    EXPECT_GT(largest_difference(floats_in(folder / "o.f32"), once), 0.01);
    if (has_device("Vulkan0")) {
        const auto [device, device_text] = logits({"-p", "Once upon a time", "--device", "vulkan0,cpu", "-fa", "off"});
        EXPECT_EQ(device_text, text);
        EXPECT_LT(largest_difference(device, once), 0.02);
        // Some blocks here, some there, and the encoder's too.
        const auto [mixed, mixed_text] =
            logits({"-p", "Once upon a time", "--device", "vulkan0,cpu", "-fa", "off", "-ngl", "3", "-ot", "v\\.blk\\.1=cpu"});
        EXPECT_EQ(mixed_text, text);
        EXPECT_LT(largest_difference(mixed, once), 0.02);
    }
}

TEST_F(WithImages, PromptsAreThoseOfLlava) {
    const auto of = [&](const std::vector<std::string>& prompt) {
        std::vector<std::string> arguments = prompt;
        arguments.insert(arguments.end(), {"--device", "cpu"});
        return logits(arguments).first;
    };
    EXPECT_EQ(of({}), of({"-p", "USER: <image>\ndescribe the image in detail.\nASSISTANT:"}));
    EXPECT_EQ(of({"-p", "Why?"}), of({"-p", "USER: <image>\nWhy?\nASSISTANT:"}));
    EXPECT_NE(of({"-p", "Why?"}), of({}));
    write_bytes(folder / "prompt.txt", "A <image> B");
    EXPECT_EQ(of({"-f", folder / "prompt.txt"}), of({"-p", "A <image> B"}));
    EXPECT_NE(of({"-p", "A <image> B"}), of({"-p", "<image> A B"}));
    // Two images in one place, and in two.
    EXPECT_EQ(of({"--image", photo(), "-p", "A <image> B"}), of({"--image", photo(), "-p", "A <image><image> B"}));
    EXPECT_EQ(of({"--image", photo(), "-p", "Why?"}), of({"--image", photo(), "-p", "USER: <image><image>\nWhy?\nASSISTANT:"}));
    // Ids have no place for it: behind the BOS.
    EXPECT_EQ(of({"--tokens", "1,403,407"}).size(), 8U * 512);
}

TEST_F(WithImages, TracesNameTheEncoderAndReplay) {
    std::vector<std::string> devices{"cpu"};
    if (has_device("Vulkan0")) {
        devices.emplace_back("vulkan0,cpu");
    }
    for (const std::string& device : devices) {
        const std::string trace = folder / (device.substr(0, 3) + ".trace");
        const Outcome recorded = run(llava("record", {"-p", "A <image> B", "--device", device, "-o", trace}));
        EXPECT_EQ(recorded.code, 0) << recorded.err;
        std::vector<std::string> kinds;
        for (const auto& row : show(trace, "reuse")) {
            kinds.push_back(row["kind"]);
        }
        kinds.resize(5);
        EXPECT_THAT(kinds, ElementsAre("encoder", "prefill", "prefill", "prefill", "decode"));
        EXPECT_THAT(run({"show", trace}).out,
                    AllOf(HasSubstr("mmproj-tiny-f32.gguf"), HasSubstr("test56.ppm: 56 x 56 pixels, 1 image, 16 tokens")));
        const json replay = json::parse(run({"replay", trace, "--json"}).out);
        EXPECT_GT(replay["compared"], 1000);
        EXPECT_EQ(replay["compared"], replay["identical"]);
        EXPECT_THAT(run({"explain", trace, "ffn_out-2", "--eval", "0"}).out, HasSubstr("ffn_out-2"));
    }
    const Outcome secret = run(llava("record", {"-p", "Why?", "--device", "cpu", "--no-text", "-o", folder / "s.trace"}));
    EXPECT_EQ(secret.code, 0);
    EXPECT_THAT(run({"show", folder / "s.trace"}).out, ::testing::Not(HasSubstr("test56")));
}

TEST_F(WithImages, TilesOfOneSizeRunOnePlan) {
    EXPECT_EQ(run({"synth", "llava", "--preset", "tiny-1.6", "-o", folder / "tiled.gguf"}).code, 0);
    write_bytes(folder / "wide.ppm", ppm(800, 663));
    const Outcome outcome = embed({"-o", folder / "e.f32", "--device", "cpu", "--record", folder / "t.trace"},
                                  folder / "wide.ppm", folder / "tiled.gguf");
    EXPECT_THAT(outcome.out, HasSubstr("800 x 663 pixels, at 112 x 112, 5 images, 80 tokens of 64 values"));
    EXPECT_EQ(floats_in(folder / "e.f32").size(), 80U * 64);
    std::vector<bool> reused;
    for (const auto& row : show(folder / "t.trace", "reuse")) {
        reused.push_back(row["reused"]);
    }
    EXPECT_THAT(reused, ElementsAre(false, true, true, true, true));
    // As the original: ⌊663 × 8/800⌋ = 6 of 8 rows are image, each with its end.
    const Outcome with =
        embed({"-o", folder / "n.f32", "--device", "cpu", "--image-newline"}, folder / "wide.ppm", folder / "tiled.gguf");
    EXPECT_THAT(with.out, HasSubstr("70 tokens"));
    EXPECT_EQ(floats_in(folder / "n.f32").size(), (16U + 6 * 9) * 64);
}

TEST_F(WithImages, RealShapesAreMadeUpAndPlanned) {
    write_bytes(folder / "wide.ppm", ppm(800, 663));
    const auto tokens = [&](const std::string& preset) {
        EXPECT_EQ(run({"synth", "llava", "--preset", preset, "--header-only", "-o", folder / (preset + ".gguf")}).code, 0);
        const Outcome outcome = embed({"--dry-run", "--record", folder / (preset + ".trace"), "--device", "gpu=vulkan:24GiB,cpu"},
                                      folder / "wide.ppm", folder / (preset + ".gguf"));
        EXPECT_EQ(outcome.err, "");
        return outcome.out.substr(outcome.out.find(": ") + 2);
    };
    EXPECT_EQ(tokens("1.5-7b"), "800 x 663 pixels, 1 image, 576 tokens of 4,096 values\n");
    EXPECT_EQ(tokens("1.5-13b"), "800 x 663 pixels, 1 image, 576 tokens of 5,120 values\n");
    EXPECT_EQ(tokens("1.6-7b"), "800 x 663 pixels, at 672 x 672, 5 images, 2,880 tokens of 4,096 values\n");
    EXPECT_EQ(tokens("yi-vl-6b"), "800 x 663 pixels, 1 image, 1,024 tokens of 4,096 values\n");
    EXPECT_EQ(tokens("mobilevlm-1.7b"), "800 x 663 pixels, 1 image, 144 tokens of 2,048 values\n");
    EXPECT_EQ(tokens("mobilevlm-v2-1.7b"), "800 x 663 pixels, 1 image, 144 tokens of 2,048 values\n");
    EXPECT_EQ(tokens("minicpm-v-2.5"), "800 x 663 pixels, at 980 x 812, 5 images, 480 tokens of 4,096 values\n");
    EXPECT_EQ(tokens("minicpm-v-2.6"), "800 x 663 pixels, at 980 x 812, 5 images, 320 tokens of 3,584 values\n");
}

TEST_F(WithImages, PlansOfEncodersTellWhatDoesNotFit) {
    EXPECT_EQ(run({"synth", "llava", "--preset", "1.6-7b", "--header-only", "-o", folder / "p.gguf"}).code, 0);
    const auto planned = [&](const std::string& device) {
        return embed({"--dry-run", "--record", folder / "t.trace", "--device", device + ",cpu"}, photo(), folder / "p.gguf");
    };
    EXPECT_EQ(planned("big=vulkan:24GiB").err, "");
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("memory of big"), HasSubstr("(weights 59")));
    const Outcome outcome = planned("little=vulkan:300MiB");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("little: what was placed there does not fit"), HasSubstr("of 300"),
                                   ::testing::Not(HasSubstr("KV cache"))));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr("does not fit"));
    EXPECT_EQ(run({"replay", folder / "t.trace"}).code, 0);
}

TEST_F(WithImages, WholeModelsArePlannedFromHeaders) {
    EXPECT_EQ(run({"synth", "llama", "--preset", "7b", "--type", "q4_0", "--header-only", "-o", folder / "m.gguf"}).code, 0);
    EXPECT_EQ(run({"synth", "llava", "--preset", "1.6-7b", "--header-only", "-o", folder / "p.gguf"}).code, 0);
    write_bytes(folder / "wide.ppm", ppm(800, 663));
    const Outcome outcome = run({"record", "-m", folder / "m.gguf", "--mmproj", folder / "p.gguf", "--image", folder / "wide.ppm",
                                 "-c", "4096", "--dry-run", "--device", "gpu=vulkan:24GiB,cpu", "-o", folder / "t.trace"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::map<std::string, int> kinds;
    for (const auto& row : show(folder / "t.trace", "reuse")) {
        ++kinds[row["kind"]];
    }
    EXPECT_EQ(kinds["encoder"], 5);
    EXPECT_EQ(kinds["prefill"], 1 + 6 + 1); // the halves, and 2880 rows in ubatches of 512
    EXPECT_EQ(kinds["decode"], 1);
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr("memory of gpu"));
}

TEST_F(WithImages, EveryNodeOfTheEncoderIsVerified) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Outcome outcome = run({"verify", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "-p", "Why?", "-n",
                                 "1", "--device", "vulkan0,cpu", "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["beyond"], 0);
    int of_encoder = 0;
    for (const auto& check : result["results"]) {
        of_encoder += check["eval"] == 0 ? 1 : 0;
    }
    EXPECT_EQ(of_encoder, 94); // 121 without the views
}

TEST_F(WithImages, OddImagesAreTakenOrRefusedInOneLine) {
    EXPECT_EQ(run({"synth", "llava", "--preset", "tiny-1.6", "-o", folder / "tiled.gguf"}).code, 0);
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 20000}, {20000, 1}, {3, 5000}}) {
        write_bytes(folder / "odd.ppm", ppm(width, height));
        for (const std::string& encoder : {image_encoder(), folder / "tiled.gguf"}) {
            const Outcome outcome = embed({"-o", folder / "e.f32", "--device", "cpu"}, folder / "odd.ppm", encoder);
            EXPECT_EQ(outcome.code, 0) << outcome.err;
            EXPECT_LT(outcome.peak_bytes, 256LL << 20U);
            for (const float v : floats_in(folder / "e.f32")) {
                ASSERT_TRUE(std::isfinite(v));
            }
        }
    }
    write_bytes(folder / "cut.ppm", ppm(100, 100).substr(0, 2000));
    write_bytes(folder / "text.png", "this is no image");
    write_bytes(folder / "empty.png", "");
    for (const char* name : {"cut.ppm", "text.png", "empty.png", "missing.png"}) {
        const std::string path = folder / name;
        expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", path, "-o", folder / "x.f32"}, 3, path);
        expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", path, "-p", "Why?"}, 3, path);
    }
}

TEST_F(WithImages, HostileImagesAreRefusedInOneLine) {
    // A table of 4080 codes, where there are 256 symbols.
    const std::string codes =
        std::string("\xff\xd8\xff\xc4\x10\x03\x10", 7) + std::string(16, '\xff') + std::string(4080, '\x01');
    write_bytes(folder / "codes.jpg", codes);
    // A frame of 13000 x 13000 pixels in three bytes.
    const std::string side = "\xc8\x32";
    write_bytes(folder / "small.gif", "GIF89a" + side + side + std::string("\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0", 14) + side +
                                          side + std::string("\0\x02\x02\x4c\x01\0;", 7));
    for (const auto& [name, why] : {std::pair{"codes.jpg", "the image (JPEG) is damaged: bogus Huffman table definition"},
                                    {"small.gif", "the image (GIF) is damaged: the file ends too early"}}) {
        const std::string path = folder / name;
        expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", path, "-o", folder / "x.f32"}, 3,
                       path + ": " + why);
        expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", path, "-p", "Why?"}, 3, path + ": " + why);
    }
}

TEST_F(WithImages, WhatMakesNoSenseIsRefused) {
    const std::string out = folder / "x.f32";
    expect_refusal({"run", "-m", model(), "--image", photo(), "-p", "Why?"}, 2, "--mmproj");
    expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "--image", photo(), "--image", photo(),
                    "-p", "<image> <image>"},
                   2, "2 places for images (<image>), but 3 are given");
    expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "--seq", "1:Why?"}, 2, "--seq");
    // Without images there is no place for one.
    write_bytes(folder / "prompt.txt", "A <image> B");
    for (const std::vector<std::string>& prompt :
         {std::vector<std::string>{"-p", "A <image> B"}, {"-f", folder / "prompt.txt"}, {"--seq", "1:A <image> B"}}) {
        std::vector<std::string> arguments{"run", "-m", model(), "--mmproj", image_encoder()};
        arguments.insert(arguments.end(), prompt.begin(), prompt.end());
        expect_refusal(arguments, 2, "a place for an image (<image>)");
    }
    expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "-p", "<image>", "--seq", "1:<image>"},
                   2, "--seq: it has a place for an image (<image>)");
    EXPECT_EQ(run({"run", "-m", model(), "-p", "A <image> B", "-n", "1", "--device", "cpu"}).code,
              0); // of a text model it is text
    expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "-ot", "nothing=cpu"}, 2,
                   "matches no weight");
    expect_refusal({"run", "-m", model(), "--mmproj", model(), "--image", photo()}, 3, "not an image encoder");
    expect_refusal({"run", "-m", image_encoder(), "-p", "Why?"}, 3, "'clip' is not supported");
    expect_refusal({"run", "-m", model(), "--mmproj", folder / "none.gguf", "--image", photo()}, 3, "none.gguf");
    expect_refusal({"run", "-m", model(), "--mmproj", image_encoder(), "--image", photo(), "--image-newline"}, 2,
                   "--image-newline");
    expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", photo()}, 2, "-o");
    expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", photo(), "-o", out, "--dry-run"}, 2, "--record");
    expect_refusal({"embed-image", "--mmproj", image_encoder(), "--image", photo(), "-o", folder.path()}, 4, folder.path());
    expect_refusal({"synth", "llava", "--preset", "none", "-o", out}, 2, "there is no preset 'none'");
    expect_refusal({"synth", "whisper", "-o", out}, 2, std::string(architectures().back()->name) + " and llava");
    const Outcome mismatch = run({"synth", "llava", "--preset", "1.5-7b", "--header-only", "-o", folder / "large.gguf"});
    EXPECT_EQ(mismatch.code, 0);
    expect_refusal(
        {"record", "-m", model(), "--mmproj", folder / "large.gguf", "--image", photo(), "--dry-run", "-o", folder / "t.trace"},
        3, "embeddings of 4096 values, but the model reads 64");
}

TEST_F(WithImages, EncodersCutAnywhereAreRefused) {
    const std::string whole = read_bytes(image_encoder());
    for (const size_t size : {size_t{0}, size_t{10}, size_t{500}, size_t{3000}, whole.size() / 2, whole.size() - 1}) {
        write_bytes(folder / "cut.gguf", whole.substr(0, size));
        expect_refusal({"embed-image", "--mmproj", folder / "cut.gguf", "--image", photo(), "-o", folder / "x.f32"}, 3,
                       "cut.gguf");
    }
}

} // namespace
} // namespace schedscope::test
