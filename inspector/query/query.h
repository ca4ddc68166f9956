#pragma once

#include "runtime/numbers.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

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
    error, // numbers; time in ns; error: the normalised mean square error of a comparison
    count,
};
constexpr size_t n_text_fields = ordinal(Field::bytes);
constexpr size_t n_fields = ordinal(Field::count);

constexpr bool is_text(Field field) noexcept { return ordinal(field) < n_text_fields; }
/// As it is typed: "backend", "eval".
std::string_view field_name(Field field) noexcept;

class Query;

/// What a row or a record says of itself; an empty text or NaN: nothing. The texts belong to whoever filled it in.
class Facts {
public:
    /// Only what the query asks about will be looked at.
    explicit Facts(const Query& query) noexcept;
    /// Only one of them.
    explicit Facts(Field field) noexcept : Facts() { wanted_ = bit(field); }
    /// Will it be looked at? What costs something to find out needs not be set otherwise.
    bool wants(Field field) const noexcept { return (wanted_ & bit(field)) != 0; }

    void clear() noexcept {
        texts_.fill({});
        numbers_.fill(std::numeric_limits<double>::quiet_NaN());
    }
    Facts() noexcept { clear(); }

    void set(Field field, std::string_view text) noexcept { texts_[ordinal(field)] = text; }
    void set(Field field, double number) noexcept { numbers_[ordinal(field) - n_text_fields] = number; }
    void set(Field field, int64_t number) noexcept { set(field, to_double(number)); }
    void set(Field field, int32_t number) noexcept { set(field, to_double(number)); }
    /// Sizes, times and indices of records: below 0 it is unknown, and nothing is said.
    void set_known(Field field, int64_t number) noexcept {
        if (number >= 0) {
            set(field, number);
        }
    }

    std::string_view text(Field field) const noexcept { return texts_[ordinal(field)]; }
    double number(Field field) const noexcept { return numbers_[ordinal(field) - n_text_fields]; }

    /// Room for texts that are kept nowhere else.
    std::array<std::string, 4> kept;

private:
    static constexpr uint32_t bit(Field field) noexcept { return uint32_t{1} << ordinal(field); }
    static_assert(n_fields <= 32);

    uint32_t wanted_ = ~uint32_t{0};
    std::array<std::string_view, n_text_fields> texts_{};
    std::array<double, n_fields - n_text_fields> numbers_{};
};

/// The small language of searches, filters and breakpoints: terms with spaces between, all of which must hold.
///
///     word            the name contains it
///     op=MUL_MAT|ADD  equals, any of several       backend!=CPU   is known and differs
///     name~blk.3      contains                     cause!~1.      is known and doesn't contain
///     bytes>1M        numbers: < <= > >= = !=, with K M G (1024s) or ns us ms s
///     name="a b"      quotes keep spaces and signs
///
/// Case doesn't matter. `pass=2` is all four sweeps. A thing that says nothing of a field doesn't match a term about it.
class Query {
public:
    Query() = default;
    /// Throws Error(usage) with what is wrong and what would be right.
    static Query parse(std::string_view text);

    bool empty() const noexcept { return terms_.empty(); }
    bool matches(const Facts& facts) const;
    /// Does it ask about this field?
    bool asks(Field field) const noexcept;
    const std::string& text() const noexcept { return text_; } ///< as typed

    /// A text that a matching thing has somewhere, in lower case; whole: it is all of a field.
    struct Sought {
        std::string_view text;
        bool whole;
    };
    std::vector<Sought> sought() const; ///< the texts belong to the query

private:
    enum class Relation : uint8_t { equal, unequal, contains, lacks, less, at_most, more, at_least };
    struct Term {
        Field field = Field::name;
        Relation relation = Relation::contains;
        std::vector<std::string> texts; ///< lower case; any of them
        double number = 0;
    };
    static bool holds(const Term& term, const Facts& facts);

    std::string text_;
    std::vector<Term> terms_;
};

} // namespace schedscope::query
