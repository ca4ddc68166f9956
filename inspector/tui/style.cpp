#include "inspector/tui/style.h"

#include <algorithm>
#include <array>

#include <curses.h>

namespace schedscope::tui {
namespace {

constexpr int n_inks = static_cast<int>(Ink::backend_0) + n_backend_inks;

struct InkColour {
    short of_256, of_8;
    bool bright; ///< with 16 colours: the bright one of the eight
};
// accent, good, warning, bad, then backends in the order of the pictures (viz/palette.cpp): the CPU first, then the others by priority.
constexpr std::array<InkColour, n_inks> colours{{{-1, -1, false},
                                                 {117, COLOR_CYAN, true},
                                                 {36, COLOR_GREEN, false},
                                                 {214, COLOR_YELLOW, true},
                                                 {203, COLOR_RED, true},
                                                 {74, COLOR_CYAN, false},     // CPU: sky blue
                                                 {214, COLOR_YELLOW, false},  // orange
                                                 {36, COLOR_GREEN, false},    // bluish green
                                                 {175, COLOR_MAGENTA, false}, // reddish purple
                                                 {227, COLOR_YELLOW, true},   // yellow
                                                 {166, COLOR_RED, false},     // vermilion
                                                 {33, COLOR_BLUE, true}}};    // blue

bool coloured = false;

} // namespace

Style backend_style(BackendId backend, int n_backends) noexcept {
    if (backend == no_backend)
        return dim;
    const int of_cpu = static_cast<int>(Ink::backend_0);
    const int index = backend == n_backends - 1 ? of_cpu : of_cpu + 1 + backend % (n_backend_inks - 1);
    return {static_cast<Ink>(index), false, false, false, false};
}

void start_styles(bool color) {
    coloured = color && has_colors() && start_color() == OK;
    if (!coloured)
        return;
    use_default_colors();
    for (int i = 1; i < n_inks; ++i) {
        const InkColour& c = colours[static_cast<size_t>(i)];
        const int number = COLORS >= 256 ? c.of_256 : COLORS >= 16 && c.bright ? c.of_8 + 8 : c.of_8;
        init_pair(static_cast<short>(i), static_cast<short>(number), -1);
    }
}

void set_style(void* window, Style style) noexcept {
    attr_t a = A_NORMAL;
    if (style.bold)
        a |= A_BOLD;
    if (style.dim)
        a |= A_DIM;
    if (style.reverse)
        a |= A_REVERSE;
    if (style.underline)
        a |= A_UNDERLINE;
    // Without colour the loud inks are bold.
    if (!coloured && (style.ink == Ink::bad || style.ink == Ink::warning || style.ink == Ink::accent))
        a |= A_BOLD;
    wattr_set(static_cast<WINDOW*>(window), a, static_cast<short>(coloured ? static_cast<int>(style.ink) : 0), nullptr);
}

} // namespace schedscope::tui
