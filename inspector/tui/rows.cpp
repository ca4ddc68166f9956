// The list between a view's rows and the screen: filtered, ordered, with one row selected; and the details of that row.
#include "inspector/tui/app.h"

#include "inspector/tui/line_wrap.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace schedscope::tui {
void App::update() {
    if (updated_ == session_.version()) {
        return;
    }
    updated_ = session_.version();
    view_->update(session_);
    shown_.clear();
    narrowed_ = !filter_.empty() || sort_column_ >= 0;
    if (narrowed_) {
        Facts facts(filter_);
        for (int row = 0; row < view_->n_rows(); ++row) {
            view_->facts(session_, row, facts);
            if (filter_.matches(facts)) {
                shown_.push_back(row);
            }
        }
    }
    if (sort_column_ >= 0 && static_cast<size_t>(sort_column_) < view_->columns().size()) {
        const auto column = static_cast<size_t>(sort_column_);
        struct Key {
            int row;
            std::optional<double> number;
            std::string text; ///< where there is no number
        };
        std::vector<Key> keys;
        keys.reserve(shown_.size());
        for (const int row : shown_) {
            Key key{row, view_->sort_key(session_, row, column), {}};
            if (!key.number || std::isnan(*key.number)) {
                key.number.reset();
                key.text = std::move(view_->row(session_, row, 80)[column].text);
            }
            keys.push_back(std::move(key));
        }
        // Numbers first, the largest one at the top; then texts.
        std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
            if (a.number.has_value() != b.number.has_value()) {
                return a.number.has_value();
            }
            return a.number ? *a.number > *b.number : a.text < b.text;
        });
        std::transform(keys.begin(), keys.end(), shown_.begin(), [](const Key& key) { return key.row; });
    }
    list_.resize(n_shown(), layout_.list.height);
    if (view_->n_rows() == 0) { // there are no details to stand in
        pane_ = Pane::list;
    }
    select_row_of_tensor();
    if (session_.follow && followed_ != session_.step()) {
        follow_record();
    }
    followed_ = session_.step();
}

void App::follow_record() {
    // What a record of a tensor changed has been selected with it. Others are about a row of this list, or none.
    const TensorId about = subject(session_.record().fact);
    if (session_.n_changed() > 0 || (about != no_tensor && view_->row_of(session_, about) == view_row() && view_row() >= 0 &&
                                     view_->changed(session_, view_row()))) {
        return;
    }
    for (int shown = 0; shown < n_shown(); ++shown) {
        if (view_->changed(session_, narrowed_ ? shown_[static_cast<size_t>(shown)] : shown)) {
            select_shown(shown);
            return;
        }
    }
}

int App::n_shown() const { return narrowed_ ? static_cast<int>(shown_.size()) : view_->n_rows(); }

int App::view_row() const {
    return list_.empty() ? -1 : narrowed_ ? shown_[static_cast<size_t>(list_.selected())] : list_.selected();
}

void App::select_row_of_tensor() {
    // Several rows may stand for a tensor: one that is selected stays.
    const TensorId selected = session_.selected();
    if (!list_.empty() && view_row() < view_->n_rows() && selected != no_tensor &&
        view_->tensor_of(session_, view_row()) == selected) {
        return;
    }
    if (const int row = view_->row_of(session_, session_.selected()); row >= 0) {
        if (const int shown = shown_row(row); shown >= 0) {
            list_.select(shown);
        } else if (sort_column_ < 0) { // a filter hides it: the first line behind it is nearest
            list_.select(static_cast<int>(std::lower_bound(shown_.begin(), shown_.end(), row) - shown_.begin()));
        }
    }
}

int App::shown_row(int row) const {
    if (!narrowed_) {
        return row < view_->n_rows() ? row : -1;
    }
    const auto found = std::find(shown_.begin(), shown_.end(), row);
    return found == shown_.end() ? -1 : static_cast<int>(found - shown_.begin());
}

void App::select_view_row(int row) {
    if (const int shown = shown_row(row); shown >= 0) {
        select_shown(shown);
    }
}

void App::select_shown(int row) {
    list_.select(row);
    if (list_.empty()) {
        return;
    }
    if (const TensorId id = view_->tensor_of(session_, view_row()); id != no_tensor) {
        session_.select(id);
        updated_ = session_.version(); // the rows are the same
    }
}

void App::update_detail() {
    const int row = view_row(), width = layout_.detail.width;
    if (detail_version_ == session_.version() && detail_row_ == row && detail_width_ == width && detail_view_ == view_number_) {
        return;
    }
    const bool same = detail_row_ == row && detail_view_ == view_number_ && detail_width_ == width;
    const int stood = detail_list_.selected(), top = detail_list_.top();
    detail_ =
        row < 0 ? std::vector<Line>() : wrapped_lines(view_->detail(session_, row, width - 1), width - 1); // one for the mark
    detail_version_ = session_.version();
    detail_row_ = row;
    detail_width_ = width;
    detail_view_ = view_number_;
    detail_list_ = List();
    detail_list_.resize(static_cast<int>(detail_.size()), layout_.detail.height);
    if (same) { // the place that is being read stays
        detail_list_.select(std::min(top + layout_.detail.height - 1, static_cast<int>(detail_.size()) - 1));
        detail_list_.select(stood);
    }
    const auto now = std::find_if(detail_.begin(), detail_.end(), [](const Line& l) { return l.now; });
    if (pane_ == Pane::list && now != detail_.end()) {
        detail_list_.select(static_cast<int>(now - detail_.begin()));
    }
}

} // namespace schedscope::tui
