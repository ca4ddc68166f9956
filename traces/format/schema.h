#pragma once

#include "runtime/planner/records.h"
#include "traces/format/fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The trace file's tables; SCHEMA.md explains them. A change of a table's columns or of their meaning is a new minor version
/// when old readers can go on (they ignore columns and tables that they don't know; a record kind is added so only where it
/// stands in traces of a new sort alone), else a new major version.
namespace schedscope::schema {

constexpr int32_t application_id = 0x73736370; ///< "sscp"
constexpr int major_version = 4;
constexpr int minor_version = 7;
constexpr int user_version = major_version * 1000 + minor_version;

struct Entity {
    std::string name;
    std::string sql;     ///< as sqlite_schema keeps it
    int since_minor = 0; ///< the minor version that it came with
    struct Column {
        std::string name, sql; ///< as in `sql`
        int since_minor = 0;
    };
    std::vector<Column> later = {}; ///< columns that came later than the table: its last ones

    /// As a file of that minor version has it.
    std::string sql_of(int64_t minor) const;
};

const std::vector<Entity>& tables();
const std::vector<Entity>& views();

/// "SELECT step, evaluation, time_ns, … FROM assign WHERE step >= ? AND step < ?". `kind`: index in Fact. Empty for those that
/// are stored_in_split_run.
std::string select_records(size_t kind);
/// Does a field name or count tensors, nodes or graphs? `select_names` reads step and these.
template <typename F> constexpr bool names_something(const F& field) noexcept {
    const bool names = field.meaning == Meaning::tensor || field.meaning == Meaning::node_index ||
                       field.meaning == Meaning::graph || field.meaning == Meaning::count;
    return names && sizeof(typename F::Value) <= 4;
}
std::string select_names(size_t kind);
/// Their table's columns, and those of the lists of kernels that it names.
inline constexpr const char* split_run_columns =
    "step, evaluation, time_ns, split, backend, complete, device_time, kernels, first, count, start_ns, end_ns, times";
inline constexpr const char* kernel_columns = "list, position, first, last, count, kernel, bytes, flops";
/// "SELECT n_layers, … FROM settings": the columns of for_each_setting.
std::string select_settings();
/// The table of a record kind.
std::string_view table_of(size_t kind);

/// The numbers of enumerations in words, for the table `word`: ("pass", 2, "2a").
struct Word {
    std::string_view kind;
    int64_t number;
    std::string word;
};
std::vector<Word> words();
/// 0 for "". Nothing: there is no such word.
std::optional<int64_t> number_of(std::string_view kind, std::string_view word);

/// How a tensor's buffer usage is spelled.
std::string_view usage_name(BufferUsage usage) noexcept;
std::optional<BufferUsage> usage_from_name(std::string_view name) noexcept;

} // namespace schedscope::schema
