#pragma once

#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// The query language as tables: C++ parses by them, and the report's page is given them as data, so that both understand the
/// same.
namespace schedscope::query {

/// What a query can ask about. Texts first, then numbers.
enum class Field : uint8_t {
    name,
    op,
    type,
    backend,
    from,
    cause,
    pass,
    by,
    kind,
    why,
    kernel, // texts
    bytes,
    time,
    split,
    evaluation,
    step,
    node,
    id,
    error, // numbers; time in ns; error: the normalised mean square error of a comparison
    count,
};
constexpr size_t n_text_fields = ordinal(Field::bytes);
constexpr size_t n_fields = ordinal(Field::count);
constexpr bool is_text(Field field) noexcept { return ordinal(field) < n_text_fields; }

struct FieldEntry {
    std::string_view name;           ///< as it is typed: "backend", "eval"
    std::string_view help;           ///< what it is, for people
    std::string_view noun = {};      ///< of fields that are one of a few words (known_words.h), what such a word is
    Field also = Field::count;       ///< its values count as this field's, too
    std::string_view short_for = {}; ///< what stands for all that begin with it: pass 2 is 2a, 2b, 2c and 2d
};
constexpr std::array<FieldEntry, n_fields> fields{{
    {"name", "a tensor's name"},
    {"op", "its operator", "operator"},
    {"type", "its type: f32, q4_0", "type"},
    {"backend", "the backend that it is on", "backend"},
    {"from", "the backend that it came from", "backend"},
    {"cause", "the rule that put it there", "rule"},
    {"pass", "the pass that decided; 2 for all of 2a to 2d", "pass", Field::count, "2"},
    {"by",
     "the rule, or the tensor that made it so",
     {},
     Field::cause}, // of lists, one shows the rule in a column of this name, another the tensor
    {"kind", "of a tensor: node leaf copy; of a record: assign split_begin execute ...", "kind"},
    {"why", "a reason: backend type weight beyond ..."},
    {"kernel", "the kernel that ran"},
    {"bytes", "its size"},
    {"time", "how long it took"},
    {"split", "the number of its split"},
    {"eval", "the number of its evaluation"},
    {"step", "the number of its record"},
    {"node", "its position in the order that is shown"},
    {"id", "its number in the graph"},
    {"error", "the error that a verification measured"},
}};
constexpr const FieldEntry& entry_of(Field field) noexcept { return fields[ordinal(field)]; }
constexpr std::string_view field_name(Field field) noexcept { return entry_of(field).name; }
/// In lower case; count: there is none of that name.
constexpr Field field_named(std::string_view name) noexcept {
    return static_cast<Field>(std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; }) -
                              fields.begin());
}
/// What else a value of a field is called: a gate or function also "GLU" or "UNARY", of which it is one; empty: nothing.
std::string_view also_called(Field field, std::string_view value) noexcept;
inline std::string field_names() { return joined(fields, " ", &FieldEntry::name); } ///< "name op type …"

/// Case doesn't matter. Other numbers have none.
struct NumberUnit {
    std::string_view name;
    Field of;
    double factor;
};
constexpr std::array<NumberUnit, 15> units{{{"B", Field::bytes, 1},
                                            {"KiB", Field::bytes, 0x1p10},
                                            {"MiB", Field::bytes, 0x1p20},
                                            {"GiB", Field::bytes, 0x1p30},
                                            {"K", Field::bytes, 0x1p10},
                                            {"M", Field::bytes, 0x1p20},
                                            {"G", Field::bytes, 0x1p30},
                                            {"KB", Field::bytes, 0x1p10},
                                            {"MB", Field::bytes, 0x1p20},
                                            {"GB", Field::bytes, 0x1p30},
                                            {"ns", Field::time, 1},
                                            {"us", Field::time, 1e3},
                                            {"\u00B5s", Field::time, 1e3},
                                            {"ms", Field::time, 1e6},
                                            {"s", Field::time, 1e9}}};

enum class Relation : uint8_t { equal, unequal, contains, lacks, less, at_most, more, at_least, count };
struct Sign {
    std::string_view text;
    Relation relation;
    bool of_texts, of_numbers;
};
/// A longer one before its own beginning.
constexpr std::array<Sign, ordinal(Relation::count)> signs{{{"!=", Relation::unequal, true, true},
                                                            {"!~", Relation::lacks, true, false},
                                                            {"<=", Relation::at_most, false, true},
                                                            {">=", Relation::at_least, false, true},
                                                            {"=", Relation::equal, true, true},
                                                            {"~", Relation::contains, true, false},
                                                            {"<", Relation::less, false, true},
                                                            {">", Relation::more, false, true}}};
constexpr bool is_whole(Relation relation) noexcept { return relation == Relation::equal || relation == Relation::unequal; }

/// What is said of a mistake; {0}, {1} … are what it is about.
struct Sentence {
    std::string_view mistake, text;
};
constexpr std::array<Sentence, 14> sentences{{
    {"quote", "a quote is not closed in {0}"},
    {"bar", "nothing stands beside a bar in {0}"},
    {"no_name", "nothing stands before the sign in {0}; there are {1}"},
    {"no_field", "{0} is no field; there are {1}"},
    {"no_value", "nothing stands after {0}"},
    {"not_of_texts", "{0} is a text: use {1} in {2}"},
    {"not_of_numbers", "{0} is a number: use {1} in {2}"},
    {"no_number", "{0} is a number, not {1}"},
    {"no_unit", "{0} has an unknown unit; there are {1}"},
    {"no_units", "{1} is a plain number, without a unit: not {0}"},
    {"no_word", "{0} is no {1}; there are {2}"},
    {"meant", "{0} is no {1}; did you mean {2}?"},
    {"no_part", "{0} is part of no {1}; there are {2}"},
    {"more", "{0} and {1} more"},
}};

} // namespace schedscope::query
