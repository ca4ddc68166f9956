#include "inspector/tui/views/drawings/timeline_lanes.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {
namespace {

constexpr int64_t least_window = 20; // nanoseconds: finer no clock is

char32_t sign_of(TimelineItem::Kind kind) noexcept {
    return kind == TimelineItem::Kind::kernel ? U'█' : kind == TimelineItem::Kind::transfer ? U'═' : U'·';
}

} // namespace

std::string whole_percent(double percent) {
    return percent > 0 && percent < 0.5 ? "<1%" : std::to_string(std::lround(percent)) + "%";
}

void TimelineLanes::set(InspectorSession& session, const std::vector<TimelineItem>& items, const accounts::TimeAccount& account) {
    items_ = &items;
    account_ = &account;
    begin_ = account.extent.begin_ns;
    end_ = std::max(account.extent.end_ns, begin_ + 1);
    if (evaluation_ != session.state().evaluation || whole_ || from_ >= end_) {
        evaluation_ = session.state().evaluation;
        whole_ = true;
        from_ = begin_;
        to_ = end_;
    }
}

int TimelineLanes::rows(InspectorSession& session, int body_rows, int) const {
    if (!items_ || items_->empty()) {
        return 0;
    }
    const int n = session.n_backends();
    const int rows = 2 + (2 * n + 2 <= body_rows / 2 ? 2 * n : n);
    constexpr int of_list = 5; // its heads and some lines
    return rows + of_list <= body_rows ? rows : 0;
}

std::string TimelineLanes::title(const InspectorSession&) const {
    if (whole_) {
        return "all " + time_text(end_ - begin_);
    }
    return time_text(from_ - begin_) + " to " + time_text(to_ - begin_) + " of " + time_text(end_ - begin_);
}

int TimelineLanes::column_of(int64_t time) const {
    const double share = to_double(time - from_) / to_double(std::max<int64_t>(to_ - from_, 1));
    return label_ + static_cast<int>(std::clamp(share, -1.0, 2.0) * width_);
}

int64_t TimelineLanes::time_at(int column) const {
    const double share = ((column - label_) + 0.5) / width_;
    return from_ + static_cast<int64_t>(share * to_double(to_ - from_));
}

void TimelineLanes::move_to(int64_t from, int64_t length) {
    length = std::clamp(length, std::min(least_window, end_ - begin_), end_ - begin_);
    from_ = std::clamp(from, begin_, end_ - length);
    to_ = from_ + length;
    whole_ = from_ == begin_ && to_ == end_;
}

void TimelineLanes::show(const TimelineItem& item) {
    if (item.end <= from_ || item.start >= to_) {
        const int64_t length = to_ - from_;
        move_to(item.start - (length - std::min(length, item.end - item.start)) / 2, length);
    }
}

bool TimelineLanes::zoom(Zoom how, int column) {
    if (!items_ || items_->empty()) {
        return false;
    }
    const int64_t length = to_ - from_;
    int64_t at = from_ + length / 2;
    if (column >= label_) {
        at = time_at(column);
    } else if (selected_ >= 0 && static_cast<size_t>(selected_) < items_->size()) {
        const TimelineItem& item = (*items_)[selected_];
        at = std::clamp(item.start, from_, to_); // its beginning stays where it is
    }
    const double share = to_double(at - from_) / to_double(length); // what is there stays there
    const auto scaled = [&](int64_t new_length) {
        move_to(at - static_cast<int64_t>(share * to_double(new_length)), new_length);
    };
    switch (how) {
    case Zoom::in: scaled(length / 2); break;
    case Zoom::out: scaled(length >= (end_ - begin_) / 2 ? end_ - begin_ : length * 2); break;
    case Zoom::whole: move_to(begin_, end_ - begin_); break;
    case Zoom::left: move_to(from_ - std::max<int64_t>(length / 4, 1), length); break;
    case Zoom::right: move_to(from_ + std::max<int64_t>(length / 4, 1), length); break;
    }
    return true;
}

std::vector<Line> TimelineLanes::draw(InspectorSession& session, int selected, int height, int width) {
    Cells cells(height, width);
    const int n = session.n_backends();
    const int per_lane = height - 2 >= 2 * n ? 2 : 1;
    label_ = backend_width(session) + 6;
    width_ = std::max(width - label_, 1);
    if (selected != selected_ && selected >= 0) {
        show((*items_)[selected]); // the window goes where the list does
    }
    selected_ = selected;
    drawn_.clear(height, width);

    for (const SplitState& split : session.state().splits) {
        if (split.start_ns && *split.start_ns < to_ && split.end_ns.value_or(0) > from_) {
            const int at = std::max(column_of(*split.start_ns), label_);
            cells.text(0, at, "▏" + std::to_string(split.begin.index) + std::string(std::max(width - at - 8, 0), ' '), dim);
        }
    }
    cells.text(0, 0, "splits", dim, label_);
    for (BackendId backend = 0; backend < n; ++backend) {
        const int line = 1 + backend * per_lane;
        const Text name = backend_text(session, backend);
        cells.text(line, 0, name.text, name.style, backend_width(session));
        const accounts::DeviceTime& device = account_->devices[backend];
        const std::string share = device.untimed ? unknown_text : whole_percent(account_->extent.percent(device.busy()));
        cells.text(line, label_ - 1 - text_width(share), share, dim, label_);
        if (per_lane == 2) {
            cells.text(line + 1, 0, " copies", dim, label_ - 1);
        }
    }
    // What is rare goes on top: a kernel of a cell's length hides no transfer that lies within it.
    for (const TimelineItem::Kind kind : {TimelineItem::Kind::wait, TimelineItem::Kind::kernel, TimelineItem::Kind::transfer}) {
        for (size_t i = 0; i < items_->size(); ++i) {
            const TimelineItem& item = (*items_)[i];
            if (item.kind != kind || item.backend == no_backend || item.end < from_ || item.start > to_) {
                continue;
            }
            const int line = 1 + item.backend * per_lane + (per_lane == 2 && kind != TimelineItem::Kind::kernel ? 1 : 0);
            const int first = std::max(column_of(item.start), label_);
            const int last = std::min(std::max(column_of(item.end - 1), first), width - 1);
            for (int column = first; column <= last && line + 1 < height; ++column) {
                cells.put(line, column, sign_of(kind), backend_style(item.backend, n));
                drawn_.put(line, column, int_of(i));
            }
        }
    }
    const int axis = height - 1;
    cells.text(axis, label_, std::string("├"), dim);
    for (int column = label_ + 1; column < width; ++column) {
        cells.put(axis, column, U'─', dim);
    }
    const std::string first = time_text(from_ - begin_), last = time_text(to_ - begin_);
    cells.text(axis, 0, first, dim, label_);
    cells.text(axis, width - text_width(last) - 1, " " + last, dim);
    if (selected >= 0) { // last, so that nothing hides it
        const TimelineItem& item = (*items_)[selected];
        const int line = 1 + item.backend * per_lane + (per_lane == 2 && item.kind != TimelineItem::Kind::kernel ? 1 : 0);
        const int left = std::max(column_of(item.start), label_);
        const int right = std::min(std::max(column_of(item.end - 1), left), width - 1);
        for (int column = left; column <= right; ++column) {
            if (item.backend != no_backend && line < axis) {
                cells.put(line, column, sign_of(item.kind),
                          backend_style(item.backend, n).with_reverse(item.kind != TimelineItem::Kind::kernel));
                drawn_.put(line, column, selected);
            }
            cells.put(axis, column, U'▲', accent);
        }
    }
    return cells.lines();
}

} // namespace schedscope::tui
