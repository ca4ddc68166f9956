// BMP: the pixels of stb_image, which is not asked before all that it would read is there.
#include "tests/runtime/vision/decoders/plain_stb.h"
#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

BmpKind filled(BmpKind kind) {
    if (kind.bits < 16) {
        kind.palette = samples(1 << kind.bits, 4, 1, 5);
    }
    kind.rows = samples(static_cast<int>(bmp_row_bytes(kind)), std::abs(kind.height), 1);
    return kind;
}

TEST(Bmp, HasThePixelsOfStbInAllKinds) {
    for (const int bits : {1, 4, 8, 16, 24, 32}) {
        for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {33, -17}, {64, 20}}) {
            for (const int header_bytes : {40, 108, 124}) {
                const std::string file = bmp(filled({width, height, bits, header_bytes, {}, {}, {}}));
                const vision::Image expected = plain_stb(file);
                ASSERT_GT(expected.width, 0) << bits << " bits, header of " << header_bytes;
                expect_same(decode(file), expected, std::to_string(bits) + " bits");
            }
        }
    }
}

TEST(Bmp, HasThePixelsOfStbWithColoursInAnyBits) {
    const std::vector<std::vector<uint32_t>> masks{
        {0xf800, 0x07e0, 0x001f}, {0x0f00, 0x00f0, 0x000f}, {0xff0000, 0x00ff00, 0x0000ff}, {0x0000ff, 0x00ff00, 0xff0000}};
    for (const auto& mask : masks) {
        for (const int bits : {16, 32}) {
            const std::string file = bmp(filled({9, 7, bits, 40, mask, {}, {}}));
            const vision::Image expected = plain_stb(file);
            if (expected.width > 0) { // not all masks go with 16 bits
                expect_same(decode(file), expected, std::to_string(bits) + " bits");
            } else {
                EXPECT_THAT(refusal(file), HasSubstr("photo: the image (BMP) is damaged: "));
            }
        }
    }
}

TEST(Bmp, OfOs2IsReadWithoutAPalette) {
    const std::string file = bmp(filled({5, 3, 24, 12, {}, {}, {}}));
    expect_same(decode(file), plain_stb(file), "OS/2");
    EXPECT_EQ(refusal(bmp(filled({5, 3, 8, 12, {}, {}, {}}))), "photo: the image (BMP) can't be read: it has a palette of OS/2");
}

TEST(Bmp, WhosePaletteLacksAColourIsDamaged) {
    BmpKind kind{4, 2, 8, 40, {}, {}, std::vector<uint8_t>(8, 2)};
    kind.palette = samples(3, 4, 1);
    const std::string file = bmp(kind);
    expect_same(decode(file), plain_stb(file), "three colours");
    kind.rows[5] = 3;
    EXPECT_EQ(refusal(bmp(kind)), "photo: the image (BMP) is damaged: its palette lacks a colour");
    kind.palette.clear();
    EXPECT_EQ(refusal(bmp(kind)), "photo: the image (BMP) is damaged: its palette has 0 colours");
}

TEST(Bmp, WhoseRowsAreNotAllThereIsDamagedBeforeMemoryIsTaken) {
    std::string file = bmp(filled({4, 4, 24, 40, {}, {}, {}}));
    file.replace(18, 8, little_endian(13'000, 4) + little_endian(13'000, 4));
    EXPECT_EQ(refusal(file), "photo: the image (BMP) is damaged: the file ends too early");
}

TEST(Bmp, OfOtherKindsCanNotBeRead) {
    std::string file = bmp(filled({4, 4, 8, 40, {}, {}, {}}));
    std::string compressed = file, of_64_bytes = file, of_7_bits = file;
    compressed[30] = 1;
    of_64_bytes[14] = 64;
    of_7_bits[28] = 7;
    EXPECT_EQ(refusal(compressed), "photo: the image (BMP) can't be read: it is compressed");
    EXPECT_EQ(refusal(of_64_bytes), "photo: the image (BMP) can't be read: its header has 64 bytes");
    EXPECT_EQ(refusal(of_7_bits), "photo: the image (BMP) is damaged: a pixel has 7 bits");
}

} // namespace
} // namespace schedscope::test
