#pragma once

#include "inspector/tui/input/keys.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// What could stand in a text: each of the candidates instead of what is there from `begin` (bytes) on.
struct Completion {
    size_t begin = 0;
    std::vector<std::string> candidates;
};
/// Asked about the text before the cursor.
using Completer = std::function<Completion(std::string_view before)>;

/// A line that is being typed, with the history of those before, and completion. Knows no terminal.
class Prompt {
public:
    enum class Typing : uint8_t { editing, accepted, cancelled };

    /// Opens on a text with the cursor behind it, as an address line does: what is typed first replaces it, a key that moves the
    /// cursor keeps it. `history` outlives the prompt and gets what is accepted.
    Prompt(std::string label, const std::string& text, std::vector<std::string>& history, Completer completer = {});

    /// Tab completes as far as all candidates agree; once more, it goes through them (Shift-Tab: backward). Up and Down walk
    /// through the history.
    Typing handle(Key key);

    const std::string& label() const noexcept { return label_; }
    std::string text() const;
    int cursor_column() const; ///< columns of text before the cursor
    /// The next character replaces the text.
    bool replaces() const noexcept { return replaces_; }
    struct Window {
        std::string text;
        int cursor = 0; ///< its column in it
    };
    /// The part of the text that so many columns show: it moves as far as the cursor needs.
    Window window(int width);
    /// While candidates are being gone through: all of them, and which one stands in the text (−1: none yet).
    const std::vector<std::string>& candidates() const noexcept { return candidates_; }
    int chosen() const noexcept { return chosen_; }

private:
    void recall(int steps);
    void complete(int step);
    void put(size_t begin, std::u32string_view instead);

    std::string label_;
    std::u32string text_, typed_; ///< typed_: what stood there before history was recalled
    size_t at_ = 0;
    bool replaces_;
    size_t first_ = 0; ///< character that the window begins with
    std::vector<std::string>* history_;
    size_t recalled_; ///< index into history; its size: the line being typed
    Completer completer_;
    std::vector<std::string> candidates_; ///< empty: nothing is being completed
    size_t begin_ = 0;                    ///< of what the candidates stand for, in characters
    int chosen_ = -1;
};

} // namespace schedscope::tui
