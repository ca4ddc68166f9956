#pragma once

#include "inspector/tui/panes/layout.h"
#include "inspector/tui/terminal/terminal.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace schedscope::tui {

/// What the status line says.
struct Told {
    std::string text;
    bool trouble = false;
};

/// What the top line says of where one is, and what that means.
struct TopLineWord {
    std::string_view word, meaning;
};
std::span<const TopLineWord> top_line_words() noexcept;

/// The screen: where the panes stand on it, what is drawn around them, and what a click on that means.
class Screen {
public:
    explicit Screen(Terminal& terminal) : terminal_(terminal) {}

    const Layout& layout() const noexcept { return layout_; }

    /// For the terminal's size. There is nothing to click on below until it is drawn.
    void lay_out(const Layout::Wishes& wishes);

    /// Instead of all else, where the layout does not fit.
    void draw_too_small(const Canvas& page) const;
    /// Instead of all else, where what is to be shown can't be read.
    void draw_trouble(const Canvas& page, const std::string& title, const std::string& why, const std::string& quit_key) const;
    void draw_frame(const Canvas& page) const;
    void draw_header(const Canvas& page, const InspectorSession& session, const std::string& title);
    void draw_strip(const Canvas& page, const InspectorSession& session);
    void draw_tabs(const Canvas& page, ViewId view);
    void draw_guide(const Canvas& page, const std::vector<std::string>& lines) const;
    /// `marks`: what holds for now.
    void draw_status(const Canvas& page, const Told& told, const std::vector<std::string>& marks) const;
    void draw_keys(const Canvas& page, const KeyMap& keys, KeyContext context, const std::function<bool(Action)>& works);
    /// Instead of the keys.
    void draw_hint(const Canvas& page, std::string_view hint) const;

    /// What can be clicked: an action, a pass to go to, a view.
    using Clicked = std::variant<std::monostate, Action, PassPlace, ViewId>;
    /// Of the last frame. Nothing: there is none at this place.
    Clicked button_at(int row, int col) const;

private:
    template <class Meaning> struct Bar {
        Rect area;
        std::vector<Button<Meaning>> buttons;
    };
    template <class Meaning> static Clicked hit(const Bar<Meaning>& bar, int row, int col);

    Terminal& terminal_;
    Layout layout_;
    Bar<Clicked> places_; ///< in the header
    Bar<PassPlace> passes_;
    Bar<ViewId> views_;
    Bar<Action> keys_;
};

} // namespace schedscope::tui
