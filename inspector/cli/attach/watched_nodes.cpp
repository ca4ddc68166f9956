#include "inspector/cli/attach/watched_nodes.h"

#include "inspector/cli/run/watch_patterns.h"
#include "runtime/error.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace schedscope {

namespace {

using attach::WatchedField;
using attach::WatchedRelation;
using query::Field;
using query::Relation;

constexpr std::array fields{std::pair(Field::name, WatchedField::name),
                            std::pair(Field::op, WatchedField::op),
                            std::pair(Field::type, WatchedField::type),
                            std::pair(Field::kind, WatchedField::kind),
                            std::pair(Field::backend, WatchedField::backend),
                            std::pair(Field::bytes, WatchedField::bytes),
                            std::pair(Field::split, WatchedField::split),
                            std::pair(Field::node, WatchedField::node),
                            std::pair(Field::id, WatchedField::id)};

WatchedRelation relation_of(Relation relation) {
    switch (relation) {
    case Relation::equal: return WatchedRelation::equal;
    case Relation::unequal: return WatchedRelation::unequal;
    case Relation::contains: return WatchedRelation::contains;
    case Relation::lacks: return WatchedRelation::lacks;
    case Relation::less: return WatchedRelation::less;
    case Relation::at_most: return WatchedRelation::at_most;
    case Relation::more: return WatchedRelation::more;
    default: return WatchedRelation::at_least;
    }
}

[[noreturn]] void refuse(const std::string& pattern, const std::string& why) {
    throw Error(ErrorKind::usage, "--watch " + pattern + ": " + why);
}

WatchedField field_of(const std::string& pattern, Field field) {
    const auto known = std::find_if(fields.begin(), fields.end(), [&](const auto& pair) { return pair.first == field; });
    if (known == fields.end()) {
        refuse(pattern, "while another program runs, the '" + std::string(query::field_name(field)) + "' of a node is not known");
    }
    return known->second;
}

} // namespace

void watch_nodes(attach::Control& control, const std::vector<std::string>& patterns) {
    const WatchPatterns check(patterns); // what is wrong with one is said as for our own runs
    attach::Watch& watch = control.watch;
    if (patterns.size() > attach::most_watch_patterns) {
        refuse(patterns.back(), "there may be " + std::to_string(attach::most_watch_patterns) + " patterns");
    }
    size_t n_text = 0;
    uint32_t n_terms = 0;
    for (size_t i = 0; i < patterns.size(); ++i) {
        const query::Query query = query::Query::parse(patterns[i]);
        for (const query::Query::Term& term : query.terms()) {
            if (n_terms == attach::most_watch_terms || term.texts.size() > 255) {
                refuse(patterns[i], "there are more terms than another program can be told");
            }
            watch.terms[n_terms++] = {static_cast<uint8_t>(i),       field_of(patterns[i], term.field),
                                      relation_of(term.relation),    static_cast<uint8_t>(term.texts.size()),
                                      static_cast<uint32_t>(n_text), term.number};
            for (const std::string& text : term.texts) {
                if (n_text + text.size() + 2 > attach::watch_text_bytes) {
                    refuse(patterns[i], "the patterns are longer than another program can be told");
                }
                std::transform(text.begin(), text.end(), watch.texts + n_text,
                               [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
                n_text += text.size() + 1;
            }
        }
    }
    watch.n_terms = n_terms;
}

std::vector<std::string> unmatched_patterns(const attach::Control& control, const std::vector<std::string>& patterns) {
    std::vector<std::string> sentences;
    const uint32_t found = __atomic_load_n(&control.watch.found, __ATOMIC_RELAXED);
    for (size_t i = 0; i < patterns.size(); ++i) {
        if ((found >> i & 1U) == 0) {
            sentences.push_back("--watch " + patterns[i] + ": matches no node that was computed");
        }
    }
    return sentences;
}

} // namespace schedscope
