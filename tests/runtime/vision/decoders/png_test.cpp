// PNG: the bytes are those of the file, and of stb_image.
#include "tests/runtime/vision/decoders/plain_stb.h"
#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

#include <zlib.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

std::string name_of(const PngKind& k) {
    return "colours " + std::to_string(k.colours) + ", " + std::to_string(k.bits) + " bits, " + std::to_string(k.width) + " x " +
           std::to_string(k.height) + (k.interlaced ? ", interlaced" : "") + (k.transparent ? ", transparent" : "");
}

/// Of all kinds that the format has.
std::vector<PngKind> all_kinds() {
    std::vector<PngKind> kinds;
    const std::vector<std::pair<int, std::vector<int>>> bits{
        {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
    for (const auto& [colours, depths] : bits) {
        for (const int depth : depths) {
            for (const bool interlaced : {false, true}) {
                for (const bool transparent : {false, true}) {
                    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {33, 17}}) {
                        if (!transparent || colours <= 3) {
                            kinds.push_back({width, height, depth, colours, interlaced, transparent, transparent != interlaced,
                                             colours == 3 ? 1 << depth : 0});
                        }
                    }
                }
            }
        }
    }
    return kinds;
}

TEST(Png, HasThePixelsOfStbInAllKinds) {
    for (const PngKind& kind : all_kinds()) {
        const std::string file = png(kind, samples(static_cast<int>(png_row_bytes(kind)), kind.height, 1));
        const vision::Image expected = plain_stb(file);
        ASSERT_GT(expected.width, 0) << name_of(kind);
        expect_same(decode(file), expected, name_of(kind));
    }
}

TEST(Png, HasThePixelsThatWereWritten) {
    PngKind kind;
    kind.width = 37;
    kind.height = 21;
    const std::vector<uint8_t> pixels = samples(37, 21, 3);
    EXPECT_EQ(decode(png(kind, pixels)).rgb, pixels);
    kind.interlaced = true;
    EXPECT_EQ(decode(png(kind, pixels)).rgb, pixels);
}

TEST(Png, OfSixteenBitsTakesThreeBytesForAPixel) {
    const std::string bomb = black_png(3000, 2500, 16, 6); // 60 MB in 60 KB
    EXPECT_LT(bomb.size(), size_t{100'000});
    const vision::Image image = decode(bomb);
    EXPECT_EQ(image.rgb, std::vector<uint8_t>(size_t{3000} * 2500 * 3));
}

TEST(Png, OfMorePixelsThanItsBytesCanHoldIsDamagedBeforeMemoryIsTaken) {
    std::string file = black_png(100, 100, 8, 2);
    const std::string header = "IHDR" + big_endian(13'000) + big_endian(13'000) + file.substr(24, 5);
    const auto sum =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size())));
    file.replace(12, header.size() + 4, header + big_endian(sum));
    EXPECT_EQ(refusal(file), "photo: the image (PNG) is damaged: the file ends too early");
}

TEST(Png, WithAWrongSumIsDamaged) {
    PngKind kind;
    std::string file = png(kind, samples(16, 16, 3));
    file[file.find("IDAT") + 20] = static_cast<char>(file[file.find("IDAT") + 20] ^ 1);
    EXPECT_THAT(refusal(file), HasSubstr("photo: the image (PNG) is damaged: "));
}

TEST(Png, WithAPaletteThatLacksColoursIsReadAlikeEachTime) {
    PngKind kind;
    kind.colours = 3;
    kind.n_palette = 2;
    kind.bits = 8;
    PngKind whole = kind;
    whole.n_palette = 256;
    std::string file = png(whole, samples(16, 16, 1));
    const size_t palette = file.find("PLTE");
    const std::string two = "PLTE" + file.substr(palette + 4, 6);
    const auto sum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(two.data()), static_cast<uInt>(two.size())));
    file.replace(palette - 4, 4 + 4 + 768 + 4, big_endian(6) + two + big_endian(sum));
    const vision::Image image = decode(file);
    EXPECT_EQ(image.rgb, decode(file).rgb);
    EXPECT_THAT(std::vector<uint8_t>(image.rgb.end() - 3, image.rgb.end()),
                ::testing::Each(0)); // colours that are not there are black
}

} // namespace
} // namespace schedscope::test
