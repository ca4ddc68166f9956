#include "inspector/tui/views/drawings/histogram.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/accounts/values.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope::tui {

int Histogram::rows(InspectorSession&, int body_rows, int) const { return rows_.empty() ? 0 : std::clamp(body_rows / 3, 4, 14); }

std::vector<Line> Histogram::draw(InspectorSession&, int selected, int height, int width) {
    Cells cells(height, width);
    if (selected < 0) {
        return cells.lines();
    }
    const accounts::ValueRow& row = rows_[selected];
    int64_t most = 0;
    for (const int64_t n : row.histogram) {
        most = std::max(most, n);
    }
    if (most == 0) {
        cells.text(0, 1, "no element is finite", dim);
        return cells.lines();
    }
    constexpr int label = 10;
    constexpr char32_t parts[] = {U' ', U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};
    const int n_bars = n_of(row.histogram), n_rows = height - 1;
    const int bar = std::max((width - label - 1) / n_bars, 1);
    cells.text(0, 0, words::count(most), dim, label);
    cells.text(n_rows - 1, 0, "0", dim, label);
    for (int i = 0; i < n_bars; ++i) {
        const int64_t count = row.histogram[i];
        // In eighths of a cell; what is there at all is seen.
        const auto eighths = count == 0 ? 0 : std::max<int64_t>(count * n_rows * 8 / most, 1);
        for (int r = 0; r < n_rows; ++r) {
            const auto part = std::clamp<int64_t>(eighths - r * 8, 0, 8);
            for (int c = 0; c < std::max(bar - 1, 1); ++c) {
                cells.put(n_rows - 1 - r, label + i * bar + c, parts[part], Style{Ink::accent, false, false, false, false});
            }
        }
    }
    const std::string last = words::number(row.value.max);
    cells.text(n_rows, label, words::number(row.value.min), dim);
    cells.text(n_rows, std::max(label + n_bars * bar - text_width(last), label + 12), last, dim);
    return cells.lines();
}

} // namespace schedscope::tui
