#include "inspector/tui/input/prompt.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {
namespace {

bool is_text(Key key) noexcept { return key >= 0x20 && key != 0x7f && key < key_up; }

} // namespace

Prompt::Prompt(std::string label, const std::string& text, std::vector<std::string>& history, Completer completer)
    : label_(std::move(label)), text_(printable(text)), at_(text_.size()), replaces_(!text_.empty()), history_(&history),
      recalled_(history.size()), completer_(std::move(completer)) {}

std::string Prompt::text() const { return to_utf8(text_); }

int Prompt::cursor_column() const {
    int columns = 0;
    for (size_t i = 0; i < at_; ++i) {
        columns += char_width(text_[i]);
    }
    return columns;
}

Prompt::Window Prompt::window(int width) {
    const auto columns = [&](size_t from, size_t to) {
        int sum = 0;
        for (size_t i = from; i < to; ++i) {
            sum += char_width(text_[i]);
        }
        return sum;
    };
    first_ = std::min(first_, at_ > 0 ? at_ - 1 : 0); // one character before the cursor is seen
    while (first_ > 0 && columns(first_ - 1, text_.size()) < width) {
        --first_;
    }
    // Behind the cursor there is room for it at the end of the text, else for the mark of what is cut.
    const auto fits = [&] {
        const bool cut = columns(first_, text_.size()) > width;
        return columns(first_, at_) < width - (cut ? 1 : 0);
    };
    while (first_ < at_ && !fits()) {
        ++first_;
    }
    std::u32string shown = fitted(to_utf8(std::u32string_view(text_).substr(first_)), width);
    if (first_ > 0 && first_ < at_ && !shown.empty()) {
        shown.replace(0, 1, std::u32string(char_width(shown[0]), unicode() ? U'…' : U'<'));
    }
    return {to_utf8(shown), columns(first_, at_)};
}

void Prompt::recall(int steps) {
    const auto last = int_of(history_->size());
    const int to = std::clamp(int_of(recalled_) + steps, 0, last);
    if (to == int_of(recalled_)) {
        return;
    }
    if (recalled_ == history_->size()) {
        typed_ = text_;
    }
    recalled_ = to;
    text_ = to == last ? typed_ : printable((*history_)[recalled_]);
    at_ = text_.size();
}

void Prompt::put(size_t begin, std::u32string_view instead) {
    text_.replace(begin, at_ - begin, instead);
    at_ = begin + instead.size();
}

void Prompt::complete(int step) {
    if (candidates_.empty()) {
        const std::string before = to_utf8(std::u32string_view(text_).substr(0, at_));
        Completion completion = completer_ ? completer_(before) : Completion{};
        if (completion.candidates.empty()) {
            return;
        }
        begin_ = count_characters(std::string_view(before).substr(0, completion.begin));
        std::u32string common = printable(completion.candidates.front());
        for (const std::string& candidate : completion.candidates) {
            const std::u32string other = printable(candidate);
            const auto parted = std::mismatch(common.begin(), common.end(), other.begin(), other.end());
            common.erase(parted.first, common.end());
        }
        const bool longer = common.size() > at_ - begin_;
        if (longer || completion.candidates.size() == 1) {
            put(begin_, common);
        }
        if (completion.candidates.size() > 1) {
            candidates_ = std::move(completion.candidates);
            chosen_ = -1;
        }
        if (longer || candidates_.empty()) {
            return;
        }
    }
    const auto n = n_of(candidates_);
    chosen_ = chosen_ < 0 ? (step > 0 ? 0 : n - 1) : (chosen_ + step + n) % n;
    put(begin_, printable(candidates_[chosen_]));
}

Prompt::Typing Prompt::handle(Key key) {
    const bool types = is_text(key);
    const bool erases = key == key_backspace || key == key_delete || key == ctrl('D') || key == ctrl('W');
    if (std::exchange(replaces_, false) && (types || erases)) {
        text_.clear();
        at_ = 0;
        if (erases) {
            candidates_.clear();
            return Typing::editing;
        }
    }
    if (key == key_tab || key == key_back_tab) {
        complete(key == key_tab ? 1 : -1);
        return Typing::editing;
    }
    candidates_.clear();
    switch (key) {
    case key_enter: {
        const std::string done = text();
        std::erase(*history_, done);
        if (!done.empty()) {
            history_->push_back(done);
        }
        return Typing::accepted;
    }
    case key_escape:
    case ctrl('C'): return Typing::cancelled;
    case key_backspace:
        if (text_.empty()) {
            return Typing::cancelled;
        }
        if (at_ > 0) {
            text_.erase(--at_, 1);
        }
        break;
    case key_delete:
    case ctrl('D'):
        if (at_ < text_.size()) {
            text_.erase(at_, 1);
        }
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
        while (from > 0 && text_[from - 1] == U' ') {
            --from;
        }
        while (from > 0 && text_[from - 1] != U' ') {
            --from;
        }
        text_.erase(from, at_ - from);
        at_ = from;
        break;
    }
    default:
        if (types) {
            text_.insert(at_++, 1, static_cast<char32_t>(key));
        }
    }
    return Typing::editing;
}

} // namespace schedscope::tui
