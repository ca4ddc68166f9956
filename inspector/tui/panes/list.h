#pragma once

#include <algorithm>

namespace schedscope::tui {

/// Where a list stands: which row is selected, which is the first one on the screen. Knows numbers only; n_rows may be millions.
/// Invariants: 0 ≤ selected < n_rows (0 when empty), selected is visible, no empty space below while there are rows above.
class List {
public:
    int n_rows() const noexcept { return n_rows_; }
    int height() const noexcept { return height_; }
    int selected() const noexcept { return selected_; }
    int top() const noexcept { return top_; }
    bool empty() const noexcept { return n_rows_ == 0; }

    void resize(int n_rows, int height) noexcept {
        n_rows_ = std::max(n_rows, 0);
        height_ = std::max(height, 1);
        settle();
    }
    /// False when it was there already.
    bool select(int row) noexcept {
        const int before = selected_;
        selected_ = row;
        settle();
        return selected_ != before;
    }
    bool move(int rows) noexcept { return select(std::clamp(selected_ + rows, 0, std::max(n_rows_ - 1, 0))); }
    /// The screen moves, and the selection with it: the line that it stands on stays, but at an end of the list.
    bool page(int pages) noexcept { return turn(pages * std::max(height_ - 1, 1)); }
    bool half_page(int pages) noexcept { return turn(pages * std::max(height_ / 2, 1)); }

    /// The wheel: the screen moves, the selection only as far as it must to stay on it.
    bool scroll(int rows) noexcept {
        const int before = top_;
        top_ = std::clamp(top_ + rows, 0, std::max(n_rows_ - height_, 0));
        selected_ = std::clamp(selected_, top_, std::max(std::min(top_ + height_, n_rows_) - 1, top_));
        return top_ != before;
    }
    /// The row shown on a line of the screen, −1: none.
    int row_at(int line) const noexcept { return line >= 0 && line < height_ && top_ + line < n_rows_ ? top_ + line : -1; }

private:
    bool turn(int rows) noexcept {
        top_ = std::clamp(top_ + rows, 0, std::max(n_rows_ - height_, 0));
        return move(rows);
    }
    void settle() noexcept {
        selected_ = std::clamp(selected_, 0, std::max(n_rows_ - 1, 0));
        top_ = std::clamp(top_, std::max(selected_ - height_ + 1, 0), selected_);
        top_ = std::min(top_, std::max(n_rows_ - height_, 0));
    }

    int n_rows_ = 0, height_ = 1, selected_ = 0, top_ = 0;
};

} // namespace schedscope::tui
