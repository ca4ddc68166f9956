#include "traces/format/schema.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"

#include <algorithm>

namespace schedscope::schema {

namespace {

/// Tables that are not made of records.
const std::vector<Entity> fixed_tables{
    {"about", "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID"},
    {"meta", "CREATE TABLE meta (position INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL)"},
    {"word", "CREATE TABLE word (kind TEXT NOT NULL, number INTEGER NOT NULL, word TEXT NOT NULL, PRIMARY KEY (kind, number)) "
             "WITHOUT ROWID"},
    {"backend", "CREATE TABLE backend (id INTEGER PRIMARY KEY, name TEXT NOT NULL, device TEXT NOT NULL, kind TEXT NOT NULL, "
                "description TEXT NOT "
                "NULL, memory_bytes INTEGER NOT NULL, default_buffer_type INTEGER NOT NULL)"},
    {"buffer_type", "CREATE TABLE buffer_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_host INTEGER NOT NULL, alignment "
                    "INTEGER NOT NULL, "
                    "max_size INTEGER NOT NULL)"},
    {"backend_buffer_type",
     "CREATE TABLE backend_buffer_type (backend INTEGER NOT NULL, buffer_type INTEGER NOT NULL, PRIMARY KEY (backend, "
     "buffer_type)) WITHOUT ROWID"},
    {"text", "CREATE TABLE text (id INTEGER PRIMARY KEY, value NOT NULL)"},
    {"graph", "CREATE TABLE graph (id INTEGER PRIMARY KEY, n_tensors INTEGER NOT NULL, n_leafs INTEGER NOT NULL, n_nodes INTEGER "
              "NOT NULL)"},
    {"tensor",
     "CREATE TABLE tensor (graph INTEGER NOT NULL, id INTEGER NOT NULL, name NOT NULL, op TEXT NOT NULL, type TEXT NOT "
     "NULL, flags INTEGER NOT "
     "NULL, usage TEXT NOT NULL, buffer_type INTEGER NOT NULL, user_backend INTEGER NOT NULL, leaf INTEGER, node "
     "INTEGER, view_source INTEGER NOT "
     "NULL, view_offset INTEGER NOT NULL, ne0 INTEGER NOT NULL, ne1 INTEGER NOT NULL, ne2 INTEGER NOT NULL, ne3 "
     "INTEGER NOT NULL, nb0 INTEGER NOT "
     "NULL, nb1 INTEGER NOT NULL, nb2 INTEGER NOT NULL, nb3 INTEGER NOT NULL, params BLOB, home TEXT NOT NULL, layer INTEGER NOT "
     "NULL, PRIMARY KEY (graph, id)) "
     "WITHOUT ROWID"},
    {"edge", "CREATE TABLE edge (graph INTEGER NOT NULL, tensor INTEGER NOT NULL, slot INTEGER NOT NULL, source INTEGER NOT "
             "NULL, PRIMARY KEY (graph, "
             "tensor, slot)) WITHOUT ROWID"},
    {"answer", "CREATE TABLE answer (id INTEGER PRIMARY KEY, yes INTEGER NOT NULL, reason INTEGER NOT NULL, detail NOT NULL)"},
    {"capability", "CREATE TABLE capability (graph INTEGER NOT NULL, backend INTEGER NOT NULL, answers BLOB NOT NULL, offload "
                   "BLOB NOT NULL, PRIMARY "
                   "KEY (graph, backend)) WITHOUT ROWID"},
    {"evaluation", "CREATE TABLE evaluation (id INTEGER PRIMARY KEY, first_step INTEGER NOT NULL)"},
};

template <typename T> std::string columns(int minor, std::string_view after) {
    std::string sql;
    for_each_field<T>([&](const auto& f) {
        using Value = typename std::remove_cvref_t<decltype(f)>::Value;
        if (f.since_minor > minor) {
            return;
        }
        sql += ", ";
        sql += f.name;
        if (!after.empty()) {
            sql += std::is_floating_point_v<Value> ? " REAL" : after; // NaN is kept as NULL
        }
    });
    return sql;
}

struct RecordTable {
    const char* name;
    int since_minor;
    std::string create, insert, select, select_names;
};

/// The columns, and in the place of those that came later what they are taken to be.
template <typename T> std::string selected(int minor) {
    std::string sql = columns<T>(minor, "");
    for_each_field<T>([&](const auto& f) { sql += f.since_minor > minor ? ", " + std::to_string(f.before_it_was) : ""; });
    return sql;
}

/// Those that name something, in the fields' order.
template <typename T> std::string selected_names(int minor) {
    std::string sql;
    for_each_field<T>([&](const auto& f) {
        if (names_something(f)) {
            sql += ", " + (f.since_minor > minor ? std::to_string(f.before_it_was) : std::string(f.name));
        }
    });
    return sql;
}

template <typename T> RecordTable record_table(int minor) {
    const std::string name = Kind<T>::table;
    RecordTable t;
    t.name = Kind<T>::table;
    t.since_minor = Kind<T>::since_minor;
    t.create = "CREATE TABLE " + name + " (step INTEGER PRIMARY KEY, evaluation INTEGER NOT NULL, time_ns INTEGER NOT NULL" +
               columns<T>(minor, " INTEGER NOT NULL") + ")";
    t.insert = "INSERT INTO " + name + " VALUES (?, ?, ?";
    for (size_t i = 0; i < n_fields<T>; ++i) {
        t.insert += ", ?";
    }
    t.insert += ")";
    const std::string range = " FROM " + name + " WHERE step >= ? AND step < ?";
    t.select = "SELECT step, evaluation, time_ns" + selected<T>(minor) + range;
    t.select_names = "SELECT step" + selected_names<T>(minor) + range;
    return t;
}

/// Of the given minor version; a newer one's tables are read as ours.
template <typename T> const T& of_version(const std::vector<T>& all, int minor) {
    return all[std::clamp(minor, 0, minor_version)];
}

const std::vector<RecordTable>& record_tables(int minor) {
    static const std::vector<std::vector<RecordTable>> all = [] {
        std::vector<std::vector<RecordTable>> versions(minor_version + 1);
        for (int v = 0; v <= minor_version; ++v) {
            for_each_kind([&]<typename T>(size_t) { versions[v].push_back(record_table<T>(v)); });
        }
        return versions;
    }();
    return of_version(all, minor);
}

template <typename E, typename Name> void add_words(std::vector<Word>& list, std::string_view kind, Name&& name) {
    for (int64_t i = 0; i <= ordinal(greatest<E>()); ++i) {
        list.push_back({kind, i, std::string(name(static_cast<E>(i)))});
    }
}

} // namespace

const std::vector<Entity>& tables(int minor) {
    static const std::vector<std::vector<Entity>> all = [] {
        std::vector<std::vector<Entity>> versions(minor_version + 1, fixed_tables);
        for (int v = 0; v <= minor_version; ++v) {
            for (const RecordTable& t : record_tables(v)) {
                if (t.since_minor <= v) {
                    versions[v].push_back({t.name, t.create});
                }
            }
        }
        return versions;
    }();
    return of_version(all, minor);
}

std::vector<Entity> tables_lacking(int minor) {
    std::vector<Entity> lacking;
    for (const RecordTable& t : record_tables(minor_version)) {
        if (t.since_minor > minor) {
            lacking.push_back({t.name, t.create});
        }
    }
    return lacking;
}

std::string insert_record(size_t kind) { return record_tables(minor_version)[kind].insert; }
std::string select_records(size_t kind, int minor) { return record_tables(minor)[kind].select; }
std::string select_names(size_t kind, int minor) { return record_tables(minor)[kind].select_names; }
std::string_view table_of(size_t kind) { return record_tables(minor_version)[kind].name; }

std::vector<Word> words() {
    std::vector<Word> list;
    add_words<Pass>(list, "pass", pass_name);
    add_words<Cause>(list, "cause", [](Cause c) { return c == Cause::weight ? std::string("1.wgt") : cause_name(c, -1); });
    add_words<SplitReason>(list, "split_reason", split_reason_name);
    add_words<GraphKind>(list, "graph_kind", graph_kind_name);
    add_words<Question>(list, "question", question_name);
    add_words<Refusal>(list, "refusal", refusal_name);
    return list;
}

std::string_view usage_name(BufferUsage usage) noexcept {
    switch (usage) {
    case BufferUsage::any: return "any";
    case BufferUsage::weights: return "weights";
    case BufferUsage::compute: return "compute";
    }
    return "any";
}

} // namespace schedscope::schema
