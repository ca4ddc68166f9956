#include "viz/tables/cell.h"

#include "runtime/numbers.h"
#include "runtime/ops/layout.h"
#include "runtime/system/joined.h"
#include "traces/history/words/difference_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/tables/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace schedscope::tables {
namespace {

std::string number_text(int64_t n, Unit unit) {
    switch (unit) {
    case Unit::count: return words::count(n);
    case Unit::bytes: return words::bytes(n);
    case Unit::time: return words::duration(n);
    default: return std::to_string(n);
    }
}

std::string real_text(double value, Unit unit) {
    switch (unit) {
    case Unit::rough: return words::rough(value);
    case Unit::exact: return words::exact(value);
    case Unit::percent: {
        std::array<char, 48> text{};
        std::snprintf(text.data(), text.size(), "%.1f%%", value);
        return text.data();
    }
    default: return words::number(value);
    }
}

std::string list_text(const std::vector<Cell>& list, Unit unit) {
    const auto each = [](Unit of) { return [of](const Cell& cell) { return text_of(cell, of); }; };
    switch (unit) {
    case Unit::shape: {
        Shape ne{1, 1, 1, 1};
        std::transform(list.begin(), list.begin() + std::min(std::ssize(list), std::ssize(ne)), ne.begin(),
                       [](const Cell& cell) { return cell.number; });
        return shape_text(ne);
    }
    case Unit::bars: {
        std::vector<int64_t> counts;
        std::transform(list.begin(), list.end(), std::back_inserter(counts), [](const Cell& cell) { return cell.number; });
        return words::bars(counts);
    }
    case Unit::names: return joined(list, " + ", each(Unit::text));
    case Unit::reals: return joined(list, " ", each(Unit::real));
    default: return joined(list, " ", each(Unit::text));
    }
}

} // namespace

Cell::Cell(double value) : kind(std::isfinite(value) ? Kind::real : Kind::none), real(value) {
    if (!std::isfinite(value)) {
        text = words::number(value);
        place = std::isinf(value) ? std::optional(value) : std::nullopt;
    }
}

Cell Cell::nothing(std::string_view said) {
    Cell cell;
    cell.text = said;
    return cell;
}

Cell Cell::of_sum(const SizeSum& sum) {
    if (sum.is_exact() || (!sum.complete && sum.bytes == 0)) {
        return known(sum.known());
    }
    // Columns have no room for "at least".
    const bool is_about = sum.complete && sum.rounding > 0;
    const std::string text = is_about ? words::bytes(sum) : "≥ " + words::bytes(sum.bytes);
    if (!sum.complete) {
        return nothing(text).ordered_by(to_double(sum.bytes));
    }
    Cell cell(sum.bytes);
    cell.text = text;
    return cell;
}

std::string text_of(const Cell& cell, Unit unit) {
    switch (cell.kind) {
    case Cell::Kind::none: return cell.text.empty() && is_number(unit) ? "-" : cell.text;
    case Cell::Kind::unknown: return unknown_text;
    case Cell::Kind::open: return "…";
    case Cell::Kind::text: return cell.text;
    case Cell::Kind::number: return cell.text.empty() ? number_text(cell.number, unit) : cell.text;
    case Cell::Kind::real: return real_text(cell.real, unit);
    case Cell::Kind::flag: return cell.number != 0 ? "yes" : "no";
    case Cell::Kind::list: return list_text(cell.list, unit);
    case Cell::Kind::rows: return std::to_string(cell.rows->n_rows());
    }
    return {};
}

std::optional<double> order_of(const Cell& cell) noexcept {
    if (cell.place) {
        return cell.place;
    }
    switch (cell.kind) {
    case Cell::Kind::number:
    case Cell::Kind::flag: return to_double(cell.number);
    case Cell::Kind::real: return cell.real;
    default: return std::nullopt;
    }
}

} // namespace schedscope::tables
