#pragma once

#include "traces/store/reading/split_rows.h"
#include "traces/store/record_source.h"
#include "traces/store/sqlite.h"

#include <span>
#include <vector>

namespace schedscope {

/// Reads records through one connection to a trace, each number checked against what its field allows; what depends on other
/// records is the caller's to check. Throws Damage or sqlite::Failure.
class RowReader {
public:
    explicit RowReader(sqlite::Database& database); ///< which outlives this

    /// The wanted records of the steps [first, end): each goes to records[step − first], where there[step − first] is set.
    /// Returns their number.
    size_t read(Step first, Step end, Wanted wanted, std::span<Record> records, std::span<char> there);
    /// The same, appended kind by kind.
    void append(Step first, Step end, Wanted wanted, std::vector<Record>& records);
    /// Rows of one kind, every column of it; parameters: first step, end.
    sqlite::Statement& rows_of(size_t kind);
    SplitRows& splits() noexcept { return splits_; }

private:
    template <typename F> void for_each(Step first, Step end, Wanted wanted, F&& place_of);
    sqlite::Statement& names_of(size_t kind);

    sqlite::Database& database_;
    std::vector<sqlite::Statement> whole_, names_; ///< by record kind, made when first used
    SplitRows splits_;
};

} // namespace schedscope
