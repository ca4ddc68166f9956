#include "inspector/tui/terminal/style.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>

#include <curses.h>

namespace schedscope::tui {
namespace {

constexpr int n_inks = ordinal(Ink::backend_0) + n_backend_inks;

/// A colour in each of the depths that terminals have.
struct InkColour {
    int exact; ///< red, green, blue
    short of_256, of_8;
    bool bright; ///< with 16 colours: the bright one of the eight
};
// accent, good, warning, bad, then backends in the order of the pictures (viz/pictures/palette.cpp): the CPU first, then the
// others by priority.
constexpr std::array<InkColour, n_inks> on_dark{{{-1, -1, -1, false},
                                                 {0x87d7ff, 117, COLOR_CYAN, true},
                                                 {0x00b080, 36, COLOR_GREEN, false},
                                                 {0xffb000, 214, COLOR_YELLOW, true},
                                                 {0xff6b5f, 203, COLOR_RED, true},
                                                 {0x56b4e9, 74, COLOR_CYAN, false},     // CPU: sky blue
                                                 {0xe69f00, 214, COLOR_YELLOW, false},  // orange
                                                 {0x00b080, 36, COLOR_GREEN, false},    // bluish green
                                                 {0xd78cb4, 175, COLOR_MAGENTA, false}, // reddish purple
                                                 {0xf0e442, 227, COLOR_YELLOW, true},   // yellow
                                                 {0xe0691f, 166, COLOR_RED, false},     // vermilion
                                                 {0x3b9eea, 33, COLOR_BLUE, true}}};    // blue
constexpr std::array<InkColour, n_inks> on_light{{{-1, -1, -1, false},
                                                  {0x005f87, 24, COLOR_BLUE, false},
                                                  {0x00694d, 22, COLOR_GREEN, false},
                                                  {0x9a6a00, 94, COLOR_RED, false},
                                                  {0xaf0000, 124, COLOR_RED, false},
                                                  {0x1f6f9f, 25, COLOR_CYAN, false},    // CPU: sky blue
                                                  {0x9a6a00, 94, COLOR_RED, false},     // orange
                                                  {0x00694d, 22, COLOR_GREEN, false},   // bluish green
                                                  {0x8f4570, 90, COLOR_MAGENTA, false}, // reddish purple
                                                  {0x6b6000, 58, COLOR_BLACK, true},    // yellow
                                                  {0x964200, 130, COLOR_RED, true},     // vermilion
                                                  {0x004a7a, 18, COLOR_BLUE, false}}};  // blue

bool coloured = false;

} // namespace

Style backend_style(BackendId backend, int n_backends) noexcept {
    if (backend == no_backend) {
        return dim;
    }
    const int of_cpu = ordinal(Ink::backend_0);
    const int index = backend == n_backends - 1 ? of_cpu : of_cpu + 1 + backend % (n_backend_inks - 1);
    return {static_cast<Ink>(index), false, false, false, false};
}

void start_styles(Depth depth, Background background, bool direct) {
    coloured = depth != Depth::none && has_colors() && start_color() == OK;
    if (!coloured) {
        return;
    }
    use_default_colors();
    const int most = depth == Depth::eight ? 8 : depth == Depth::sixteen ? 16 : depth == Depth::indexed ? 256 : COLORS;
    const int n_colors = std::min(most, COLORS);
    const auto& inks = background == Background::light ? on_light : on_dark;
    for (int i = 1; i < n_inks; ++i) {
        const InkColour& c = inks[i];
        // Where colours are direct, the numbers from 8 on are red, green and blue: there is no table of 256.
        const int number = direct                       ? (n_colors > 256 ? c.exact : c.of_8)
                           : n_colors >= 256            ? c.of_256
                           : n_colors >= 16 && c.bright ? c.of_8 + 8
                                                        : c.of_8;
        init_extended_pair(i, number, -1);
    }
}

void set_style(void* window, Style style) noexcept {
    attr_t a = A_NORMAL;
    if (style.bold) {
        a |= A_BOLD;
    }
    if (style.dim) {
        a |= A_DIM;
    }
    if (style.reverse) {
        a |= A_REVERSE;
    }
    if (style.underline) {
        a |= A_UNDERLINE;
    }
    // Without colour the loud inks are bold.
    if (!coloured && (style.ink == Ink::bad || style.ink == Ink::warning || style.ink == Ink::accent)) {
        a |= A_BOLD;
    }
    wattr_set(static_cast<WINDOW*>(window), a, static_cast<short>(coloured ? ordinal(style.ink) : 0), nullptr);
}

} // namespace schedscope::tui
