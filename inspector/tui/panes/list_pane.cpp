#include "inspector/tui/panes/list_pane.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace schedscope::tui {

void ListPane::show(ViewId id) {
    std::unique_ptr<View>& made = made_[ordinal(id)];
    if (!made) {
        made = entry_of(id).make(session_);
    }
    if (view_ != made.get()) {
        lines_ = List();
        sort_column_ = -1;
        longest_name_ = 0;
        longest_.clear();
    }
    view_ = made.get();
    id_ = id;
    outdate();
}

void ListPane::update() {
    if (updated_ == session_.version()) {
        return;
    }
    updated_ = session_.version();
    try {
        view_->update(session_);
        find_columns();
        measure_names();
        measure_columns();
        narrow();
        order();
        fit();
        select_row_of_tensor();
        if (session_.follow && followed_ != session_.step()) {
            follow_record();
        }
        followed_ = session_.step();
    } catch (...) {
        outdate(); // half of it is there: the next one begins again
        throw;
    }
}

void ListPane::find_columns() {
    const std::optional<size_t> sorted_by =
        is_index(sort_column_, in_table_) ? std::optional(in_table_[sort_column_]) : std::nullopt;
    columns_.clear();
    in_table_.clear();
    const std::vector<tables::Column>& all = view_->table().columns();
    for (const size_t i : tables::told_columns(view_->table(), session_.shows_unknown()).shown) {
        columns_.push_back(all[i]);
        columns_.back().width = all[i].unit == tables::Unit::backend ? backend_width(session_) : all[i].width;
        in_table_.push_back(i);
    }
    if (sorted_by) { // it may stand elsewhere, or say nothing now
        const auto sorted = std::find(in_table_.begin(), in_table_.end(), *sorted_by);
        sort_column_ = sorted == in_table_.end() ? -1 : int_of(sorted - in_table_.begin());
    }
}

/// The longest, from a known length until one has `most`. Of a long list some rows stand for the others.
int ListPane::longest_cell(size_t column, int longest, int most) const {
    constexpr int short_list = 500, looked_at = 128; // rows
    const int stride = n_rows() <= short_list ? 1 : n_rows() / looked_at;
    for (int row = 0; row < n_rows() && longest < most; row += stride) {
        longest = std::max(longest, text_width(tables::text_of(cell(row, column), columns_[column].unit)));
    }
    return longest;
}

void ListPane::measure_names() {
    constexpr int most = 22; // a longer one is an exception, for which the others need not give way
    const auto name = std::find_if(columns_.begin(), columns_.end(), [](const tables::Column& c) { return c.width == 0; });
    if (name == columns_.end() || name->field == Field::kernel) {
        return;
    }
    const size_t column = name - columns_.begin();
    longest_name_ = std::min(longest_cell(column, longest_name_, most), most);
}

/// Columns that may be wider are so for what is in them: the rest is the names'.
void ListPane::measure_columns() {
    longest_.resize(view_->table().columns().size());
    for (size_t i = 0; i < columns_.size(); ++i) {
        tables::Column& column = columns_[i];
        int& longest = longest_[in_table_[i]];
        longest = longest_cell(i, longest, column.most);
        column.most = std::min(column.most, longest);
    }
}

void ListPane::narrow() {
    rows_.clear();
    // What is filtered for is asked for.
    const bool all = session_.shows_unknown() || !filter_.empty() || view_->table().tells_all();
    narrowed_ = !filter_.empty() || sort_column_ >= 0 || !all;
    if (!narrowed_) {
        return;
    }
    Facts facts(filter_);
    for (int row = 0; row < n_rows(); ++row) {
        view_->facts(session_, row, facts);
        if ((all || view_->table().is_told(row)) && filter_.matches(facts)) {
            rows_.push_back(row);
        }
    }
}

void ListPane::order() {
    if (!is_index(sort_column_, columns_)) {
        return;
    }
    const size_t column = sort_column_;
    struct SortKey {
        int row;
        std::optional<double> number;
        std::string text; ///< where there is no number
    };
    std::vector<SortKey> keys;
    keys.reserve(rows_.size());
    for (const int row : rows_) {
        tables::Cell shown = cell(row, column);
        const std::optional<double> number = tables::order_of(shown);
        keys.push_back({row, number, number ? std::string() : tables::text_of(shown, columns_[column].unit)});
    }
    // Numbers first, the largest one at the top; then texts.
    std::stable_sort(keys.begin(), keys.end(), [](const SortKey& a, const SortKey& b) {
        if (a.number.has_value() != b.number.has_value()) {
            return a.number.has_value();
        }
        return a.number ? *a.number > *b.number : a.text < b.text;
    });
    std::transform(keys.begin(), keys.end(), rows_.begin(), [](const SortKey& key) { return key.row; });
}

void ListPane::select_row_of_tensor() {
    // Several rows may stand for a tensor: one that is selected stays.
    const TensorId selected = session_.selected();
    if (!empty() && selected_row() < n_rows() && selected != no_tensor &&
        view_->tensor_of(session_, selected_row()) == selected) {
        return;
    }
    if (const int row = view_->row_of(session_, selected); row >= 0) {
        if (const int line = line_of_row(row); line >= 0) {
            lines_.select(line);
        } else if (sort_column_ < 0) { // a filter hides it: the first line behind it is nearest
            lines_.select(int_of(std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin()));
        }
    }
}

/// To the row that the record at the step is about.
void ListPane::follow_record() {
    // What a record of a tensor changed has been selected with it. Others are about a row of this list, or none.
    const TensorId about = subject(session_.record().fact);
    const int selected = selected_row();
    if (session_.n_changed() > 0 || (about != no_tensor && view_->row_of(session_, about) == selected && selected >= 0 &&
                                     view_->changed(session_, selected))) {
        return;
    }
    for (int line = 0; line < n_lines(); ++line) {
        if (view_->changed(session_, row_of_line(line))) {
            select_line(line);
            return;
        }
    }
}

int ListPane::line_of_row(int row) const {
    if (!narrowed_) {
        return row < n_rows() ? row : -1;
    }
    const auto found = std::find(rows_.begin(), rows_.end(), row);
    return found == rows_.end() ? -1 : int_of(found - rows_.begin());
}

std::vector<int> ListPane::rows() const {
    if (narrowed_) {
        return rows_;
    }
    std::vector<int> all(n_rows());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::string ListPane::why_hidden(TensorId id) const {
    const int row = view_->row_of(session_, id);
    return row < 0 || line_of_row(row) >= 0 ? ""
           : filtered()                     ? "the filter hides it: Esc shows all"
                                            : "only its place is known: :set unknown on shows it";
}

void ListPane::select_line(int line) {
    lines_.select(line);
    if (empty()) {
        return;
    }
    if (const TensorId id = view_->tensor_of(session_, selected_row()); id != no_tensor) {
        session_.select(id);
        updated_ = session_.version(); // the rows are the same
    }
}

void ListPane::select_row(int row) {
    if (const int line = line_of_row(row); line >= 0) {
        select_line(line);
    }
}

void ListPane::scroll(int lines) {
    if (lines_.scroll(lines)) {
        select_line(lines_.selected());
    }
}

void ListPane::set_filter(Query filter) {
    filter_ = std::move(filter);
    outdate();
}

void ListPane::sort_by(int column) {
    sort_column_ = column;
    outdate();
}

int ListPane::next_column() const {
    const std::vector<int> shown = widths();
    const auto n = n_of(shown);
    int next = sort_column_ + 1;
    while (next < n && shown[next] == 0) {
        ++next;
    }
    return next < n ? next : -1;
}

int ListPane::find(int line, bool forward) const {
    const int n = n_lines();
    Facts facts(search_);
    for (int i = 0; i < n; ++i) {
        const int at = (line + (forward ? i : n - i)) % n;
        view_->facts(session_, row_of_line(at), facts);
        if (search_.matches(facts)) {
            return at;
        }
    }
    return -1;
}

void ListPane::restore(const Kept& kept) {
    set_filter(kept.filter);
    search_ = kept.search;
    update();
    stand_at(kept.lines);
}

void ListPane::stand_at(const List& lines) {
    lines_ = lines;
    fit();
}

} // namespace schedscope::tui
