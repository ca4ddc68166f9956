#include "viz/query/known_words.h"

#include "runtime/letter_case.h"
#include "runtime/ops/type.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "traces/format/fields.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::query {
namespace {

size_t n_equal_letters(std::string_view a, std::string_view b) noexcept {
    size_t n = 0;
    while (n < a.size() && n < b.size() && lower(a[n]) == lower(b[n])) {
        ++n;
    }
    return n;
}

/// What there is: "CPU Vulkan0".
std::string list_of(std::span<const std::string> words, std::string_view typed) {
    std::vector<std::string_view> listed(words.begin(), words.end());
    if (listed.size() <= KnownWords::most_listed) {
        return joined(listed, " ");
    }
    std::stable_sort(listed.begin(), listed.end(), [&](std::string_view a, std::string_view b) {
        return n_equal_letters(a, typed) > n_equal_letters(b, typed);
    });
    listed.resize(KnownWords::nearest_listed);
    return told("more", {joined(listed, " "), std::to_string(words.size() - listed.size())});
}

} // namespace

KnownWords::KnownWords() {
    const auto add_each = [this](Field field, auto from, auto end, auto&& name) {
        for (auto each = ordinal(from); each < ordinal(end); ++each) {
            add(field, name(static_cast<decltype(from)>(each)));
        }
    };
    for (const std::string_view name : operation_names()) {
        add(Field::op, name);
    }
    add(Field::op, "COPY");
    for (const std::string_view name : type_names()) {
        add(Field::type, name);
    }
    add_each(Field::type, GraphKind{}, static_cast<GraphKind>(ordinal(GraphKind::reserve) + 1), graph_kind_name);
    add_each(Field::pass, Pass::place, Pass::count, pass_name);
    for (auto cause = ordinal(Cause::user); cause <= ordinal(Cause::copy); ++cause) {
        const bool of_source = static_cast<Cause>(cause) == Cause::weight;
        for (int source = 0; source < (of_source ? max_sources : 1); ++source) {
            add(Field::cause, cause_name(static_cast<Cause>(cause), source));
        }
    }
    for (const char* word : {"node", "leaf", "copy", "split", "planned", "reused", "yes", "no"}) {
        add(Field::kind, word);
    }
    [&]<size_t... I>(std::index_sequence<I...>) { (add(Field::kind, fact_name(Fact(std::in_place_index<I>))), ...); }
    (std::make_index_sequence<std::variant_size_v<Fact>>());
}

KnownWords::KnownWords(const History& history) : KnownWords() {
    for (const BackendInfo& backend : history.session().backends) {
        add_backend(backend.name);
    }
    add_backend("-");
    for (const auto& [field, words] :
         {std::pair{Field::op, &history.session().own_operators}, {Field::type, &history.session().own_types}}) {
        for (const std::string& word : *words) {
            add(field, word);
        }
    }
    if (!history.knows(Topic::shapes)) {
        add(Field::op, unknown_text);
    }
    if (!history.knows(Topic::passes)) {
        add_backend(unknown_text);
    }
}

void KnownWords::add(Field field, std::string_view word) {
    std::vector<std::string>& words = words_[ordinal(field)];
    if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
        words.emplace_back(word);
    }
}

void KnownWords::accept(Field field, std::string_view word) { accepted_[ordinal(field)].emplace_back(word); }

void KnownWords::add_backend(std::string_view name) {
    add(Field::backend, name);
    add(Field::from, name);
}

void KnownWords::check(const Query& query) const {
    for (const Query::Term& term : query.terms()) {
        if (!is_text(term.field) || of(term.field).empty()) {
            continue;
        }
        for (const std::string& typed : term.texts) {
            const auto fits = [&](const std::string& word) { return term.fits(word, typed); };
            const std::vector<std::string>& accepted = accepted_[ordinal(term.field)];
            if (const auto words = of(term.field);
                std::none_of(words.begin(), words.end(), fits) && std::none_of(accepted.begin(), accepted.end(), fits)) {
                const std::string_view noun = entry_of(term.field).noun;
                const std::string meant = words.size() > seen_at_once
                                              ? nearest_words(std::vector<std::string_view>(words.begin(), words.end()), typed)
                                              : "";
                if (is_whole(term.relation) && !meant.empty()) {
                    refuse("meant", {quoted(typed), noun, meant});
                }
                refuse(is_whole(term.relation) ? "no_word" : "no_part", {quoted(typed), noun, list_of(words, typed)});
            }
        }
    }
}

std::optional<std::string> why_never_of_a_program(const Query& query) {
    const std::string_view kernel = fact_name(Fact(record::Execute{})), split = fact_name(Fact(record::SplitRun{}));
    const bool never =
        query.asks_only_for(Field::kind, [&](const std::string& kind) { return same_ignoring_case(kind, kernel); });
    return never ? std::optional("another program's kernels are not recorded one by one, only its splits: use kind=" +
                                 std::string(split))
                 : std::nullopt;
}

} // namespace schedscope::query
