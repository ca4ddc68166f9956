#include "inspector/tui/input/typed_line.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {

void TypedLine::ask(TypedQuestion question) {
    question_ = std::move(question);
    prompt_.emplace(question_.label, question_.text, history(question_.kind), question_.completer);
    other_text_ = false;
    note_.clear();
}

void TypedLine::handle(Key key) {
    const std::string before = prompt_->text();
    const Prompt::Typing result = prompt_->handle(key);
    const std::string text = prompt_->text();
    if (result == Prompt::Typing::editing) {
        other_text_ = other_text_ || text != before;
        return;
    }
    const TypedQuestion answered = std::exchange(question_, {});
    prompt_.reset();
    if (answered.end_preview) {
        answered.end_preview();
    }
    if (result == Prompt::Typing::accepted) {
        answered.then(text);
    }
}

void TypedLine::preview() {
    if (std::exchange(other_text_, false) && prompt_ && question_.preview) {
        note_ = question_.preview(prompt_->text());
    }
}

int TypedLine::cursor_column(const Rect& area) {
    const int begin = std::min(area.col + 1 + text_width(prompt_->label()), area.col + area.width);
    return std::min(begin + prompt_->window(area.col + area.width - begin).cursor, area.col + area.width - 1);
}

void TypedLine::draw(const Canvas& page, const Rect& area, const Rect& below) {
    const int col = page.put(area.row, area.col + 1, prompt_->label(), bold, area.width - 1);
    const std::string shown = prompt_->window(area.col + area.width - col).text;
    page.put(area.row, col, shown, Style{}.with_reverse(prompt_->replaces()), area.col + area.width - col);
    const int behind = col + text_width(shown) + 2, end = area.col + area.width - 1;
    if (!note_.empty() && behind + std::min(text_width(note_), 12) <= end) {
        page.put_right(area.row, behind, note_, dim, end - behind);
    }
    if (!prompt_->candidates().empty()) {
        draw_candidates(page, below);
    } else {
        page.put(below.row, below.col + 1, "Enter accept  Tab complete  Esc cancel  ↑/↓ typed before", dim, below.width - 1);
    }
}

/// As many as fit, the chosen one among them.
void TypedLine::draw_candidates(const Canvas& page, const Rect& area) const {
    const std::vector<std::string>& all = prompt_->candidates();
    const int room = area.width - 4, chosen = std::max(prompt_->chosen(), 0);
    size_t first = chosen;
    for (int used = text_width(all[first]); first > 0; --first) {
        used += text_width(all[first - 1]) + 2;
        if (used > room) {
            break;
        }
    }
    int col = area.col + 1;
    const int end = area.col + area.width - 2;
    if (first > 0) {
        col = page.put(area.row, col, "… ", dim);
    }
    for (size_t i = first; i < all.size(); ++i) {
        if (i > first && col + text_width(all[i]) > end) {
            page.put(area.row, col, "…", dim);
            break;
        }
        const bool now = int_of(i) == prompt_->chosen();
        col = page.put(area.row, col, all[i], now ? accent.with_reverse() : dim, end - col);
        col += 2;
    }
}

} // namespace schedscope::tui
