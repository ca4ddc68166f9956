// Images of all formats that people have, whole and broken.
#include "runtime/vision/read_image.h"
#include "tests/runtime/vision/files_in_memory.h"
#include "tests/runtime/vision/refusal.h"

#include "runtime/error.h"
#include "runtime/vision/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using vision::Image;

/// Of 16 × 8 pixels of grey 150.
const std::string baseline_jpeg =
    from_hex("ffd8ffe000104a46494600010100000100010000ffdb00430002010101010102010101020202020204030202020205040403040605060606"
             "05060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affc0000b080008001001011100ffc40015000101000000"
             "00000000000000000000000007ffc40014100100000000000000000000000000000000ffda0008010100003f00ac0fffd9");
const std::string progressive_jpeg =
    from_hex("ffd8ffe000104a46494600010100000100010000ffdb00430002010101010102010101020202020204030202020205040403040605060606"
             "05060606070908060709070606080b08090a0a0a0a0a06080b0c0b0a0c090a0a0affc2000b080008001001011100ffc40015000101000000"
             "00000000000000000000000006ffda0008010100000001ac7fffc40014100100000000000000000000000000000010ffda00080101000105"
             "023fffc40014100100000000000000000000000000000010ffda0008010100063f023fffc400141001000000000000000000000000000000"
             "10ffda0008010100013f213fffda00080101000000103fffc40014100100000000000000000000000000000010ffda0008010100013f103f"
             "ffd9");
/// Two frames of 16 × 8 pixels: 200 100 50, then 0 0 250.
const std::string two_frames =
    from_hex("47494638376110000800810000c864320000000000000000002c00000000100008000008150001081c48b0a0c18308132a5cc8b0a1c3870803"
             "02002c0000000010000800810000fa00000000000000000008150001081c48b0a0c18308132a5cc8b0a1c387080302003b");
const std::string small_bmp = bmp(3, 2, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}, {16, 17, 18}});
const std::string small_png = png(2, 2, 8, 2, {"\x01\x02\x03\x04\x05\x06", "\x07\x08\x09\x0a\x0b\x0c"});

TEST(Image, IsReadFromPng) {
    const Image image = decode(small_png);
    EXPECT_EQ(image.width, 2);
    EXPECT_EQ(image.height, 2);
    EXPECT_THAT(image.rgb, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

TEST(Image, IsCutFromSixteenBitsToEight) {
    const Image image = decode(png(1, 1, 16, 2, {std::string("\x10\xff\x20\x00\x30\x80", 6)}));
    EXPECT_THAT(image.rgb, ElementsAre(0x10, 0x20, 0x30));
}

TEST(Image, IsMadeOfThreeEqualChannelsWhereItIsGrey) {
    EXPECT_THAT(decode(png(2, 1, 8, 0, {"\x07\x09"})).rgb, ElementsAre(7, 7, 7, 9, 9, 9));
    EXPECT_THAT(decode(std::string("P5\n2 1\n255\n\x07\x09")).rgb, ElementsAre(7, 7, 7, 9, 9, 9));
}

TEST(Image, LosesItsTransparency) {
    EXPECT_THAT(decode(png(1, 1, 8, 6, {std::string("\x07\x08\x09\x00", 4)})).rgb, ElementsAre(7, 8, 9));
}

TEST(Image, IsReadFromBmp) {
    EXPECT_THAT(decode(small_bmp).rgb, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18));
}

TEST(Image, IsReadFromJpegOfBothKinds) {
    for (const std::string& file : {baseline_jpeg, progressive_jpeg}) {
        const Image image = decode(file);
        EXPECT_EQ(image.width, 16);
        EXPECT_EQ(image.height, 8);
        EXPECT_EQ(image.rgb, std::vector<uint8_t>(16 * 8 * 3, 150));
    }
}

TEST(Image, IsTheFirstFrameOfGif) {
    const Image image = decode(two_frames);
    EXPECT_EQ(image.width, 16);
    EXPECT_EQ(image.height, 8);
    EXPECT_THAT(std::vector<uint8_t>(image.rgb.end() - 3, image.rgb.end()), ElementsAre(200, 100, 50));
}

TEST(Image, IsReadFromPnm) {
    EXPECT_THAT(decode("P6\n# a remark\n2 1\n255\nabcdef").rgb, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
    EXPECT_THAT(decode("P6 2#x\n 1 255\nabcdef and more").rgb, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
    EXPECT_THAT(decode(std::string("P5\n1 1\n65535\n\x80\x00", 15)).rgb, ElementsAre(128, 128, 128)); // 32768 / 65535
    EXPECT_THAT(decode("P5\n2 1\n15\n\x0f\x05").rgb, ElementsAre(255, 255, 255, 85, 85, 85));
}

TEST(Image, CutAnywhereIsReadOrRefusedInOneLine) {
    int refused = 0;
    for (const std::string& whole :
         {small_png, small_bmp, baseline_jpeg, progressive_jpeg, two_frames, std::string("P6\n2 1\n255\nabcdef")}) {
        for (size_t size = 0; size < whole.size(); ++size) {
            const std::string why = refusal(whole.substr(0, size));
            refused += why.empty() ? 0 : 1;
            if (!why.empty()) {
                EXPECT_THAT(why, AllOf(HasSubstr("photo: "), Not(HasSubstr("\n"))));
            }
        }
        EXPECT_NE(refusal(whole.substr(0, whole.size() / 2)), "") << "half a file of " << whole.size() << " bytes";
        EXPECT_EQ(refusal(whole), "");
    }
    EXPECT_GT(refused, 300);
}

TEST(Image, WithAnyByteChangedIsReadOrRefusedInOneLine) {
    for (const std::string& whole : {small_png, small_bmp, baseline_jpeg, progressive_jpeg, two_frames}) {
        for (size_t at = 0; at < whole.size(); ++at) {
            for (const int with : {0x00, 0x01, 0x7f, 0xff}) {
                std::string changed = whole;
                changed[at] = static_cast<char>(with);
                EXPECT_THAT(refusal(changed), Not(HasSubstr("\n"))); // and nothing worse happens
            }
        }
    }
}

TEST(Image, ThatIsNoneIsRefused) {
    EXPECT_THAT(refusal(""), HasSubstr("photo: not an image: the file is empty"));
    EXPECT_THAT(refusal("once upon a time there was a file"),
                HasSubstr("photo: not an image that can be read (PNG, JPEG, WebP, BMP, GIF, PNM)"));
}

TEST(Image, OfTooManyPixelsIsRefusedBeforeItIsDecoded) {
    const auto too_large = [](const std::string& size) { return "photo: an image of " + size + " pixels is too large"; };
    EXPECT_EQ(refusal(png(30000, 30000, 8, 0, {})), too_large("30000 x 30000"));
    EXPECT_EQ(refusal(png(60000, 60000, 8, 2, {})), too_large("60000 x 60000"));
    EXPECT_EQ(refusal(png(70000, 1, 8, 2, {})), too_large("70000 x 1"));
    EXPECT_EQ(refusal(png(0xffffffffU, 0xffffffffU, 8, 2, {})), too_large("4294967295 x 4294967295"));
    EXPECT_EQ(refusal("P6\n999999999 999999999\n255\n"), too_large("999999999 x 999999999"));
    std::string rows_from_the_top = small_bmp, jpeg = baseline_jpeg, gif = two_frames;
    rows_from_the_top.replace(18, 8, std::string("\x03\0\0\0\0\0\0\x80", 8)); // 3, and the most negative number
    EXPECT_EQ(refusal(rows_from_the_top), too_large("3 x 2147483648"));
    jpeg.replace(jpeg.find("\xff\xc0") + 5, 4, "\xff\xff\xff\xff");
    gif.replace(6, 4, "\xff\xff\xff\xff");
    EXPECT_EQ(refusal(jpeg), too_large("65535 x 65535"));
    EXPECT_EQ(refusal(gif), too_large("65535 x 65535"));
}

TEST(Image, OfNoPixelsIsEmpty) {
    const auto empty = [](const std::string& size) { return "photo: the image is empty: " + size + " pixels"; };
    EXPECT_EQ(refusal(png(0, 10, 8, 2, {})), empty("0 x 10"));
    EXPECT_EQ(refusal(png(10, 0, 8, 2, {})), empty("10 x 0"));
    EXPECT_EQ(refusal("P6\n0 10\n255\n"), empty("0 x 10"));
    EXPECT_EQ(refusal(bmp(7, 0, {})), empty("7 x 0"));
    std::string gif = two_frames;
    gif.replace(6, 2, 2, '\0');
    EXPECT_EQ(refusal(gif), empty("0 x 8"));
}

TEST(Image, OfAKnownKindIsDamagedNotUnknown) {
    EXPECT_THAT(refusal(small_png.substr(0, 20)), HasSubstr("the image (PNG) is damaged: "));
    EXPECT_THAT(refusal(baseline_jpeg.substr(0, 20)), HasSubstr("the image (JPEG) is damaged: "));
    EXPECT_THAT(refusal(small_bmp.substr(0, 20)), HasSubstr("the image (BMP) is damaged: "));
    EXPECT_THAT(refusal("P6\n2 "), HasSubstr("the image (PNM) is damaged: its header is not complete"));
    EXPECT_THAT(refusal("P6\n2 1\n70000\nabcdef"), HasSubstr("the image (PNM) is damaged: samples up to 70000"));
}

TEST(Image, ThatIsNoFileIsRefused) {
    const auto why = [](const std::string& path) {
        try {
            vision::read_image(path);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input);
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(why("/nowhere/photo.png"), "/nowhere/photo.png: there is no such file");
    EXPECT_EQ(why("/tmp"), "/tmp: is a directory, not an image");
}

} // namespace
} // namespace schedscope::test
