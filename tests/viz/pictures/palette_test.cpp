#include "viz/pictures/palette.h"

#include "tests/viz/sketch.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace schedscope {
namespace {

TEST(Palette, LettersTellBackendsApart) {
    const Sketch sketch({"Vulkan0", "Vulkan0.1", "BLAS", "CPU"});
    const Palette palette(sketch.session);
    EXPECT_EQ(palette[0].letter, "V0");
    EXPECT_EQ(palette[1].letter, "V0.1");
    EXPECT_EQ(palette[2].letter, "B");
    EXPECT_EQ(palette[3].letter, "C");
}

TEST(Palette, CpuHasTheSameColourInEveryTrace) {
    EXPECT_EQ(Palette(Sketch({"CPU"}).session)[0].fill, Palette(Sketch({"Vulkan0", "Vulkan1", "CPU"}).session)[2].fill);
}

/// WCAG 2 contrast of black text.
double contrast_with_black(std::string_view colour) {
    const auto channel = [&](size_t at) {
        const double value = std::stoi(std::string(colour.substr(at, 2)), nullptr, 16) / 255.0;
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return (0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) + 0.05) / 0.05;
}

TEST(Palette, DarkTextIsLegibleOnEveryFill) {
    const Sketch sketch({"Vulkan0", "Vulkan1", "Vulkan2", "Vulkan3", "Vulkan4", "BLAS", "CPU"});
    const Palette palette(sketch.session);
    std::set<std::string_view> fills;
    for (BackendId b = 0; b < 7; ++b) {
        EXPECT_GT(contrast_with_black(palette[b].fill), 12) << palette[b].fill;
        EXPECT_LT(contrast_with_black(palette[b].line), 8) << "a border is dark: " << palette[b].line;
        fills.insert(palette[b].fill);
    }
    EXPECT_EQ(fills.size(), 7U);
}

TEST(Palette, UnknownBackendsLookUnassigned) {
    const Palette palette(Sketch().session);
    EXPECT_EQ(palette[no_backend].fill, palette[17].fill);
}

} // namespace
} // namespace schedscope
