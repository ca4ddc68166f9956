#pragma once

#include "inspector/tui/views/drawings/drawing.h"
#include "viz/tables/timeline.h"

#include <string_view>
#include <vector>

namespace schedscope::tui {

using tables::TimelineItem;

/// The timeline drawn: a lane of kernels for each backend, below it one of the transfers to it and of the times it waited for;
/// above them the splits, below the window of time that is shown. Beside each name how much of the evaluation it was busy; "?"
/// where something ran without a time.
class TimelineLanes final : public Drawing {
public:
    /// `items`: by start, borrowed, and so is what they come to. Another evaluation is shown whole.
    void set(InspectorSession& session, const std::vector<TimelineItem>& items, const accounts::TimeAccount& account);

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession& session) const override;
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int line, int column) const override { return drawn_.at(line, column); }
    bool zoom(Zoom how, int column) override;

private:
    int column_of(int64_t time) const;
    int64_t time_at(int column) const;
    void show(const TimelineItem& item);
    void move_to(int64_t from, int64_t length);

    const std::vector<TimelineItem>* items_ = nullptr;
    const accounts::TimeAccount* account_ = nullptr;
    EvaluationId evaluation_ = -1;
    int64_t begin_ = 0, end_ = 1;
    int64_t from_ = 0, to_ = 1; ///< the window
    bool whole_ = true;
    int selected_ = -1;
    int label_ = 0, width_ = 1; ///< cells of the lanes' names, and of the lanes
    DrawnRows drawn_;
};

/// "3%", "<1%" of what is more than nothing.
std::string whole_percent(double percent);

} // namespace schedscope::tui
