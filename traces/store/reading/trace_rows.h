#pragma once

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"
#include "traces/format/fields.h"
#include "traces/format/settings_table.h"
#include "traces/store/sqlite.h"

#include <atomic>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace schedscope {

/// Something in a trace is not as a trace's writer makes it. `what()`: "record 12 (assign): its cause is 77".
class Damage : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A column as a number between two bounds, or NULL: what it means is not known.
inline std::optional<int64_t> take_if_known(const sqlite::Statement& row, int column, int64_t least, int64_t most,
                                            const char* what) {
    const std::optional<int64_t> value = row.as_integer(column);
    if (!value && !row.is_null(column)) { // the second look only where there is no number
        throw Damage(std::string(what) + " is not a number");
    }
    if (value && (*value < least || *value > most)) {
        throw Damage(std::string(what) + " is " + std::to_string(*value));
    }
    return value;
}

/// A column as a number between two bounds.
inline int64_t take(const sqlite::Statement& row, int column, int64_t least, int64_t most, const char* what) {
    const std::optional<int64_t> value = take_if_known(row, column, least, most, what);
    if (!value) {
        throw Damage(std::string(what) + " is not a number");
    }
    return *value;
}

inline std::string take_text(const sqlite::Statement& row, int column, const char* what) {
    const std::string_view text = row.bytes(column);
    if (text.empty() && !row.has_bytes(column)) {
        throw Damage(std::string(what) + " is not a text");
    }
    return std::string(text);
}

/// A column as the word that stands for a value: look_up(word), which is nothing where there is none.
template <typename LookUp> auto take_word(const sqlite::Statement& row, int column, const char* what, LookUp&& look_up) {
    const std::string word = take_text(row, column, what);
    const auto known = look_up(word);
    if (!known) {
        throw Damage(std::string(what) + " is '" + visible_name(word) + "'");
    }
    return *known;
}

/// What a reader keeps of a file's texts and blobs: together no more bytes than the file has, however many of them lead to the
/// same pages of it. Thread-safe.
class KeptBytes {
public:
    explicit KeptBytes(int64_t file_bytes) : left_(file_bytes) {}
    void add(size_t bytes) {
        if (left_.fetch_sub(bytes) < static_cast<int64_t>(bytes)) {
            throw Damage("what it holds is longer than the whole file");
        }
    }
    /// Is there room for so many more, which may not be kept in the end? Throws Damage if not.
    void check(size_t bytes) const {
        if (left_ < static_cast<int64_t>(bytes)) {
            throw Damage("what it holds is longer than the whole file");
        }
    }
    std::string text(const sqlite::Statement& row, int column, const char* what) {
        std::string text = take_text(row, column, what);
        add(text.size());
        return text;
    }

private:
    std::atomic<int64_t> left_;
};

/// As take_if_known, of a type that holds all between the bounds.
template <typename T>
std::optional<T> take_known(const sqlite::Statement& row, int column, int64_t least, int64_t most, const char* what) {
    const std::optional<int64_t> value = take_if_known(row, column, least, most, what);
    return value ? std::optional(static_cast<T>(*value)) : std::nullopt;
}
/// A time: differences can be computed.
inline std::optional<int64_t> take_time_if_known(const sqlite::Statement& row, int column, const char* what) {
    return take_if_known(row, column, -farthest_number, farthest_number, what);
}

/// What a whole number may be by its type and meaning. Wide ones stay so far from the ends of their type that differences and
/// sums of them can be computed.
template <typename F> constexpr std::pair<int64_t, int64_t> range_of(const F& field) noexcept {
    using Value = typename F::Value;
    constexpr bool wide = sizeof(Value) == 8;
    constexpr int64_t type_least = wide ? -farthest_number : std::numeric_limits<Value>::min();
    constexpr int64_t type_most = wide ? farthest_number : std::numeric_limits<Value>::max();
    constexpr int64_t most_counted = int64_t{1} << 50;
    const bool from_zero = field.meaning == Meaning::count || field.meaning == Meaning::node_index ||
                           field.meaning == Meaning::text || field.meaning == Meaning::graph ||
                           field.meaning == Meaning::evaluation;
    return {from_zero                         ? 0
            : field.meaning == Meaning::plain ? type_least
                                              : -1,
            wide && (field.meaning == Meaning::count || field.meaning == Meaning::index) ? most_counted : type_most};
}

/// A field's value as far as it can be judged alone: within its type, its enumeration, its sign. NULL: it is not known.
template <typename F>
std::optional<typename F::Value> take_field_if_known(const sqlite::Statement& row, int column, const F& field) {
    using Value = typename F::Value;
    if constexpr (std::is_floating_point_v<Value>) {
        return row.is_null(column) ? std::nullopt : std::optional(static_cast<Value>(row.real(column)));
    } else if constexpr (std::is_same_v<Value, bool>) {
        return take_known<bool>(row, column, 0, 1, field.name);
    } else if constexpr (std::is_enum_v<Value>) {
        return take_known<Value>(row, column, 0, ordinal(greatest<Value>()), field.name);
    } else {
        const auto [least, most] = range_of(field);
        return take_known<Value>(row, column, least, most, field.name);
    }
}

/// The same of a field of a record: its type says whether it may be unknown.
template <typename Record, typename T>
T take_field(const sqlite::Statement& row, int column, const RecordField<Record, T>& field) {
    using Value = typename RecordField<Record, T>::Value;
    const std::optional<Value> value = take_field_if_known(row, column, field);
    if constexpr (RecordField<Record, T>::may_be_unknown) {
        return value ? T(*value) : T(std::nullopt);
    } else if constexpr (std::is_floating_point_v<Value>) {
        return value.value_or(std::numeric_limits<Value>::quiet_NaN());
    } else {
        return value ? *value : throw Damage(std::string(field.name) + " is not a number");
    }
}

struct GraphSize {
    int64_t n_tensors = 0, n_leafs = 0, n_nodes = 0;
    bool answered = true; ///< backends' answers are there; a graph from a log has none
};

/// What a record's numbers may be at most, where that depends on the plan it speaks of.
struct Bounds {
    int64_t n_own = 0;     ///< tensors of the graph
    int64_t n_tensors = 0; ///< ids below: the graph's and its copies'
    int64_t n_nodes = 0, n_splits = 0;
    int64_t n_backends = 0, n_buffer_types = 0, n_graphs = 0, n_evaluations = 0;

    /// It speaks of a plan of this graph, with so many ids for tensors and copies.
    void of_plan(const GraphSize& graph, int64_t n_ids) noexcept;
};

/// Checks a record's fields against their bounds, and what they say together. is_text: is there such a text? Empty: only what
/// names tensors and places was read, and nothing else is checked. Throws Damage.
void check_record(const Record& record, const Bounds& bounds, const std::function<bool(StringId)>& is_text);

} // namespace schedscope
