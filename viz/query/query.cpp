#include "viz/query/query.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/ops/op.h"
#include "runtime/system/nearest_words.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace schedscope::query {
namespace {

/// Characters of the number that a text begins with: "-1.5e3"; 0: with none. Not "inf", "nan" or "0x10", which are words.
size_t number_length(std::string_view text) noexcept {
    const size_t sign = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
    if (std::string_view("0123456789.").find(text.substr(sign, 1)) == std::string_view::npos || text.size() == sign) {
        return 0;
    }
    double value = 0;
    const char* const begin = text.data();
    const auto [end, error] = std::from_chars(begin + sign, begin + text.size(), value);
    return error == std::errc::invalid_argument ? 0 : end - begin;
}

double parse_number(std::string_view text, Field field) {
    const FieldEntry& entry = entry_of(field);
    const size_t used = number_length(text);
    const double value = std::strtod(std::string(text.substr(0, used)).c_str(), nullptr);
    if (used == 0 || !std::isfinite(value)) {
        refuse("no_number", {entry.name, quoted(text)});
    }
    const std::string_view unit = text.substr(used);
    if (unit.empty()) {
        return value;
    }
    std::string known;
    for (const NumberUnit& u : units) {
        if (u.of == field) {
            if (same_ignoring_case(u.name, unit)) {
                return value * u.factor;
            }
            known.append(known.empty() ? "" : " ").append(u.name);
        }
    }
    if (known.empty()) {
        refuse("no_units", {quoted(text), entry.name});
    }
    refuse("no_unit", {quoted(text), known});
}

/// Those that go with texts, or with numbers: "= != ~ !~".
std::string signs_of(bool texts) {
    std::string all;
    for (const Sign& sign : signs) {
        if (texts ? sign.of_texts : sign.of_numbers) {
            all.append(all.empty() ? "" : " ").append(sign.text);
        }
    }
    return all;
}

/// A word, up to the next space outside quotes, the quotes taken off.
struct QueryWord {
    std::string text;
    size_t sign = std::string::npos; ///< place of the first relation sign outside quotes
    std::vector<size_t> bars;        ///< places of the bars outside quotes

    /// What stands between the bars from a place on.
    std::vector<std::string> alternatives(size_t from) const {
        std::vector<std::string> out;
        const auto add = [&](size_t end) {
            if (end == from) {
                refuse("bar", {quoted(text)});
            }
            out.push_back(text.substr(from, end - from));
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
        refuse("quote", {quoted(text)});
    }
    return word;
}

} // namespace

std::string quoted(std::string_view typed) { return '\'' + visible_name(typed) + '\''; }

std::string told(std::string_view mistake, std::initializer_list<std::string_view> about) {
    std::string sentence;
    const std::string_view pattern =
        std::find_if(sentences.begin(), sentences.end(), [&](const Sentence& s) { return s.mistake == mistake; })->text;
    for (size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] == '{') {
            sentence += about.begin()[pattern[at + 1] - '0'];
            at += 2;
        } else {
            sentence += pattern[at];
        }
    }
    return sentence;
}

void refuse(std::string_view mistake, std::initializer_list<std::string_view> about) {
    throw Error(ErrorKind::usage, "query: " + told(mistake, about));
}

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
        Term term;
        term.field = field_named(name);
        if (term.field == Field::count) {
            std::vector<std::string_view> names;
            std::transform(fields.begin(), fields.end(), std::back_inserter(names), [](const FieldEntry& f) { return f.name; });
            const std::string meant = nearest_words(names, name);
            name.empty()    ? refuse("no_name", {quoted(word), field_names()})
            : meant.empty() ? refuse("no_field", {quoted(name), field_names()})
                            : refuse("meant", {quoted(name), "field", meant});
        }
        const std::string_view rest = std::string_view(word).substr(sign);
        const Sign& found = *std::find_if(signs.begin(), signs.end(), [&](const Sign& s) { return rest.starts_with(s.text); });
        const std::string_view value = rest.substr(found.text.size());
        term.relation = found.relation;
        if (value.empty()) {
            refuse("no_value", {quoted(word)});
        }
        const bool text = is_text(term.field);
        if (!(text ? found.of_texts : found.of_numbers)) {
            refuse(text ? "not_of_texts" : "not_of_numbers", {field_name(term.field), signs_of(text), quoted(word)});
        }
        if (text) {
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
        if (const auto field = static_cast<Field>(f); query.asks(field)) {
            const Field also = entry_of(field).also;
            wanted_ |= bit(field) | (also == Field::count ? 0 : bit(also));
        }
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
                all.push_back({lower(text), term.relation == Relation::equal});
            }
        }
    }
    return all;
}

std::string_view also_called(Field field, std::string_view value) noexcept {
    if (field != Field::op) {
        return {};
    }
    for (UnaryOp each{}; is_known(each); each = static_cast<UnaryOp>(ordinal(each) + 1)) {
        if (unary_name(each) == value) {
            return op_name(Op::UNARY);
        }
    }
    for (GluOp each{}; is_known(each); each = static_cast<GluOp>(ordinal(each) + 1)) {
        if (glu_name(each) == value) {
            return op_name(Op::GLU);
        }
    }
    return {};
}

bool Query::Term::fits(std::string_view value, std::string_view typed) const noexcept {
    return is_whole(relation) ? same_ignoring_case(value, typed) || same_ignoring_case(also_called(field, value), typed) ||
                                    (typed == entry_of(field).short_for && value.starts_with(typed))
                              : has_ignoring_case(value, typed);
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
    const Field also = entry_of(term.field).also;
    const std::array known{facts.text(term.field), also == Field::count ? std::string_view() : facts.text(also)};
    const auto fits = [&](std::string_view text) {
        return !text.empty() && std::any_of(term.texts.begin(), term.texts.end(),
                                            [&](const std::string& typed) { return term.fits(text, typed); });
    };
    const bool wanted = term.relation == Relation::equal || term.relation == Relation::contains;
    return std::any_of(known.begin(), known.end(), [](std::string_view text) { return !text.empty(); }) &&
           std::any_of(known.begin(), known.end(), fits) == wanted;
}

} // namespace schedscope::query
