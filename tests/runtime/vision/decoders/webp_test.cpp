// WebP: lossless files give back what was written, others what libwebp makes of them.
#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

#include <webp/decode.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

TEST(WebP, LosslessHasThePixelsThatWereWritten) {
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {60, 41}}) {
        const std::vector<uint8_t> pixels = samples(width, height, 3);
        const vision::Image image = decode(webp(width, height, 3, pixels, -1));
        EXPECT_EQ(image.width, width);
        EXPECT_EQ(image.height, height);
        EXPECT_EQ(image.rgb, pixels);
    }
}

TEST(WebP, LosesItsTransparencyAndNothingElse) {
    const std::vector<uint8_t> pixels = samples(30, 20, 4);
    std::vector<uint8_t> rgb;
    for (size_t i = 0; i < pixels.size(); ++i) {
        if (i % 4 != 3) {
            rgb.push_back(pixels[i]);
        }
    }
    EXPECT_EQ(decode(webp(30, 20, 4, pixels, -1)).rgb, rgb);
}

TEST(WebP, LossyHasThePixelsOfItsLibrary) {
    for (const int channels : {3, 4}) {
        const std::string file = webp(61, 40, channels, samples(61, 40, channels), 80);
        std::vector<uint8_t> expected(size_t{61} * 40 * 3);
        ASSERT_NE(WebPDecodeRGBInto(reinterpret_cast<const uint8_t*>(file.data()), file.size(), expected.data(), expected.size(),
                                    61 * 3),
                  nullptr);
        EXPECT_EQ(decode(file).rgb, expected);
    }
}

/// The first chunk of a file that says what else there is: an animation.
std::string animation(int width, int height) {
    const std::string features = std::string("\x02\0\0\0", 4) + little_endian(static_cast<uint32_t>(width - 1), 3) +
                                 little_endian(static_cast<uint32_t>(height - 1), 3);
    const std::string chunks = "WEBPVP8X" + little_endian(10, 4) + features + "ANIM" + little_endian(6, 4) + std::string(6, '\0');
    return "RIFF" + little_endian(static_cast<uint32_t>(chunks.size()), 4) + chunks;
}

TEST(WebP, ThatIsAnAnimationCanNotBeRead) {
    EXPECT_EQ(refusal(animation(16, 16)), "photo: the image (WebP) can't be read: it is an animation");
}

TEST(WebP, OfTooManyPixelsIsRefusedByItsHeader) {
    EXPECT_EQ(refusal(animation(16384, 16384)), "photo: an image of 16384 x 16384 pixels is too large");
}

} // namespace
} // namespace schedscope::test
