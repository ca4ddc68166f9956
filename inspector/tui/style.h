#pragma once

#include "runtime/scheduler/graph_view.h"

#include <cstdint>

namespace schedscope::tui {

/// What a colour is for. Each comes with a sign that needs no colour (an attribute, a letter, a mark beside it).
enum class Ink : uint8_t { plain, accent, good, warning, bad, backend_0 };
constexpr int n_backend_inks = 7;

struct Style {
    Ink ink = Ink::plain;
    bool bold = false, dim = false, reverse = false, underline = false;

    bool operator==(const Style&) const = default;

    constexpr Style with_reverse(bool yes = true) const noexcept {
        Style s = *this;
        s.reverse = yes;
        return s;
    }
};
constexpr Style plain{};
constexpr Style dim{Ink::plain, false, true, false, false};
constexpr Style bold{Ink::plain, true, false, false, false};
constexpr Style accent{Ink::accent, true, false, false, false};
constexpr Style bad{Ink::bad, true, false, false, false};
constexpr Style warning{Ink::warning, false, false, false, false};

/// A backend's ink, by its priority of n. The last one, the CPU, always has the same; `none` is plain and dim.
Style backend_style(BackendId backend, int n_backends) noexcept;

/// Prepares as many colours as the terminal has (8, 16 or 256; the Okabe–Ito palette, told apart with colour-blind eyes). After curses began.
void start_styles(bool color);
/// What is drawn next on `window` (a curses WINDOW) looks like this.
void set_style(void* window, Style style) noexcept;

} // namespace schedscope::tui
