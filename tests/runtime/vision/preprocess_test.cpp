// What the encoder looks at, against the values of the programs that the models were trained with, and against a plain
// computation.
#include "runtime/error.h"
#include "runtime/vision/positions.h"
#include "runtime/vision/preprocess/arrange.h"
#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/preprocess/resize.h"
#include "runtime/vision/prompt_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace schedscope::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using vision::Arrangement;
using vision::EncoderHparams;
using vision::Image;
using vision::Size;
using vision::Views;

Image pattern(int width, int height) {
    Image image(width, height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < 3; ++c) {
                image.pixel(x, y)[c] = static_cast<uint8_t>(x * x * 3 + y * 7 + x * y * (c + 1) + c * 50);
            }
        }
    }
    return image;
}

uint64_t fnv(const std::vector<uint8_t>& bytes) {
    uint64_t h = 0xcbf29ce484222325ULL;
    for (const uint8_t b : bytes) {
        h = (h ^ b) * 0x100000001b3ULL;
    }
    return h;
}

EncoderHparams clip(int image_size) {
    EncoderHparams h;
    h.image_size = image_size;
    h.patch_size = 14;
    h.mean = {0.48145466F, 0.4578275F, 0.40821073F};
    h.std = {0.26862954F, 0.26130258F, 0.27577711F};
    return h;
}

EncoderHparams tiled(int n) {
    EncoderHparams h = clip(n);
    h.pinpoints = {{n, 2 * n}, {2 * n, n}, {2 * n, 2 * n}, {3 * n, n}, {n, 3 * n}};
    return h;
}

/// Back to bytes, red, green and blue of a pixel side by side, view behind view.
std::vector<uint8_t> pixels_of(const Views& views, const EncoderHparams& h) {
    std::vector<uint8_t> bytes;
    for (const vision::ImageView& v : views.views) {
        const auto n = static_cast<size_t>(v.width) * static_cast<size_t>(v.height);
        const std::vector<float> planes = planes_of(v, h);
        EXPECT_EQ(planes.size(), 3 * n);
        for (size_t i = 0; i < n; ++i) {
            for (size_t c = 0; c < 3; ++c) {
                bytes.push_back(static_cast<uint8_t>(std::lround((planes[c * n + i] * h.std[c] + h.mean[c]) * 255)));
            }
        }
    }
    return bytes;
}

// ---- Pillow 9.4: Image.resize((w, h), Image.BICUBIC) of `pattern`; the hash is over the result's bytes

TEST(Resize, GivesPillowsBytes) {
    const Image small = resize(pattern(7, 5), 3, 4);
    EXPECT_THAT(small.rgb, ElementsAreArray({3,  53, 103, 29, 80,  130, 86,  137, 192, 12, 63, 114, 42, 96,  153, 101, 158, 177,
                                             22, 74, 126, 54, 112, 179, 117, 180, 145, 32, 85, 138, 67, 128, 188, 131, 202, 83}));
    struct Case {
        int w, h, to_w, to_h;
        uint64_t hash;
    };
    for (const Case& c : {Case{4, 4, 9, 7, 0x96e6218da927ca0cULL},
                          {1, 1, 5, 3, 0x721d3579debe7bd1ULL},
                          {100, 37, 336, 336, 0x38da23bbd2f22e58ULL},
                          {800, 663, 672, 557, 0x2ccff0f64cd22861ULL},
                          {640, 480, 56, 56, 0xae3c9f1644ddc5a0ULL},
                          {3, 900, 56, 56, 0x24f2cac984a201dfULL},
                          {337, 336, 336, 336, 0x82eae52f60599752ULL},
                          {29, 17, 29, 40, 0x97aa3aac5135d1cfULL}}) {
        EXPECT_EQ(fnv(resize(pattern(c.w, c.h), c.to_w, c.to_h).rgb), c.hash) << c.w << " x " << c.h;
    }
}

/// A value of the cubic convolution with a = −0.5 and its widening, in double precision, one direction at a time.
std::vector<double> plain_line(const std::vector<double>& line, int n) {
    const double scale = static_cast<double>(line.size()) / n, stretch = std::max(1.0, scale);
    std::vector<double> out(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) {
        double sum = 0, weights = 0;
        for (size_t k = 0; k < line.size(); ++k) {
            const double d = std::abs((static_cast<double>(k) + 0.5 - (i + 0.5) * scale) / stretch);
            const double w = d <= 1 ? 1.5 * d * d * d - 2.5 * d * d + 1 : d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0;
            sum += w * line[k];
            weights += w;
        }
        out[static_cast<size_t>(i)] = std::clamp(std::floor(sum / weights + 0.5), 0.0, 255.0);
    }
    return out;
}

TEST(Resize, AgreesWithAPlainComputation) {
    std::mt19937 random(1);
    int steps = 0, values = 0;
    for (int n = 0; n < 40; ++n) {
        const int w = 1 + static_cast<int>(random() % 50), h = 1 + static_cast<int>(random() % 50);
        const int to_w = 1 + static_cast<int>(random() % 40), to_h = 1 + static_cast<int>(random() % 40);
        Image image(w, h);
        std::generate(image.rgb.begin(), image.rgb.end(), [&] { return static_cast<uint8_t>(random()); });
        const Image result = resize(image, to_w, to_h);
        for (int c = 0; c < 3; ++c) {
            std::vector<std::vector<double>> rows;
            for (int y = 0; y < h; ++y) {
                std::vector<double> line;
                for (int x = 0; x < w; ++x) {
                    line.push_back(image.pixel(x, y)[c]);
                }
                rows.push_back(plain_line(line, to_w));
            }
            for (int x = 0; x < to_w; ++x) {
                std::vector<double> column;
                for (int y = 0; y < h; ++y) {
                    column.push_back(rows[static_cast<size_t>(y)][static_cast<size_t>(x)]);
                }
                column = plain_line(column, to_h);
                for (int y = 0; y < to_h; ++y, ++values) {
                    const double d = std::abs(column[static_cast<size_t>(y)] - result.pixel(x, y)[c]);
                    ASSERT_LE(d, 1) << w << " x " << h << " to " << to_w << " x " << to_h; // halves may be rounded either way
                    steps += d > 0 ? 1 : 0;
                }
            }
        }
    }
    EXPECT_LT(steps, values / 100);
}

// ---- LLaVA 1.5, with the original's expand2square and Pillow

TEST(Square, IsTheOriginals) {
    struct Case {
        int w, h, n;
        uint64_t hash;
    };
    for (const Case& c : {Case{800, 663, 336, 0x387e4c311e5f181bULL},
                          {50, 80, 56, 0x34beca43f3ea32b3ULL},
                          {1, 2000, 56, 0x204d10e70668bde9ULL},
                          {2000, 1, 56, 0x12b53bf481051e25ULL},
                          {64, 64, 56, 0xa0498e6126588c16ULL},
                          {333, 334, 336, 0xfa9fc6a02c004269ULL}}) {
        const EncoderHparams h = clip(c.n);
        const Views views = prepare(pattern(c.w, c.h), h, "photo");
        ASSERT_EQ(views.views.size(), 1U);
        EXPECT_EQ(views.tiles, Size{});
        EXPECT_EQ(fnv(pixels_of(views, h)), c.hash) << c.w << " x " << c.h;
    }
}

TEST(Square, IsNormalisedPlaneByPlane) {
    const EncoderHparams h = clip(14);
    Image red(14, 14);
    for (int i = 0; i < 14 * 14; ++i) {
        red.pixel(i % 14, i / 14)[0] = 255;
    }
    const Views views = prepare(red, h, "photo");
    const std::vector<float> planes = planes_of(views.views.front(), h);
    EXPECT_FLOAT_EQ(planes[0], (1 - 0.48145466F) / 0.26862954F);
    EXPECT_FLOAT_EQ(planes[14 * 14], (0 - 0.4578275F) / 0.26130258F);
    EXPECT_FLOAT_EQ(planes[2 * 14 * 14], (0 - 0.40821073F) / 0.27577711F);
}

TEST(Square, OfALongStripNeedsNoMemoryForItsGround) {
    EXPECT_EQ(prepare(pattern(1, 60000), clip(336), "photo").views.size(), 1U); // the padded square would be 10 GB
}

// ---- LLaVA 1.6, with the original's select_best_resolution, resize_and_pad_image and divide_to_patches

TEST(Tiles, AreTheOriginals) {
    struct Case {
        int w, h, n;
        Size at;
        uint64_t hash;
    };
    for (const Case& c : {Case{800, 663, 336, {672, 672}, 0x18fffea85995eab6ULL},
                          {300, 90, 56, {168, 56}, 0x23a57986749bcfe2ULL},
                          {90, 300, 56, {56, 168}, 0xf1675cf602c4bdf3ULL},
                          {10, 10, 56, {56, 112}, 0x272f69f7825fa935ULL},
                          {500, 10, 56, {168, 56}, 0x76ef4919b97f7e2bULL},
                          {113, 111, 56, {112, 112}, 0xe1e45e9220f33281ULL}}) {
        const EncoderHparams h = tiled(c.n);
        const Views views = prepare(pattern(c.w, c.h), h, "photo");
        EXPECT_EQ(views.refined, c.at) << c.w << " x " << c.h;
        EXPECT_EQ(views.tiles, (Size{c.at.width / c.n, c.at.height / c.n}));
        ASSERT_EQ(views.views.size(), static_cast<size_t>(1 + views.tiles.width * views.tiles.height));
        EXPECT_EQ(fnv(pixels_of(views, h)), c.hash) << c.w << " x " << c.h;
    }
}

TEST(Tiles, OfAnImageOf800By663AreFour) {
    const Views views = prepare(pattern(800, 663), tiled(336), "photo");
    EXPECT_EQ(views.refined, (Size{672, 672}));
    EXPECT_EQ(views.views.size(), 5U);
    EXPECT_EQ(description(views, 2880), "800 x 663 pixels, at 672 x 672, 5 images, 2,880 tokens");
}

TEST(Tiles, ShareThePictureThatTheyAreCutFrom) {
    const Views views = prepare(pattern(800, 663), tiled(336), "photo");
    for (size_t i = 2; i < views.views.size(); ++i) {
        EXPECT_EQ(views.views[i].picture, views.views[1].picture);
    }
    EXPECT_EQ(views.views[1].picture->width, 672);
}

// ---- MiniCPM-V, with the original's slice_image

TEST(Slices, AreTheOriginals) {
    struct Case {
        int w, h;
        Size overview, grid, refined;
        uint64_t hash;
    };
    EncoderHparams h = clip(56);
    h.minicpmv_version = 3;
    for (const Case& c : {Case{100, 90, {56, 56}, {2, 2}, {112, 112}, 0x7f526bf898aa7ec6ULL},
                          {28, 28, {56, 56}, {0, 0}, {0, 0}, 0xcd6f4c06fe5156aaULL},
                          {20, 200, {14, 182}, {1, 3}, {28, 294}, 0x16d31ed35fa3063aULL},
                          {150, 40, {112, 28}, {3, 1}, {168, 56}, 0xb1ae26575d66509dULL},
                          {300, 200, {70, 42}, {4, 2}, {168, 140}, 0x8be92d4925785a72ULL},
                          {61, 60, {56, 56}, {2, 1}, {84, 84}, 0x0970e875872944c8ULL},
                          {500, 400, {56, 56}, {3, 3}, {168, 168}, 0x4e73dd33ddf7864bULL}}) {
        const Views views = prepare(pattern(c.w, c.h), h, "photo");
        const Size overview{views.views.front().width, views.views.front().height};
        EXPECT_EQ(overview, c.overview) << c.w << " x " << c.h;
        EXPECT_EQ(views.tiles, c.grid) << c.w << " x " << c.h;
        EXPECT_EQ(views.refined, c.refined) << c.w << " x " << c.h;
        EXPECT_EQ(fnv(pixels_of(views, h)), c.hash) << c.w << " x " << c.h;
    }
}

TEST(Slices, OfAStripAreRefused) {
    EncoderHparams h = clip(448);
    h.minicpmv_version = 3;
    try {
        prepare(pattern(1, 20000), h, "photo");
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_THAT(e.what(), HasSubstr("photo: an image of 1 x 20000 pixels is too narrow"));
    }
}

std::string words_of(int width, int height, int version) {
    EncoderHparams h = clip(56);
    h.minicpmv_version = version;
    const vision::PromptParts parts = prompt_parts(prepare(pattern(width, height), h, "photo"), h);
    std::string text;
    for (const vision::PromptPart& part : parts.parts) {
        EXPECT_EQ(part.views->views.size(), 1U);
        text += part.before + "#";
    }
    return text + parts.after;
}

TEST(Slices, StandBetweenControlTokensInThePrompt) {
    EXPECT_EQ(words_of(28, 28, 2), "<image>#</image>");
    EXPECT_EQ(words_of(28, 28, 3), "<image>#</image>");
    EXPECT_EQ(words_of(100, 90, 2),
              "<image>#</image><slice><image>#</image><image>#</image>\n<image>#</image><image>#</image></slice>");
    EXPECT_EQ(words_of(100, 90, 3), "<image>#</image><slice>#</slice><slice>#</slice>\n<slice>#</slice><slice>#</slice>");
    EXPECT_EQ(words_of(100, 90, 0), "#");
}

TEST(Positions, LieAsFarAcrossAndDownAsThePatches) {
    // 2 × 3 patches on a grid of 4 × 4: columns 0 and 2, rows 0, 1 and 2.
    EXPECT_THAT(vision::positions_on_grid({2, 3}, 4), ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(vision::positions_on_grid({2, 1}, 2), ElementsAre(0, 1));
}

// ---- rows of several views

/// Views of rows whose single value says where they are from: 100 × view + row.
std::vector<float> numbered(int n_views, int n_rows) {
    std::vector<float> rows;
    for (int v = 0; v < n_views; ++v) {
        for (int r = 0; r < n_rows; ++r) {
            rows.push_back(static_cast<float>(100 * v + r));
        }
    }
    return rows;
}

TEST(Arrangement, PutsTilesTogetherRowByRow) {
    const Arrangement a{4, {2, 1}, {2, 2}, true, false, {40, 20}};
    EXPECT_EQ(a.n_rows(), 12);
    EXPECT_THAT(arrange(a, numbered(3, 4), {}, 1), ElementsAre(0, 1, 2, 3, 100, 101, 200, 201, 102, 103, 202, 203));
}

TEST(Arrangement, GoesThroughRowsOfTilesFromTheTop) {
    const Arrangement a{4, {2, 2}, {2, 2}, true, false, {40, 40}};
    EXPECT_THAT(arrange(a, numbered(5, 4), {}, 1), ElementsAre(0, 1, 2, 3,         //
                                                               100, 101, 200, 201, //
                                                               102, 103, 202, 203, //
                                                               300, 301, 400, 401, //
                                                               302, 303, 402, 403));
}

TEST(Arrangement, LeavesTilesApartWhereTheFileSaysSo) {
    const Arrangement a{4, {2, 1}, {2, 2}, false, false, {40, 20}};
    EXPECT_EQ(arrange(a, numbered(3, 4), {}, 1), numbered(3, 4));
}

TEST(Arrangement, WithNewlinesHasNoPadding) {
    // 40 × 10 in 2 × 1 tiles of 2 × 2 rows: of 4 × 2 places the upper and lower half of a row each are padding: ⌊10 × 4/40⌋ = 1
    // row is image, and (2 − 1)/2 = 0 rows are cut: as the original rounds.
    const float newline[] = {-1};
    const Arrangement wide{4, {2, 1}, {2, 2}, true, true, {40, 10}};
    EXPECT_EQ(wide.n_rows(), 4 + 2 * 5);
    EXPECT_THAT(arrange(wide, numbered(3, 4), newline, 1),
                ElementsAre(0, 1, 2, 3, 100, 101, 200, 201, -1, 102, 103, 202, 203, -1));
    // 10 × 40 in 2 × 2 tiles: ⌊10 × 4/40⌋ = 1 column is image, one is cut on each side.
    const Arrangement narrow{4, {2, 2}, {2, 2}, true, true, {10, 40}};
    EXPECT_EQ(narrow.n_rows(), 4 + 4 * 3);
    EXPECT_THAT(arrange(narrow, numbered(5, 4), newline, 1),
                ElementsAre(0, 1, 2, 3, 101, 200, -1, 103, 202, -1, 301, 400, -1, 303, 402, -1));
}

TEST(Arrangement, OfLlavaOneSixHas2880Rows) {
    const Arrangement a{576, {2, 2}, {24, 24}, true, false, {800, 663}};
    EXPECT_EQ(a.n_rows(), 2880);
    // With newlines: ⌊663 × 48/800⌋ = 39 of 48 rows are image, ⌊9/2⌋ = 4 are cut on both sides.
    const Arrangement with{576, {2, 2}, {24, 24}, true, true, {800, 663}};
    EXPECT_EQ(with.n_rows(), 576 + 40 * 49);
}

} // namespace
} // namespace schedscope::test
