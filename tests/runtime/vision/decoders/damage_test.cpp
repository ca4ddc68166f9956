// Files of all formats, cut anywhere and changed anywhere.
#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::StartsWith;

/// One of each format and of each way through its decoder.
std::vector<std::string> sound_files() {
    const auto with = [](auto kind, auto change) {
        change(kind);
        return kind;
    };
    const auto progressive = [](JpegKind& k) { k.progressive = true; };
    const auto cmyk = [](JpegKind& k) { k.colours = JpegKind::Colours::ycck; };
    const auto palette = [](PngKind& k) { k.colours = 3; };
    const auto interlaced = [](PngKind& k) {
        k.interlaced = true;
        k.bits = 16;
        k.colours = 6;
    };
    GifKind animal{9, 7, 12, 9, 2, 1, 3, 1, true, false, samples(8, 3, 1), samples(9, 7, 1)};
    for (uint8_t& pixel : animal.pixels) {
        pixel %= 8;
    }
    const PngKind deep = with(PngKind(), interlaced);
    return {jpeg({}),
            jpeg(with(JpegKind(), progressive)),
            jpeg(with(JpegKind(), cmyk)),
            png(PngKind(), samples(16, 16, 3)),
            png(with(PngKind(), palette), samples(16, 16, 1)),
            png(deep, samples(static_cast<int>(png_row_bytes(deep)), 16, 1)),
            webp(16, 16, 3, samples(16, 16, 3), -1),
            webp(16, 16, 4, samples(16, 16, 4), 60),
            gif(animal),
            bmp(BmpKind{7, 5, 24, 40, {}, {}, samples(24, 5, 1)}),
            bmp(BmpKind{7, 5, 4, 40, {}, samples(16, 4, 1), samples(4, 5, 1)}),
            bmp(BmpKind{7, 5, 16, 40, {0xf800, 0x07e0, 0x001f}, {}, samples(16, 5, 1)}),
            "P6\n3 2\n255\nabcdefghijklmnopqr",
            std::string("P5\n2 1\n65535\n\x01\x02\x03\x04", 17)};
}

TEST(DamagedImage, CutAnywhereIsRefusedOrLacksNothing) {
    for (const std::string& whole : sound_files()) {
        const vision::Image image = decode(whole);
        size_t refused = 0;
        for (size_t size = 0; size < whole.size(); ++size) {
            const std::string file = whole.substr(0, size);
            const std::string why = refusal(file);
            if (why.empty()) {
                expect_same(decode(file), image,
                            "the first " + std::to_string(size) + " bytes of " + std::to_string(whole.size()));
            } else {
                EXPECT_THAT(why, StartsWith("photo: "));
                ++refused;
            }
        }
        EXPECT_GE(refused + 4, whole.size()) << "only what fills up a row, or ends a file, is not needed";
    }
}

TEST(DamagedImage, ChangedAnywhereIsReadOrRefused) {
    uint32_t random = 7;
    const auto below = [&](size_t n) {
        random = random * 1664525U + 1013904223U;
        return (random >> 8U) % n;
    };
    size_t refused = 0;
    for (const std::string& whole : sound_files()) {
        for (int i = 0; i < 1500; ++i) {
            std::string file = whole;
            for (size_t n = 1 + below(4); n > 0; --n) {
                const size_t at = below(file.size());
                switch (below(4)) {
                case 0: file[at] = static_cast<char>(below(256)); break;
                case 1: file[at] = static_cast<char>(file[at] ^ (1 << below(8))); break;
                case 2: file.erase(at, std::min<size_t>(1 + below(8), file.size() - 1)); break;
                default: file.insert(at, file.substr(below(file.size()), 1 + below(16)));
                }
            }
            refused += refusal(file).empty() ? 0 : 1;
        }
    }
    EXPECT_GT(refused, 1000U);
}

} // namespace
} // namespace schedscope::test
