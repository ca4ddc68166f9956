#pragma once

#include "inspector/tui/views/drawings/drawing.h"
#include "traces/history/accounts/values.h"

#include <vector>

namespace schedscope::tui {

/// How the elements of the selected row are spread from the smallest to the largest, as columns.
class Histogram final : public Drawing {
public:
    explicit Histogram(const std::vector<accounts::ValueRow>& rows) : rows_(rows) {} ///< borrowed

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession&) const override { return "how the elements are spread"; }
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int, int) const override { return -1; }

private:
    const std::vector<accounts::ValueRow>& rows_;
};

} // namespace schedscope::tui
