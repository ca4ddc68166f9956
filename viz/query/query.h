#pragma once

#include "viz/query/language.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::query {

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

    void set_known(Field field, const std::optional<int64_t>& number) noexcept { set_known(field, number.value_or(-1)); }

    /// A text that is kept nowhere else.
    void keep(Field field, std::string text) { set(field, std::string_view(own_[ordinal(field)] = std::move(text))); }

    std::string_view text(Field field) const noexcept { return texts_[ordinal(field)]; }
    double number(Field field) const noexcept { return numbers_[ordinal(field) - n_text_fields]; }

private:
    static constexpr uint32_t bit(Field field) noexcept { return uint32_t{1} << ordinal(field); }
    static_assert(n_fields <= 32);

    uint32_t wanted_ = ~uint32_t{0};
    std::array<std::string_view, n_text_fields> texts_{};
    std::array<std::string, n_text_fields> own_;
    std::array<double, n_fields - n_text_fields> numbers_{};
};

/// The small language of searches, filters and breakpoints: terms with spaces between, all of which must hold.
///
///     word            the name contains it
///     op=MUL_MAT|ADD  equals, any of several       backend!=CPU   is known and differs
///     name~blk.3      contains                     cause!~1.      is known and doesn't contain
///     bytes>1MiB      numbers: < <= > >= = !=, with B KiB MiB GiB K M G (all of 1024s) or ns us ms s
///     name="a b"      quotes keep spaces and signs
///
/// Case doesn't matter. A thing that says nothing of a field doesn't match a term about it. A term about `by` is about the rule
/// as well; `pass=2` is all four sweeps. `node` is a position in the order that is shown, `id` a tensor's number in its graph.
/// Fields, signs, units and what is said of mistakes: language.h.
class Query {
public:
    Query() = default;
    /// Throws Error(usage) with what is wrong and what would be right.
    static Query parse(std::string_view text);

    bool empty() const noexcept { return terms_.empty(); }
    bool matches(const Facts& facts) const;
    /// Does it ask about this field?
    bool asks(Field field) const noexcept;
    /// Does it match only where the field equals one of some texts, to all of which `holds` applies?
    template <typename Holds> bool asks_only_for(Field field, const Holds& holds) const {
        return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
            return term.field == field && term.relation == Relation::equal &&
                   std::all_of(term.texts.begin(), term.texts.end(), holds);
        });
    }
    const std::string& text() const noexcept { return text_; } ///< as typed

    /// A text that a matching thing has somewhere, in lower case; whole: it is all of a field.
    struct Sought {
        std::string text;
        bool whole;
    };
    std::vector<Sought> sought() const;

    struct Term {
        Field field = Field::name;
        Relation relation = Relation::contains;
        std::vector<std::string> texts; ///< any of them
        double number = 0;
        /// Is a value this one of the texts, or does it contain it?
        bool fits(std::string_view value, std::string_view typed) const noexcept;
    };
    const std::vector<Term>& terms() const noexcept { return terms_; }

private:
    static bool holds(const Term& term, const Facts& facts);

    std::string text_;
    std::vector<Term> terms_;
};

/// What is wrong, in a sentence; `about` is what its {0}, {1} … stand for.
std::string told(std::string_view mistake, std::initializer_list<std::string_view> about);
/// Throws Error(usage): "query: 'opp' is no field; there are …".
[[noreturn]] void refuse(std::string_view mistake, std::initializer_list<std::string_view> about);
/// As it stands in such a sentence.
std::string quoted(std::string_view typed);

} // namespace schedscope::query
