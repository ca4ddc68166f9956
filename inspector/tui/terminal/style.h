#pragma once

#include "runtime/planner/graph_view.h"

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

/// How many colours are used: at most as many as the terminal has. direct: exact ones, where terminfo says that it has them.
enum class Depth : uint8_t { automatic, none, eight, sixteen, indexed, direct };
/// What the colours stand on. automatic: dark until the terminal says otherwise.
enum class Background : uint8_t { automatic, dark, light };

/// Prepares the inks (the Okabe–Ito palette, told apart with colour-blind eyes; darker ones on a light background). After curses
/// began, and again whenever something of it changes. `direct`: the terminal takes colours as red, green and blue.
void start_styles(Depth depth, Background background, bool direct);
/// What is drawn next on `window` (a curses WINDOW) looks like this.
void set_style(void* window, Style style) noexcept;

} // namespace schedscope::tui
