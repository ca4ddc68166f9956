#pragma once

#include "runtime/planner/records.h"
#include "traces/format/fields.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The trace file's tables; SCHEMA.md explains them. A change of a table's columns or of their meaning is a new minor version when old readers can go on (they ignore
/// columns and tables that they don't know; a record kind is added so only where it stands in traces of a new sort alone), else a new major version.
namespace schedscope::schema {

constexpr int32_t application_id = 0x73736370; ///< "sscp"
constexpr int major_version = 3;
/// 1: `sample` tells what a sampler added to the graph; 2: sizes and stages that a log does not tell are −1; 3: verifications
constexpr int minor_version = 3;
constexpr int user_version = major_version * 1000 + minor_version;

struct Entity {
    std::string name;
    std::string sql; ///< as sqlite_schema keeps it
};

/// As the given minor version has them.
const std::vector<Entity>& tables(int minor = minor_version);
/// Those of records that a minor version does not have yet, as ours.
std::vector<Entity> tables_lacking(int minor);
const std::vector<Entity>& views();

/// "INSERT INTO assign VALUES (?,…)": step, evaluation, time_ns, then the fields. `kind`: index in Fact.
std::string insert_record(size_t kind);
/// "SELECT step, evaluation, time_ns, … FROM assign WHERE step >= ? AND step < ?", from a file of the given minor version: constants for the
/// columns that it lacks.
std::string select_records(size_t kind, int minor = minor_version);
/// Does a field name or count tensors, nodes or graphs? `select_names` reads step and these.
template <typename F> constexpr bool names_something(const F& field) noexcept {
    const bool names = field.meaning == Meaning::tensor || field.meaning == Meaning::node_index ||
                       field.meaning == Meaning::graph || field.meaning == Meaning::count;
    return names && sizeof(typename F::Value) <= 4;
}
std::string select_names(size_t kind, int minor = minor_version);
/// The table of a record kind.
std::string_view table_of(size_t kind);

/// The numbers of enumerations in words, for the table `word`: ("pass", 2, "2a").
struct Word {
    std::string_view kind;
    int64_t number;
    std::string word;
};
std::vector<Word> words();

/// How a tensor's buffer usage is spelled.
std::string_view usage_name(BufferUsage usage) noexcept;

} // namespace schedscope::schema
