#include "inspector/tui/views/drawings/error_chart.h"

#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedscope::tui {
namespace {

constexpr int label = 10;                         ///< cells for the numbers on the left
constexpr int least_power = -12, most_power = 12; ///< of ten; what is farther off is drawn there
constexpr double nothing = -std::numeric_limits<double>::infinity(), endless = std::numeric_limits<double>::infinity();

/// The error as a power of ten of what is tolerated; −∞ where nothing differs or nothing was compared, ∞ where nothing can be
/// measured.
double power_of(const tables::ComparedRow& row) noexcept {
    const record::Difference& d = row.difference.difference;
    if (!row.compared() || d.nmse == 0) {
        return nothing;
    }
    const double power = std::log10(d.nmse / d.tolerance); // of a tolerance of 0: infinite
    return std::isfinite(power) ? std::clamp<double>(power, least_power, most_power) : endless;
}

/// Which powers of ten the lines of cells stand for. The tolerance lies on a border of two of them: what reaches beyond it is
/// seen at once.
struct Scale {
    int top = 1, bottom = -1; ///< powers of ten
    int above = 1, below = 1; ///< lines on either side of what is tolerated

    Scale(const std::vector<tables::ComparedRow>& rows, int n_lines) {
        double worst = 0, best = 0;
        bool any_endless = false;
        for (const tables::ComparedRow& row : rows) {
            const double power = power_of(row);
            any_endless = any_endless || power == endless;
            if (std::isfinite(power)) {
                worst = std::max(worst, power);
                best = std::min(best, power);
            }
        }
        constexpr int room_for_endless = 3; // higher than all that can be measured, which stays in sight
        top = std::max(static_cast<int>(std::ceil(worst)), 1) + (any_endless ? room_for_endless : 0);
        bottom = std::min(static_cast<int>(std::floor(best)), -1);
        above = std::clamp(int_of(std::lround(to_double(n_lines) * top / (top - bottom))), 1, n_lines - 1);
        below = n_lines - above;
    }

    /// Eighths of a line from the bottom: at least one, and across the border only what is beyond.
    int eighths(double power, bool beyond) const {
        const double lines = power >= 0 ? below + above * std::min<double>(power / top, 1) : below * (1 - power / bottom);
        const int n = int_of(std::lround(lines * 8));
        return beyond ? std::max(n, below * 8 + 1) : std::clamp(n, 1, below * 8);
    }
};

std::string times_ten_to(int power) { return power == 0 ? "tolerated" : "×1e" + std::to_string(power); }

} // namespace

int ErrorChart::rows(InspectorSession&, int body_rows, int) const { return rows_.empty() ? 0 : std::clamp(body_rows / 3, 4, 14); }

int ErrorChart::row_at(int, int column) const { return is_index(column, drawn_) ? drawn_[column] : -1; }

std::vector<Line> ErrorChart::draw(InspectorSession&, int selected, int height, int width) {
    Cells cells(height, width);
    drawn_.assign(std::max(width, 0), -1);
    const auto n = n_of(rows_);
    const int room = width - label, n_rows = height - 1;
    if (n == 0 || room < 1 || n_rows < 2) {
        return cells.lines();
    }
    const Scale scale(rows_, n_rows);
    cells.text(0, 0, times_ten_to(scale.top), dim, label);
    cells.text(scale.above, 0, times_ten_to(0), dim, label);
    if (scale.below > 1) {
        cells.text(n_rows - 1, 0, times_ten_to(scale.bottom), dim, label);
    }
    for (int c = label; c < width; ++c) {
        cells.put(scale.above, c, U'─', dim);
    }
    constexpr char32_t parts[] = {U' ', U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};
    const int bar = std::clamp(room / n, 1, 4);
    for (int c = 0; c < std::min(room, n * bar); ++c) {
        // Of the rows that share a column the worst is drawn.
        const auto first = n > room ? int_of(static_cast<int64_t>(c) * n / room) : c / bar;
        const auto end = n > room ? std::max(int_of(static_cast<int64_t>(c + 1) * n / room), first + 1) : first + 1;
        int shown = first;
        bool is_selected = false;
        for (int row = first; row < end; ++row) {
            is_selected = is_selected || row == selected;
            shown = power_of(rows_[row]) > power_of(rows_[shown]) ? row : shown;
        }
        const tables::ComparedRow& row = rows_[shown];
        const int at = label + c;
        drawn_[at] = shown;
        if (is_selected) {
            cells.put(n_rows, at, U'▲', accent);
        } else if (!row.compared()) {
            cells.put(n_rows, at, U'·', dim);
        }
        const double power = power_of(row);
        if (power == nothing || (bar > 1 && c % bar == bar - 1)) {
            continue; // columns of several cells keep one free between them
        }
        const bool beyond = row.difference.difference.beyond;
        const int eighths = scale.eighths(power, beyond);
        for (int line = 0; line * 8 < eighths; ++line) {
            cells.put(n_rows - 1 - line, at, parts[std::clamp(eighths - line * 8, 0, 8)],
                      beyond ? bad : Style{Ink::accent, false, false, false, false});
        }
    }
    return cells.lines();
}

} // namespace schedscope::tui
