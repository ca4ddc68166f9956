#pragma once

#include "runtime/numbers.h"
#include "viz/query/query.h"
#include "viz/tables/cell.h"

#include <climits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tables {

/// A column of a table, described once for all faces. Those with a title are what people see; those with a key what data have.
/// Widths are in cells of a terminal.
struct Column {
    std::string_view key = {};   ///< in JSON and in the report's data: "time_ns"; empty: for people only
    std::string_view title = {}; ///< empty: in data only
    std::string_view help = {};  ///< what it says, in a sentence without its end
    Unit unit = Unit::text;
    int width = 0;                            ///< 0: it takes what the others leave
    int least = 0;                            ///< cells that do where names need some of them; 0: `width`
    int from_width = 0;                       ///< lists show it where they are at least this wide
    int most = 0;                             ///< cells that it takes where there is plenty of room; 0: `width`
    query::Field field = query::Field::count; ///< what queries call it; count: nothing
    Tone tone = Tone::plain;                  ///< of cells that have none of their own

    bool is_shown() const noexcept { return !title.empty() && unit != Unit::rows && from_width < INT_MAX; }
};

/// Rows of one kind of thing, with what each column says of them. A table is computed from a history and a state (`update` of
/// each); it keeps what it looked up, and makes cells when they are asked for: of a long list only those on the screen.
class Table {
public:
    virtual ~Table() = default;

    const std::vector<Column>& columns() const noexcept { return columns_; }
    /// What its list is called in JSON.
    std::string_view key() const noexcept { return key_; }
    virtual int n_rows() const = 0;
    virtual Cell cell(int row, size_t column) const = 0;
    /// The tensor that a row is the line of; none: it stands for several, or for something else.
    virtual TensorId tensor(int /*row*/) const { return no_tensor; }
    /// The same; of a row that stands for several, the first of them.
    virtual TensorId first_tensor(int row) const { return tensor(row); }
    /// What queries call such a row: "split"; empty: what its tensor is.
    virtual std::string_view kind(int /*row*/) const { return {}; }
    /// Does the row say anything beside where it stands? Faces for people leave out those that don't, until they are asked for
    /// all.
    virtual bool is_told(int /*row*/) const { return true; }
    /// Does each?
    virtual bool tells_all() const { return true; }
    /// Why it has no rows.
    const std::string& when_empty() const noexcept { return when_empty_; }
    /// Has it no rows because what they would say is not known?
    bool empty_is_unknown() const noexcept { return empty_is_unknown_; }

    /// Adds to what is said of a row's tensor what its columns say. Cells that are not asked about are not made.
    void add_facts(int row, query::Facts& facts) const;

protected:
    explicit Table(std::string_view key) : key_(key) {}
    std::string_view key_;
    std::vector<Column> columns_;
    std::string when_empty_;
    bool empty_is_unknown_ = false;
};

/// A table of rows of one type, with an entry for each column. `Self` has `static std::span<const Entry> entries()`.
template <typename Self, typename Row> class TableOf : public Table {
public:
    /// A column, and what it says of a row.
    struct Entry {
        Column column;
        Cell (*cell)(const Self& table, const Row& row);
    };

    int n_rows() const override { return n_of(rows_); }
    Cell cell(int row, size_t column) const override {
        return Self::entries()[column].cell(static_cast<const Self&>(*this), rows_[row]);
    }
    const std::vector<Row>& rows() const noexcept { return rows_; }

protected:
    explicit TableOf(std::string_view key) : Table(key) {
        for (const Entry& entry : Self::entries()) {
            columns_.push_back(entry.column);
        }
    }
    std::vector<Row> rows_;
};

/// What people see of a table until they ask for all: the columns that say something. Those in which each row says only that
/// something is not known ("?") are `unknown`.
struct ToldColumns {
    std::vector<size_t> shown, unknown;
};
ToldColumns told_columns(const Table& table, bool all = false);
/// The same of a cell among others of its row, where no title says what it would be.
inline bool is_told(const Cell& cell, bool all = false) noexcept { return all || cell.kind != Cell::Kind::unknown; }

/// The column of that key.
size_t column_of(const Table& table, std::string_view key);

} // namespace schedscope::tables
