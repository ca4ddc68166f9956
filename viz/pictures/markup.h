#pragma once

#include "viz/pictures/dot_text.h"
#include "viz/pictures/palette.h"

#include <string>
#include <string_view>

/// Pieces of HTML-like labels. `shown` is plain text and is made safe here; everything returned is markup.
namespace schedscope {

/// Where a piece of text ends and another follows; viewers of SVG drop a piece's leading spaces, so it goes inside the piece that
/// ends.
constexpr const char* gap = "&#160;";

inline std::string bold(std::string_view shown, const char* behind = "") { return "<b>" + html_label(shown) + behind + "</b>"; }

/// Markup in another size, and grey when it matters less.
enum class LabelInk : uint8_t { black, grey };
inline std::string sized(const std::string& markup, int points, LabelInk ink = LabelInk::black) {
    return "<font point-size=\"" + std::to_string(points) + "\"" + (ink == LabelInk::grey ? " color=\"#444444\">" : ">") +
           markup + "</font>";
}

/// The next line, lower than its own text would be: underscores of the line above are not touched. The hair space gives it the
/// height.
inline std::string next_line(int points) { return "<br/>" + sized("&#8202;", points); }

/// "V Vulkan0", the letter bold.
inline std::string backend_markup(const BackendStyle& style, std::string_view name) {
    return bold(style.letter, gap) + html_label(name);
}

/// What passes along an edge, in two lines that keep clear of it; `amount` "": none to tell.
inline std::string edge_markup(const std::string& what, const std::string& amount) {
    const std::string clear = std::string(gap) + gap + gap;
    return clear + html_label(what) + (amount.empty() ? "" : next_line(11) + clear + bold(amount));
}

} // namespace schedscope
