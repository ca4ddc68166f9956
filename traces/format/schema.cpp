#include "traces/format/schema.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"
#include "traces/format/settings_table.h"

#include <algorithm>

namespace schedscope::schema {

namespace {

/// "n_layers, n_gpu_layers, …": what `f` makes of each name and value.
template <typename F> std::string settings_columns(F&& f) {
    std::string sql;
    for_each_setting(PlanSettings{}, [&](const char* name, const auto& value, int64_t, int64_t) {
        sql += (sql.empty() ? "" : ", ") + f(name, value);
    });
    return sql;
}

/// Tables that are not made of records.
const std::vector<Entity> fixed_tables{
    {"about", "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID"},
    {"row_hash", "CREATE TABLE row_hash (table_name TEXT PRIMARY KEY, n_rows INTEGER NOT NULL, hash INTEGER NOT NULL) WITHOUT "
                 "ROWID"},
    {"meta", "CREATE TABLE meta (position INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL)"},
    {"knows", "CREATE TABLE knows (topic TEXT PRIMARY KEY, known INTEGER NOT NULL, closely TEXT) WITHOUT ROWID"},
    {"settings", "CREATE TABLE settings (" + settings_columns([]<typename T>(const std::string& name, const T&) {
                     return name + (is_word_setting<T> ? " TEXT" : " INTEGER") + (may_lack_setting<T> ? "" : " NOT NULL");
                 }) + ")"},
    {"device_share", "CREATE TABLE device_share (position INTEGER PRIMARY KEY, share REAL NOT NULL)"},
    {"tensor_override",
     "CREATE TABLE tensor_override (position INTEGER PRIMARY KEY, pattern TEXT NOT NULL, device TEXT NOT NULL)"},
    {"laid_out_type",
     "CREATE TABLE laid_out_type (position INTEGER PRIMARY KEY, type TEXT NOT NULL, rows INTEGER NOT NULL, longer_than INTEGER "
     "NOT "
     "NULL, is_copy INTEGER NOT NULL)",
     7},
    {"model_value",
     "CREATE TABLE model_value (model INTEGER NOT NULL, position INTEGER NOT NULL, idx INTEGER NOT NULL, key NOT NULL, "
     "type TEXT NOT NULL, value, PRIMARY KEY (model, position, idx)) WITHOUT ROWID"},
    {"model_tensor",
     "CREATE TABLE model_tensor (model INTEGER NOT NULL, position INTEGER NOT NULL, name NOT NULL, type TEXT NOT NULL, "
     "ne0 INTEGER NOT NULL, ne1 INTEGER NOT NULL, ne2 INTEGER NOT NULL, ne3 INTEGER NOT NULL, bytes INTEGER NOT "
     "NULL, PRIMARY KEY (model, position)) WITHOUT ROWID"},
    {"word", "CREATE TABLE word (kind TEXT NOT NULL, number INTEGER NOT NULL, word TEXT NOT NULL, PRIMARY KEY (kind, number)) "
             "WITHOUT ROWID"},
    {"backend",
     "CREATE TABLE backend (id INTEGER PRIMARY KEY, name TEXT NOT NULL, device TEXT NOT NULL, kind TEXT, "
     "description TEXT NOT "
     "NULL, memory_bytes INTEGER, default_buffer_type INTEGER, kernel_times TEXT, keeps_order INTEGER)",
     0,
     {{"keeps_order", ", keeps_order INTEGER", 6}}},
    {"buffer_type", "CREATE TABLE buffer_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_host INTEGER NOT NULL, alignment "
                    "INTEGER, "
                    "max_size INTEGER)"},
    {"backend_buffer_type",
     "CREATE TABLE backend_buffer_type (backend INTEGER NOT NULL, buffer_type INTEGER NOT NULL, PRIMARY KEY (backend, "
     "buffer_type)) WITHOUT ROWID"},
    {"text", "CREATE TABLE text (id INTEGER PRIMARY KEY, value NOT NULL)"},
    {"graph", "CREATE TABLE graph (id INTEGER PRIMARY KEY, n_tensors INTEGER NOT NULL, n_leafs INTEGER NOT NULL, n_nodes INTEGER "
              "NOT NULL)"},
    {"tensor",
     "CREATE TABLE tensor (graph INTEGER NOT NULL, id INTEGER NOT NULL, name NOT NULL, op TEXT, type TEXT, flags INTEGER, "
     "usage TEXT, buffer_type INTEGER, user_backend INTEGER, leaf INTEGER, node INTEGER, view_source INTEGER, view_offset "
     "INTEGER, ne0 INTEGER, ne1 INTEGER, ne2 INTEGER, ne3 INTEGER, nb0 INTEGER, nb1 INTEGER, nb2 INTEGER, nb3 INTEGER, params "
     "BLOB, role TEXT, layer INTEGER, PRIMARY KEY (graph, id)) "
     "WITHOUT ROWID"},
    {"edge", "CREATE TABLE edge (graph INTEGER NOT NULL, tensor INTEGER NOT NULL, slot INTEGER NOT NULL, source INTEGER NOT "
             "NULL, PRIMARY KEY (graph, "
             "tensor, slot)) WITHOUT ROWID"},
    {"answer", "CREATE TABLE answer (id INTEGER PRIMARY KEY, yes INTEGER NOT NULL, reason INTEGER NOT NULL, detail NOT NULL)"},
    {"capability", "CREATE TABLE capability (graph INTEGER NOT NULL, backend INTEGER NOT NULL, answers BLOB NOT NULL, offload "
                   "BLOB NOT NULL, PRIMARY "
                   "KEY (graph, backend)) WITHOUT ROWID"},
    {"evaluation", "CREATE TABLE evaluation (id INTEGER PRIMARY KEY, first_step INTEGER NOT NULL)"},
    {"kernel", "CREATE TABLE kernel (list INTEGER NOT NULL, position INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT "
               "NULL, count INTEGER NOT NULL, kernel INTEGER NOT NULL, bytes INTEGER NOT NULL, flops INTEGER NOT NULL, PRIMARY "
               "KEY (list, position)) WITHOUT ROWID"},
    {"split_run",
     "CREATE TABLE split_run (step INTEGER PRIMARY KEY, evaluation INTEGER NOT NULL, time_ns INTEGER, split INTEGER NOT "
     "NULL, backend INTEGER NOT NULL, complete INTEGER NOT NULL, device_time INTEGER NOT NULL, kernels INTEGER, first INTEGER "
     "NOT NULL, count INTEGER NOT NULL, start_ns INTEGER, end_ns INTEGER, times TEXT)"},
};

/// ", pass INTEGER NOT NULL, …", or without `types` the names alone.
template <typename F> std::string column(const F& field, bool types) {
    std::string sql = std::string(", ") + field.name;
    if (types) { // NaN is kept as NULL
        sql += std::is_floating_point_v<typename F::Value> ? " REAL" : F::may_be_unknown ? " INTEGER" : " INTEGER NOT NULL";
    }
    return sql;
}

template <typename T> std::string columns(bool types) {
    std::string sql;
    for_each_field<T>([&](const auto& f) { sql += column(f, types); });
    return sql;
}

struct RecordTable {
    const char* name;
    std::string create, select, select_names;
    int since = 0;
    std::vector<Entity::Column> later;
};

/// Those that name something, in the fields' order.
template <typename T> std::string naming_columns() {
    std::string sql;
    for_each_field<T>([&](const auto& f) { sql += names_something(f) ? ", " + std::string(f.name) : ""; });
    return sql;
}

template <typename T> RecordTable record_table() {
    const std::string name = Kind<T>::table;
    RecordTable t;
    t.name = Kind<T>::table;
    t.since = since_minor<T>;
    if (stored_in_split_run<T>) {
        return t;
    }
    t.create = "CREATE TABLE " + name + " (step INTEGER PRIMARY KEY, evaluation INTEGER NOT NULL, time_ns INTEGER" +
               columns<T>(true) + ")";
    const std::string range = " FROM " + name + " WHERE step >= ? AND step < ?";
    t.select = "SELECT step, evaluation, time_ns" + columns<T>(false) + range;
    t.select_names = "SELECT step" + naming_columns<T>() + range;
    for_each_field<T>([&](const auto& f) {
        if (f.since > 0) {
            t.later.push_back({f.name, column(f, true), f.since});
        }
    });
    return t;
}

const std::vector<RecordTable>& record_tables() {
    static const std::vector<RecordTable> all = [] {
        std::vector<RecordTable> list;
        for_each_kind([&]<typename T>(size_t) { list.push_back(record_table<T>()); });
        return list;
    }();
    return all;
}

template <typename E, typename Name> void add_words(std::vector<Word>& list, Name&& name) {
    for (int64_t i = 0; i <= ordinal(greatest<E>()); ++i) {
        list.push_back({word_kind<E>(), i, std::string(name(static_cast<E>(i)))});
    }
}

} // namespace

std::string Entity::sql_of(int64_t minor) const {
    std::string older = sql;
    for (const Column& column : later) {
        if (minor < column.since_minor) {
            older.erase(older.find(column.sql), column.sql.size());
        }
    }
    return older;
}

const std::vector<Entity>& tables() {
    static const std::vector<Entity> all = [] {
        std::vector<Entity> list = fixed_tables;
        for (const RecordTable& t : record_tables()) {
            if (!t.create.empty()) {
                list.push_back({t.name, t.create, t.since, t.later});
            }
        }
        return list;
    }();
    return all;
}

std::string select_records(size_t kind) { return record_tables()[kind].select; }
std::string select_names(size_t kind) { return record_tables()[kind].select_names; }
std::string select_settings() {
    return "SELECT " + settings_columns([](const std::string& name, const auto&) { return name; }) + " FROM settings";
}
std::string_view table_of(size_t kind) { return record_tables()[kind].name; }

std::vector<Word> words() {
    std::vector<Word> list;
    add_words<Pass>(list, pass_name);
    add_words<Cause>(list, [](Cause c) { return c == Cause::weight ? std::string("1.wgt") : cause_name(c, -1); });
    add_words<SplitReason>(list, split_reason_name);
    add_words<GraphKind>(list, graph_kind_name);
    add_words<Question>(list, question_name);
    add_words<Refusal>(list, refusal_name);
    return list;
}

std::optional<int64_t> number_of(std::string_view kind, std::string_view word) {
    static const std::vector<Word> all = words();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Word& w) { return w.kind == kind && w.word == word; });
    return word.empty() ? std::optional<int64_t>(0) : found == all.end() ? std::nullopt : std::optional(found->number);
}

std::string_view usage_name(BufferUsage usage) noexcept {
    switch (usage) {
    case BufferUsage::any: return "any";
    case BufferUsage::weights: return "weights";
    case BufferUsage::compute: return "compute";
    }
    return "any";
}

std::optional<BufferUsage> usage_from_name(std::string_view name) noexcept {
    for (const BufferUsage usage : {BufferUsage::any, BufferUsage::weights, BufferUsage::compute}) {
        if (name == usage_name(usage)) {
            return usage;
        }
    }
    return std::nullopt;
}

} // namespace schedscope::schema
