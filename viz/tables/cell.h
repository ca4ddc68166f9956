#pragma once

#include "runtime/ops/layout.h"
#include "runtime/planner/capabilities.h"
#include "traces/history/size_sum.h"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tables {

class Table;

/// What the cells of a column are, and so how each face writes them.
enum class Unit : uint8_t {
    text,
    names,   ///< a list: "norm-0 + attn_norm-0"
    words,   ///< a list: "+top_k dist"
    shape,   ///< a list of extents: "[64, 16]"
    bars,    ///< a list of counts: "▁▃█"
    reals,   ///< a list: "0.25 -1"
    backend, ///< its name; lists show it in its colour
    rows,    ///< a table of its own
    range,   ///< "3–9"; from here on numbers, which stand at the right of their column
    number,  ///< "48310"
    count,   ///< "48,310"
    bytes,   ///< "4.0 KiB"
    time,    ///< ns: "12.4 µs"
    percent, ///< "12.3%"
    real,    ///< six digits that matter: "0.0481203"
    rough,   ///< three: "4.8e-07"
    exact,   ///< as many as tell 32-bit floats apart: "0.100000001"
};
constexpr bool is_number(Unit unit) noexcept { return unit >= Unit::range; }

/// How a cell stands out where there are styles.
enum class Tone : uint8_t { plain, quiet, strong, warning, bad };

/// What stands at one place of a table. A face makes of it what it shows: a text for people, a value for JSON, a number to order
/// by.
struct Cell {
    enum class Kind : uint8_t {
        none,    ///< there is nothing
        unknown, ///< there is something, and the trace does not know it: "?"
        open,    ///< not known before a later step: "…"
        text,
        number,
        real,
        flag, ///< "yes", "no"
        list,
        rows,
    };

    Cell() = default;
    Cell(std::string text_) : kind(Kind::text), text(std::move(text_)) {}
    Cell(std::string_view text_) : Cell(std::string(text_)) {}
    Cell(const char* text_) : Cell(std::string(text_)) {}
    Cell(std::same_as<bool> auto value) : kind(Kind::flag), number(value ? 1 : 0) {}
    Cell(std::integral auto value) requires(!std::same_as<decltype(value), bool>)
        : kind(Kind::number), number(static_cast<int64_t>(value)) {}
    Cell(double value); ///< nothing for a number that is not finite
    template <typename T> Cell(const std::optional<T>& value) : Cell(value ? Cell(*value) : Cell()) {}
    Cell(std::vector<Cell> cells) : kind(Kind::list), list(std::move(cells)) {}
    Cell(std::shared_ptr<const Table> table) : kind(Kind::rows), rows(std::move(table)) {}

    static Cell unknown() { return of_kind(Kind::unknown); }
    static Cell open() { return of_kind(Kind::open); }
    /// For data there is nothing; people read this.
    static Cell nothing(std::string_view said);
    /// A number that is nothing below 0.
    template <std::integral T> static Cell from_zero(T value) { return value < 0 ? Cell() : Cell(value); }
    /// Unlike Cell(optional), which is nothing then: what has no value is there, and not known.
    template <typename T> static Cell known(const std::optional<T>& value) { return value ? Cell(*value) : unknown(); }
    /// Bytes. Where only some are known people read "at least 20.0 KiB", which is no number for data; where they were rounded,
    /// "about 0.89 MiB", which is one.
    static Cell of_sum(const SizeSum& sum);
    /// A text that is nothing when it is empty.
    static Cell if_any(std::string_view text) { return text.empty() ? Cell() : Cell(text); }
    template <typename Range> static Cell of_each(const Range& range) {
        std::vector<Cell> cells;
        cells.reserve(std::size(range));
        for (const auto& element : range) {
            cells.emplace_back(element);
        }
        return cells;
    }

    Cell&& in(Tone tone_) && { return tone = tone_, std::move(*this); }
    Cell&& of(BackendId id) && { return backend = id, std::move(*this); } ///< said of a backend, in its colour
    Cell&& ordered_by(double place_) && { return place = place_, std::move(*this); }

    Kind kind = Kind::none;
    Tone tone = Tone::plain;
    BackendId backend = no_backend;
    int64_t number = 0;
    double real = 0;
    std::optional<double> place; ///< lists are ordered by it instead of what is shown
    std::string text;
    std::vector<Cell> list;
    std::shared_ptr<const Table> rows;

private:
    static Cell of_kind(Kind kind) {
        Cell cell;
        cell.kind = kind;
        return cell;
    }
};

/// As people read it: "4.0 KiB"; "?" for what is unknown; nothing is "-" among numbers, and an empty text.
std::string text_of(const Cell& cell, Unit unit);
/// The number that a list is ordered by; nothing: it is ordered by the text, or not known.
std::optional<double> order_of(const Cell& cell) noexcept;

} // namespace schedscope::tables
