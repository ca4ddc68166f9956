#pragma once

#include "inspector/tui/keys.h"

#include <string>
#include <vector>

namespace schedscope::tui {

/// A line that is being typed, with the history of those before. Knows no terminal.
class Prompt {
public:
    enum class Result : uint8_t { editing, accepted, cancelled };

    /// Opens on a text with the cursor behind it. `history` outlives the prompt and gets what is accepted.
    Prompt(std::string label, const std::string& text, std::vector<std::string>& history);

    Result handle(Key key);

    const std::string& label() const noexcept { return label_; }
    std::string text() const;
    int cursor_column() const; ///< columns of text before the cursor

private:
    void recall(int steps);

    std::string label_;
    std::u32string text_, typed_; ///< typed_: what stood there before history was recalled
    size_t at_ = 0;
    std::vector<std::string>* history_;
    size_t recalled_; ///< index into history; its size: the line being typed
};

} // namespace schedscope::tui
