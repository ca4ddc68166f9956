#pragma once

#include "inspector/tui/views/drawings/drawing.h"

namespace schedscope::tui {

/// The splits side by side, in the order in which they run: as wide as they have nodes, as they took time, as bytes are copied
/// into them.
class SplitBars final : public Drawing {
public:
    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession& session) const override;
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int line, int column) const override { return drawn_.at(line, column); }

private:
    DrawnRows drawn_;
};

} // namespace schedscope::tui
