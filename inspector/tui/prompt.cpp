#include "inspector/tui/prompt.h"

#include "inspector/tui/text.h"

#include <algorithm>

namespace schedscope::tui {

Prompt::Prompt(std::string label, const std::string& text, std::vector<std::string>& history)
    : label_(std::move(label)), text_(printable(text)), at_(text_.size()), history_(&history), recalled_(history.size()) {}

std::string Prompt::text() const { return to_utf8(text_); }

int Prompt::cursor_column() const {
    int columns = 0;
    for (size_t i = 0; i < at_; ++i)
        columns += char_width(text_[i]);
    return columns;
}

void Prompt::recall(int steps) {
    const auto last = static_cast<int>(history_->size());
    const int to = std::clamp(static_cast<int>(recalled_) + steps, 0, last);
    if (to == static_cast<int>(recalled_))
        return;
    if (recalled_ == history_->size())
        typed_ = text_;
    recalled_ = static_cast<size_t>(to);
    text_ = to == last ? typed_ : printable((*history_)[recalled_]);
    at_ = text_.size();
}

Prompt::Result Prompt::handle(Key key) {
    switch (key) {
    case key_enter: {
        const std::string done = text();
        std::erase(*history_, done);
        if (!done.empty())
            history_->push_back(done);
        return Result::accepted;
    }
    case key_escape:
    case ctrl('C'): return Result::cancelled;
    case key_backspace:
        if (text_.empty())
            return Result::cancelled;
        if (at_ > 0)
            text_.erase(--at_, 1);
        break;
    case key_delete:
    case ctrl('D'):
        if (at_ < text_.size())
            text_.erase(at_, 1);
        break;
    case key_left:
    case ctrl('B'): at_ -= at_ > 0 ? 1 : 0; break;
    case key_right:
    case ctrl('F'): at_ += at_ < text_.size() ? 1 : 0; break;
    case key_home:
    case ctrl('A'): at_ = 0; break;
    case key_end:
    case ctrl('E'): at_ = text_.size(); break;
    case key_up:
    case ctrl('P'): recall(-1); break;
    case key_down:
    case ctrl('N'): recall(1); break;
    case ctrl('U'):
        text_.erase(0, at_);
        at_ = 0;
        break;
    case ctrl('K'): text_.erase(at_); break;
    case ctrl('W'): {
        size_t from = at_;
        while (from > 0 && text_[from - 1] == U' ')
            --from;
        while (from > 0 && text_[from - 1] != U' ')
            --from;
        text_.erase(from, at_ - from);
        at_ = from;
        break;
    }
    default:
        if (key >= 0x20 && key != 0x7f && key < key_up)
            text_.insert(at_++, 1, static_cast<char32_t>(key));
    }
    return Result::editing;
}

} // namespace schedscope::tui
