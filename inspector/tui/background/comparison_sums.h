#pragma once

#include "inspector/tui/views/drawings/drawing.h"

namespace schedscope::tui {

/// What the plans of the session's comparison come to, left and right: that of the evaluation at which the session stands, or the
/// first one. What differs comes first, marked.
class ComparisonSums final : public Drawing {
public:
    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession& session) const override;
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int, int) const override { return -1; }
};

} // namespace schedscope::tui
