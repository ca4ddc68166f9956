#pragma once

#include "inspector/tui/views/drawings/drawing.h"
#include "viz/tables/values.h"

#include <vector>

namespace schedscope::tui {

/// The error of each node in evaluation order, in powers of ten of what is tolerated: as columns, with a line where the tolerance
/// is.
class ErrorChart final : public Drawing {
public:
    explicit ErrorChart(const std::vector<tables::ComparedRow>& rows) : rows_(rows) {} ///< borrowed

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession&) const override { return "error of each node, × what is tolerated"; }
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int line, int column) const override;

private:
    const std::vector<tables::ComparedRow>& rows_;
    std::vector<int> drawn_; ///< [column of the drawing] the row that it shows; −1: none
};

} // namespace schedscope::tui
