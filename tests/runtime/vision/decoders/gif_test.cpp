// GIF: the pixels of stb_image, which gets the first frame alone.
#include "tests/runtime/vision/decoders/plain_stb.h"
#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

GifKind filled(GifKind kind, int n_colours) {
    kind.palette = samples(n_colours, 3, 1, 9);
    kind.pixels = samples(kind.width, kind.height, 1);
    std::for_each(kind.pixels.begin(), kind.pixels.end(), [&](uint8_t& p) { p = static_cast<uint8_t>(p % n_colours); });
    return kind;
}

TEST(Gif, HasThePixelsOfStb) {
    for (const int n_colours : {2, 4, 16, 256}) {
        for (const bool interlaced : {false, true}) {
            for (const bool local : {false, true}) {
                for (const int transparent : {-1, 1}) {
                    GifKind kind;
                    kind.width = kind.screen_width = 31;
                    kind.height = kind.screen_height = 19;
                    kind.interlaced = interlaced;
                    kind.local_palette = local;
                    kind.transparent = transparent;
                    const std::string file = gif(filled(kind, n_colours));
                    const vision::Image expected = plain_stb(file);
                    ASSERT_EQ(expected.width, 31);
                    expect_same(decode(file), expected, std::to_string(n_colours) + " colours");
                }
            }
        }
    }
}

TEST(Gif, HasTheColoursThatWereWritten) {
    const GifKind kind = filled({31, 19, 31, 19, 0, 0, 0, -1, false, false, {}, {}}, 16);
    const vision::Image image = decode(gif(kind));
    for (size_t i = 0; i < kind.pixels.size(); ++i) {
        for (size_t c = 0; c < 3; ++c) {
            ASSERT_EQ(image.rgb[3 * i + c], kind.palette[size_t{3} * kind.pixels[i] + c]);
        }
    }
}

TEST(Gif, WhoseFrameIsSmallerThanItsScreenHasTheBackgroundOfStb) {
    for (const int background : {0, 3}) {
        GifKind kind{5, 4, 12, 9, 3, 2, background, -1, false, false, {}, {}};
        const std::string file = gif(filled(kind, 8));
        expect_same(decode(file), plain_stb(file), "background " + std::to_string(background));
    }
}

TEST(Gif, WhoseFrameIsNotInsideItsScreenIsDamaged) {
    EXPECT_EQ(refusal(gif(filled({5, 4, 6, 4, 2, 0, 0, -1, false, false, {}, {}}, 4))),
              "photo: the image (GIF) is damaged: its frame is larger than its screen");
}

TEST(Gif, OfMorePixelsThanItsDataCanFillIsDamagedBeforeMemoryIsTaken) {
    // 35 bytes that took a gigabyte.
    const std::string screen = little_endian(13'000, 2) + little_endian(13'000, 2);
    const std::string bomb = "GIF89a" + screen + std::string("\x80\0\0\0\0\0\xff\xff\xff", 9) + "," + little_endian(0, 4) +
                             screen + std::string("\0\x02\x02\x4c\x01\0;", 7);
    EXPECT_EQ(bomb.size(), 35U);
    EXPECT_EQ(refusal(bomb), "photo: the image (GIF) is damaged: the file ends too early");
}

TEST(Gif, OfAVeryLargeScreenTakesTooMuchMemory) {
    EXPECT_EQ(refusal(gif(filled({4, 4, 13'000, 13'000, 0, 0, 0, -1, false, false, {}, {}}, 4))),
              "photo: takes more than 1536 MiB of memory to be decoded");
}

TEST(Gif, WithoutColoursOrFramesIsDamaged) {
    const GifKind kind = filled({4, 4, 4, 4, 0, 0, 0, -1, false, true, {}, {}}, 4);
    std::string no_palette = gif(kind), no_frame = gif(kind);
    const size_t frame = no_frame.find(',');
    no_frame.replace(frame, 1, ";");
    EXPECT_EQ(refusal(no_frame), "photo: the image (GIF) is damaged: it holds no frame");
    no_palette[frame + 9] = 0;
    EXPECT_EQ(refusal(no_palette), "photo: the image (GIF) is damaged: it has no colours");
}

TEST(Gif, WithAFirstCodeOfManyBitsIsDamaged) {
    std::string file = gif(filled({4, 4, 4, 4, 0, 0, 0, -1, false, false, {}, {}}, 4));
    const size_t bits = file.find(',') + 10;
    ASSERT_EQ(file[bits], 2);
    for (const char wrong : {'\0', '\x09', '\x0c', '\xff'}) {
        file[bits] = wrong;
        EXPECT_THAT(refusal(file), HasSubstr("photo: the image (GIF) is damaged: its first code has "));
    }
}

} // namespace
} // namespace schedscope::test
