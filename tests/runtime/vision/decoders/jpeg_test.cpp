// JPEG: the pixels are stb_image's, and nothing of a hostile file reaches it.
#include "tests/runtime/vision/decoders/plain_stb.h"
#include "tests/runtime/vision/decoders/written.h"

#include "runtime/system/budget.h"
#include "runtime/vision/decoders/recoded_jpeg.h"
#include "tests/runtime/vision/refusal.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;
using Colours = JpegKind::Colours;
using Sampling = std::vector<std::pair<int, int>>;

void expect_as_stb(const std::string& file, const std::string& what) {
    const vision::Image expected = plain_stb(file);
    ASSERT_GT(expected.width, 0) << what << ": stb_image can't read it";
    expect_same(decode(file), expected, what);
}

TEST(Jpeg, HasThePixelsOfStbInEachSizeAndSampling) {
    const std::vector<std::pair<int, int>> sizes{{1, 1}, {7, 9}, {8, 8}, {16, 16}, {17, 33}, {65, 47}, {131, 20}};
    const std::vector<Sampling> samplings{{{1, 1}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}},
                                          {{1, 2}, {1, 1}, {1, 1}}, {{4, 1}, {1, 1}, {1, 1}}, {{4, 2}, {1, 1}, {1, 1}},
                                          {{2, 2}, {2, 1}, {1, 2}}, {{1, 1}, {2, 2}, {1, 1}}};
    for (const auto& [width, height] : sizes) {
        for (const Sampling& sampling : samplings) {
            for (const bool progressive : {false, true}) {
                JpegKind kind;
                kind.width = width;
                kind.height = height;
                kind.sampling = sampling;
                kind.progressive = progressive;
                std::string what = std::to_string(width) + " x " + std::to_string(height) + (progressive ? " progressive" : "");
                for (const auto& [h, v] : sampling) {
                    what += " " + std::to_string(h) + "x" + std::to_string(v);
                }
                expect_as_stb(jpeg(kind), what);
            }
        }
    }
}

TEST(Jpeg, HasThePixelsOfStbInAllColours) {
    for (const Colours colours : {Colours::grey, Colours::ycc, Colours::rgb, Colours::cmyk, Colours::ycck}) {
        for (const bool adobe : {true, false}) {
            for (const bool progressive : {false, true}) {
                JpegKind kind;
                kind.width = 43;
                kind.height = 29;
                kind.colours = colours;
                kind.adobe = adobe;
                kind.progressive = progressive;
                expect_as_stb(jpeg(kind), "colours " + std::to_string(static_cast<int>(colours)) + (adobe ? " Adobe" : ""));
            }
        }
    }
}

TEST(Jpeg, HasThePixelsOfStbInEachQuality) {
    for (const int quality : {1, 10, 50, 75, 95, 100}) {
        for (const bool coarse : {false, true}) { // steps above 255 are written in 16 bits
            JpegKind kind;
            kind.width = 64;
            kind.height = 40;
            kind.quality = quality;
            kind.coarse = coarse;
            expect_as_stb(jpeg(kind), "quality " + std::to_string(quality));
        }
    }
}

TEST(Jpeg, HasThePixelsOfStbWithRestartsAndScansOfEachColour) {
    for (const int interval : {1, 3, 40}) {
        JpegKind kind;
        kind.width = 99;
        kind.height = 50;
        kind.restart_interval = interval;
        expect_as_stb(jpeg(kind), "a restart each " + std::to_string(interval));
        kind.progressive = true;
        expect_as_stb(jpeg(kind), "a restart each " + std::to_string(interval) + ", progressive");
    }
    JpegKind apart;
    apart.width = 50;
    apart.height = 70;
    apart.scans = {{0, 0, 63, 0, 0}, {1, 0, 63, 0, 0}, {2, 0, 63, 0, 0}};
    expect_as_stb(jpeg(apart), "three scans");
    apart.sampling = {{4, 4}, {1, 1}, {2, 2}}; // more blocks than go in one scan
    expect_as_stb(jpeg(apart), "three scans, 21 blocks");
}

TEST(Jpeg, HasThePixelsOfStbWhateverStandsBetweenItsSegments) {
    JpegKind kind;
    kind.comment = std::string(60'000, 'c');
    const std::string file = jpeg(kind);
    expect_as_stb(file, "a comment");
    expect_as_stb(file + std::string(1000, '\xff'), "something behind its end");
    std::string filled = file;
    filled.insert(2, "\xff\xe1\x00\x06once\xff\xff", 10); // another program's segment, and bytes that fill up
    expect_as_stb(filled, "an unknown segment");
}

TEST(Jpeg, IsWrittenAgainWithNoMoreThanItNeeds) {
    JpegKind kind;
    kind.comment = "once";
    kind.restart_interval = 1;
    kind.progressive = true;
    const std::string file = jpeg(kind);
    const vision::RecodedJpeg again = vision::recode_jpeg(bytes_of(file));
    const std::string bytes(reinterpret_cast<const char*>(again.data.get()), again.size);
    EXPECT_THAT(bytes, HasSubstr("\xff\xc0")); // baseline
    for (const char* segment : {"\xff\xc2", "\xff\xfe", "\xff\xdd"}) {
        EXPECT_THAT(file, HasSubstr(segment));
        EXPECT_THAT(bytes, ::testing::Not(HasSubstr(segment)));
    }
    expect_same(plain_stb(bytes), plain_stb(file), "written again");
}

/// A table of so many codes of each length; 0x00 is the first one of DC, 0x10 of AC.
std::string with_codes(std::string file, char table, const std::string& n_of_each_length, size_t n) {
    const std::string segment = std::string("\xff\xc4", 2) + static_cast<char>((19 + n) >> 8U) + static_cast<char>(19 + n) +
                                table + n_of_each_length + std::string(n, '\x01');
    return file.insert(2, segment);
}

TEST(Jpeg, WithMoreCodesThanThereAreSymbolsIsDamaged) {
    const std::string file = jpeg({});
    const std::string all = with_codes(file, '\x10', std::string(16, '\xff'), size_t{16} * 255);
    EXPECT_EQ(refusal(all), "photo: the image (JPEG) is damaged: bogus Huffman table definition");
    // As many as overwrote what lies behind the table of stb_image 2.27: in a file of less than a kilobyte.
    std::string lengths(16, '\0');
    lengths[8] = lengths[9] = '\xff';
    const std::string smaller = with_codes(file, '\x00', lengths, size_t{2} * 255);
    EXPECT_EQ(refusal(smaller), "photo: the image (JPEG) is damaged: bogus Huffman table definition");
}

/// All coefficients of grey in bands and bits of their own, in this many scans.
JpegKind of_scans(int n) {
    JpegKind kind;
    kind.colours = Colours::grey;
    kind.scans.push_back({0, 0, 0, 0, 0});
    for (int band = 1; band < 64; ++band) {
        kind.scans.push_back({0, band, band, 0, 1});
    }
    for (int band = 1; static_cast<int>(kind.scans.size()) < n; ++band) {
        kind.scans.push_back({0, band, band, 1, 0});
    }
    return kind;
}

TEST(Jpeg, OfManyScansIsRefused) {
    const auto most = static_cast<int>(budget::jpeg_scans);
    expect_as_stb(jpeg(of_scans(most)), "as many scans as it may have");
    EXPECT_EQ(refusal(jpeg(of_scans(most + 1))), "photo: the image (JPEG) can't be read: it has more than 100 scans");
}

TEST(Jpeg, MayHaveTheFewerScansTheMorePixelsItHas) {
    EXPECT_EQ(budget::jpeg_scans_of(1), budget::jpeg_scans);
    EXPECT_EQ(budget::jpeg_scans_of(12'000'000), budget::jpeg_scans);
    EXPECT_EQ(budget::jpeg_scans_of(budget::image_pixels), 12);
}

TEST(Jpeg, ThatOthersReadAndStbDoesNotCanNotBeRead) {
    JpegKind arithmetic;
    arithmetic.arithmetic = true;
    EXPECT_EQ(refusal(jpeg(arithmetic)), "photo: the image (JPEG) can't be read: arithmetic coding is not supported");
    std::string thirds = jpeg({});
    thirds[thirds.find("\xff\xc0") + 11] = 0x31;
    thirds[thirds.find("\xff\xc0") + 14] = 0x21;
    EXPECT_EQ(refusal(thirds),
              "photo: the image (JPEG) can't be read: the sizes of its components are no multiples of each other");
    std::string twelve_bits = jpeg({});
    twelve_bits[twelve_bits.find("\xff\xc0") + 4] = 12;
    EXPECT_THAT(refusal(twelve_bits), HasSubstr("photo: the image (JPEG) can't be read: unsupported JPEG data precision 12"));
    std::string lossless = jpeg({});
    lossless[lossless.find("\xff\xc0") + 1] = '\xc3';
    EXPECT_THAT(refusal(lossless), HasSubstr("photo: the image (JPEG) can't be read: unsupported JPEG process"));
}

TEST(Jpeg, WithOneNumberForTwoColoursIsDamaged) {
    std::string file = jpeg({});
    for (const size_t second : {file.find("\xff\xc0") + 13, file.find("\xff\xda") + 7}) {
        ASSERT_EQ(file[second], 2);
        file[second] = 1;
    }
    EXPECT_EQ(refusal(file), "photo: the image (JPEG) is damaged: two of its components have the same number");
}

TEST(Jpeg, WithValuesThatNoImageHasIsDamaged) {
    // Steps of 255 instead of 1: the coefficients were right for steps of 1.
    JpegKind kind;
    kind.quality = 100;
    std::string file = jpeg(kind);
    const size_t table = file.find(std::string("\xff\xdb\0\x43\0", 5));
    ASSERT_NE(table, std::string::npos);
    file.replace(table + 5, 64, 64, '\xff');
    EXPECT_EQ(refusal(file), "photo: the image (JPEG) is damaged: a block of it has values that no image has");
}

TEST(Jpeg, ThatEndsInTheMiddleOfItsDataIsDamaged) {
    JpegKind kind;
    kind.width = 200;
    kind.height = 200;
    const std::string file = jpeg(kind);
    EXPECT_EQ(refusal(file.substr(0, file.size() / 2)), "photo: the image (JPEG) is damaged: the file ends too early");
    EXPECT_EQ(refusal(file.substr(0, file.size() / 2) + "\xff\xd9"),
              "photo: the image (JPEG) is damaged: premature end of data segment");
}

} // namespace
} // namespace schedscope::test
