#include "inspector/query/query.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace schedscope::query {
namespace {

constexpr std::array<std::string_view, n_fields> field_names{"name", "op",    "type", "backend", "from",   "cause",
                                                             "pass", "by",    "kind", "why",     "kernel", "bytes",
                                                             "time", "split", "eval", "step",    "node",   "error"};

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, "query: " + what); }

std::string quoted(std::string_view text) { return '\'' + visible_name(text) + '\''; }

std::optional<double> unit_factor(std::string_view unit, Field field) {
    struct UnitFactor {
        std::string_view name;
        double factor;
    };
    static constexpr std::array<UnitFactor, 11> bytes{{{"", 1},
                                                       {"b", 1},
                                                       {"k", 1024},
                                                       {"kib", 1024},
                                                       {"kb", 1024},
                                                       {"m", 0x1p20},
                                                       {"mib", 0x1p20},
                                                       {"mb", 0x1p20},
                                                       {"g", 0x1p30},
                                                       {"gib", 0x1p30},
                                                       {"gb", 0x1p30}}};
    static constexpr std::array<UnitFactor, 5> times{{{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
    const std::string name = lower(unit);
    const auto look_up = [&](const auto& units) -> std::optional<double> {
        for (const UnitFactor& u : units) {
            if (u.name == name) {
                return u.factor;
            }
        }
        return std::nullopt;
    };
    if (field == Field::bytes) {
        return look_up(bytes);
    }
    if (field == Field::time) {
        return look_up(times);
    }
    return name.empty() ? std::optional<double>(1) : std::nullopt;
}

double parse_number(std::string_view text, Field field) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    const size_t used = end - copy.c_str();
    const auto factor = unit_factor(text.substr(used), field);
    if (used == 0 || !std::isfinite(value)) {
        refuse(std::string(field_name(field)) + " is a number, not " + quoted(text));
    }
    if (!factor) {
        refuse(quoted(text) + " has an unknown unit: " +
               (field == Field::bytes  ? "K, M or G"
                : field == Field::time ? "ns, us, ms or s"
                                       : "a plain number is expected"));
    }
    return value * *factor;
}

/// A word, up to the next space outside quotes, the quotes taken off.
struct QueryWord {
    std::string text;
    size_t sign = std::string::npos; ///< place of the first relation sign outside quotes
    std::vector<size_t> bars;        ///< places of the bars outside quotes

    /// What stands between the bars from a place on, in lower case.
    std::vector<std::string> alternatives(size_t from) const {
        std::vector<std::string> out;
        const auto add = [&](size_t end) {
            if (end == from) {
                refuse("nothing stands beside a bar in " + quoted(text));
            }
            out.push_back(lower(std::string_view(text).substr(from, end - from)));
            from = end + 1;
        };
        for (const size_t bar : bars) {
            if (bar >= from) {
                add(bar);
            }
        }
        add(text.size());
        return out;
    }
};

QueryWord next_word(std::string_view text, size_t& at) {
    QueryWord word;
    bool quote = false;
    for (; at < text.size() && (quote || text[at] != ' '); ++at) {
        if (text[at] == '"') {
            quote = !quote;
            continue;
        }
        const bool relation = std::string_view("=~<>").find(text[at]) != std::string_view::npos ||
                              (text[at] == '!' && at + 1 < text.size() && (text[at + 1] == '=' || text[at + 1] == '~'));
        if (!quote && relation && word.sign == std::string::npos) {
            word.sign = word.text.size();
        }
        if (!quote && text[at] == '|') {
            word.bars.push_back(word.text.size());
        }
        word.text += text[at];
    }
    if (quote) {
        refuse("a quote is not closed in " + quoted(text));
    }
    return word;
}

} // namespace

std::string_view field_name(Field field) noexcept { return field_names[ordinal(field)]; }

Query Query::parse(std::string_view text) {
    Query query;
    query.text_ = text;
    for (size_t at = 0; at < text.size();) {
        if (text[at] == ' ') {
            ++at;
            continue;
        }
        const QueryWord lexed = next_word(text, at);
        const auto& [word, sign, bars] = lexed;
        if (word.empty()) {
            continue;
        }
        if (sign == std::string::npos) {
            query.terms_.push_back({Field::name, Relation::contains, lexed.alternatives(0), 0});
            continue;
        }
        const std::string name = lower(std::string_view(word).substr(0, sign));
        const auto found = std::find(field_names.begin(), field_names.end(), name);
        if (found == field_names.end()) {
            refuse((name.empty() ? "nothing stands before the sign in " + quoted(word) : quoted(name) + " is no field") +
                   "; there are " + joined(field_names, " "));
        }
        Term term;
        term.field = static_cast<Field>(found - field_names.begin());
        static constexpr std::array<std::pair<std::string_view, Relation>, 8> relations{{{"!=", Relation::unequal},
                                                                                         {"!~", Relation::lacks},
                                                                                         {"<=", Relation::at_most},
                                                                                         {">=", Relation::at_least},
                                                                                         {"=", Relation::equal},
                                                                                         {"~", Relation::contains},
                                                                                         {"<", Relation::less},
                                                                                         {">", Relation::more}}};
        const std::string_view rest = std::string_view(word).substr(sign);
        const auto relation =
            std::find_if(relations.begin(), relations.end(), [&](const auto& r) { return rest.starts_with(r.first); });
        const std::string_view value = rest.substr(relation->first.size());
        term.relation = relation->second;
        if (value.empty()) {
            refuse("nothing stands after " + quoted(word));
        }
        const bool of_text = term.relation == Relation::contains || term.relation == Relation::lacks;
        const bool of_number = term.relation >= Relation::less;
        if (is_text(term.field) && of_number) {
            refuse(std::string(field_name(term.field)) + " is a text: use = != ~ or !~ in " + quoted(word));
        }
        if (!is_text(term.field) && of_text) {
            refuse(std::string(field_name(term.field)) + " is a number: use = != < <= > or >= in " + quoted(word));
        }
        if (is_text(term.field)) {
            term.texts = lexed.alternatives(word.size() - value.size());
        } else {
            term.number = parse_number(value, term.field);
        }
        query.terms_.push_back(std::move(term));
    }
    return query;
}

Facts::Facts(const Query& query) noexcept : Facts() {
    wanted_ = 0;
    for (size_t f = 0; f < n_fields; ++f) {
        wanted_ |= query.asks(static_cast<Field>(f)) ? bit(static_cast<Field>(f)) : 0;
    }
}

bool Query::asks(Field field) const noexcept {
    return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) { return term.field == field; });
}

bool Query::matches(const Facts& facts) const {
    return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return holds(term, facts); });
}

std::vector<Query::Sought> Query::sought() const {
    std::vector<Sought> all;
    for (const Term& term : terms_) {
        if (term.relation == Relation::equal || term.relation == Relation::contains) {
            for (const std::string& text : term.texts) {
                all.push_back({text, term.relation == Relation::equal});
            }
        }
    }
    return all;
}

bool Query::holds(const Term& term, const Facts& facts) {
    if (!is_text(term.field)) {
        const double value = facts.number(term.field);
        if (std::isnan(value)) {
            return false;
        }
        switch (term.relation) {
        case Relation::equal: return value == term.number;
        case Relation::unequal: return value != term.number;
        case Relation::less: return value < term.number;
        case Relation::at_most: return value <= term.number;
        case Relation::more: return value > term.number;
        default: return value >= term.number;
        }
    }
    const std::string_view text = facts.text(term.field);
    if (text.empty()) {
        return false;
    }
    const auto any = [&](auto&& test) { return std::any_of(term.texts.begin(), term.texts.end(), test); };
    const auto equal = [&](const std::string& wanted) {
        return same_ignoring_case(text, wanted) || (term.field == Field::pass && wanted == "2" && text.starts_with('2'));
    };
    switch (term.relation) {
    case Relation::equal: return any(equal);
    case Relation::unequal: return !any(equal);
    case Relation::contains: return any([&](const std::string& wanted) { return has_ignoring_case(text, wanted); });
    default: return !any([&](const std::string& wanted) { return has_ignoring_case(text, wanted); });
    }
}

} // namespace schedscope::query
