#include "traces/store/reading/row_reader.h"

#include "runtime/numbers.h"
#include "traces/format/schema.h"
#include "traces/store/reading/trace_rows.h"

namespace schedscope {

namespace {

template <typename T> void take_whole(const sqlite::Statement& row, Record& record) {
    record.evaluation = int_of(take(row, 1, 0, std::numeric_limits<EvaluationId>::max(), "evaluation"));
    record.time_ns = take_time_if_known(row, 2, "time_ns");
    T& fact = record.fact.emplace<T>();
    int column = 3;
    for_each_field<T>([&](const auto& f) { fact.*f.member = take_field(row, column++, f); });
}

template <typename T> void take_names(const sqlite::Statement& row, Record& record) {
    T& fact = record.fact.emplace<T>();
    int column = 1;
    for_each_field<T>([&](const auto& f) {
        if (schema::names_something(f)) {
            fact.*f.member = take_field(row, column++, f);
        }
    });
}

} // namespace

RowReader::RowReader(sqlite::Database& database)
    : database_(database), whole_(std::variant_size_v<Fact>), names_(std::variant_size_v<Fact>), splits_(database) {}

sqlite::Statement& RowReader::rows_of(size_t kind) {
    return sqlite::ready(whole_[kind], database_, [&] { return schema::select_records(kind); });
}

sqlite::Statement& RowReader::names_of(size_t kind) {
    return sqlite::ready(names_[kind], database_, [&] { return schema::select_names(kind); });
}

/// Fills in the record that place_of(step) gives for each row.
template <typename F> void RowReader::for_each(Step first, Step end, Wanted wanted, F&& place_of) {
    for_each_kind([&]<typename T>(size_t kind) {
        if ((wanted.kinds >> kind & 1) == 0 || stored_in_split_run<T>) {
            return;
        }
        sqlite::Statement& rows = wanted.names_only ? names_of(kind) : rows_of(kind);
        rows.bind(0, first);
        rows.bind(1, end);
        while (rows.step()) {
            const Step step = take(rows, 0, first, end - 1, "a record's step");
            try {
                Record& record = place_of(step);
                record.step = step;
                wanted.names_only ? take_names<T>(rows, record) : take_whole<T>(rows, record);
            } catch (const Damage& damage) {
                throw Damage("record " + std::to_string(step) + " (" + Kind<T>::table + "): " + damage.what());
            }
        }
        rows.reset();
    });
    if ((wanted.kinds & SplitRows::kinds) != 0) {
        splits_.for_each(first, end, wanted.kinds, [&](const Record& record) { place_of(record.step) = record; });
    }
}

size_t RowReader::read(Step first, Step end, Wanted wanted, std::span<Record> records, std::span<char> there) {
    size_t n = 0;
    for_each(first, end, wanted, [&](Step step) -> Record& {
        const size_t at = step - first;
        if (there[at] != 0) {
            throw Damage("it is there twice");
        }
        there[at] = 1;
        ++n;
        return records[at];
    });
    return n;
}

void RowReader::append(Step first, Step end, Wanted wanted, std::vector<Record>& records) {
    for_each(first, end, wanted, [&](Step) -> Record& { return records.emplace_back(); });
}

} // namespace schedscope
