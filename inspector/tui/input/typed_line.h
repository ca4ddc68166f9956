#pragma once

#include "inspector/tui/input/prompt.h"
#include "inspector/tui/terminal/canvas.h"
#include "runtime/numbers.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// What is typed, each with a history of its own. Those before `step` are kept for the next time.
enum class Typed : uint8_t { filter, search, breakpoint, command, step, what_if, count };
constexpr size_t n_kept_histories = ordinal(Typed::step);

/// The line that is typed into: a question, what its answer would do while it is typed, and what happens then.
class TypedLine {
public:
    struct TypedQuestion {
        std::string label;
        Typed kind;
        std::string text = {}; ///< that stands there to begin with
        std::function<void(const std::string&)> then;
        Completer completer = {};
        /// Before a frame with another text: shows what that will do, and says what it comes to. None: nothing is shown of it.
        std::function<std::string(const std::string&)> preview = {};
        std::function<void()> end_preview = {}; ///< takes that back; before `then`, and when it is cancelled
    };
    void ask(TypedQuestion question);
    bool open() const noexcept { return prompt_.has_value(); }
    /// While it is open. Enter closes it and does what is asked for, Esc only closes it.
    void handle(Key key);
    /// Once a frame, for all keys that were waiting.
    void preview();

    std::vector<std::string>& history(Typed kind) noexcept { return histories_[ordinal(kind)]; }
    const std::vector<std::string>& history(Typed kind) const noexcept { return histories_[ordinal(kind)]; }

    /// While it is open: the line, and below it what Tab offers, or the keys that there are.
    void draw(const Canvas& page, const Rect& area, const Rect& below);
    /// Its cursor's column on the page.
    int cursor_column(const Rect& area);

private:
    void draw_candidates(const Canvas& page, const Rect& area) const;

    std::optional<Prompt> prompt_;
    TypedQuestion question_;  ///< while it is open
    bool other_text_ = false; ///< than in the last frame
    std::string note_;        ///< what the text comes to
    std::array<std::vector<std::string>, ordinal(Typed::count)> histories_;
};

} // namespace schedscope::tui
