#include "inspector/cli/run/watch_patterns.h"

#include "runtime/error.h"
#include "runtime/ops/params.h"
#include "viz/query/known_words.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

using query::Field;

/// What `facts_` says of a tensor.
constexpr std::array known{Field::name, Field::op,    Field::type,  Field::backend, Field::cause,
                           Field::kind, Field::bytes, Field::split, Field::node,    Field::id};

void check_fields(const query::Query& query) {
    for (size_t i = 0; i < query::n_fields; ++i) {
        const auto field = static_cast<Field>(i);
        if (query.asks(field) && std::find(known.begin(), known.end(), field) == known.end()) {
            std::string names;
            for (const Field f : known) {
                names += " " + std::string(field_name(f));
            }
            throw Error(ErrorKind::usage, "--watch " + query.text() + ": a tensor that did not run yet has no '" +
                                              std::string(field_name(field)) + "'; it has" + names);
        }
    }
}

/// What it returns; its error names the pattern.
template <typename F> auto checked(const std::string& pattern, F&& check) {
    try {
        return check();
    } catch (const Error& error) {
        throw Error(ErrorKind::usage, "--watch " + pattern + ": " + error.what());
    }
}

} // namespace

WatchPatterns::WatchPatterns(const std::vector<std::string>& patterns) {
    for (const std::string& text : patterns) {
        patterns_.push_back({checked(text, [&] { return query::Query::parse(text); }), false});
        const query::Query& query = patterns_.back().query;
        if (query.empty()) {
            throw Error(ErrorKind::usage, "--watch: the pattern is empty (name~ and a part of a name, op=SOFT_MAX, …)");
        }
        check_fields(query);
        checked(text, [&] { query::KnownWords().check(query); });
    }
}

void WatchPatterns::check_backends(std::span<const std::string_view> names) const {
    query::KnownWords words;
    for (const std::string_view name : names) {
        words.add_backend(name);
    }
    for (const WatchPattern& pattern : patterns_) {
        checked(pattern.query.text(), [&] { words.check(pattern.query); });
    }
}

bool WatchPatterns::wants(const WatchCandidate& candidate) {
    const Tensor& t = candidate.tensor;
    facts_.clear();
    facts_.set(Field::name, t.name);
    facts_.set(Field::op, op_description(t.op, t.params));
    facts_.set(Field::type, type_name(t.type));
    facts_.set(Field::backend, candidate.backend);
    facts_.set(Field::cause, candidate.cause);
    facts_.set(Field::kind, t.op == Op::NONE ? "leaf" : "node");
    facts_.set(Field::bytes, static_cast<int64_t>(n_bytes(t)));
    facts_.set_known(Field::split, candidate.split);
    facts_.set_known(Field::node, candidate.node);
    facts_.set(Field::id, t.id);
    bool wanted = false;
    for (WatchPattern& pattern : patterns_) {
        if (pattern.query.matches(facts_)) {
            pattern.found = wanted = true;
        }
    }
    return wanted;
}

void WatchPatterns::check_found() const {
    for (const WatchPattern& pattern : patterns_) {
        if (!pattern.found) {
            throw Error(ErrorKind::usage, "--watch " + pattern.query.text() +
                                              ": matches no tensor of the graph (names: schedscope show T --what assignments)");
        }
    }
}

} // namespace schedscope
