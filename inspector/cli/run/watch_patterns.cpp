#include "inspector/cli/run/watch_patterns.h"

#include "runtime/error.h"
#include "runtime/ops/params.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

using query::Field;

/// What `facts_` says of a tensor.
constexpr std::array known{Field::name, Field::op,    Field::type,  Field::backend, Field::cause,
                           Field::kind, Field::bytes, Field::split, Field::node};

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

} // namespace

WatchPatterns::WatchPatterns(const std::vector<std::string>& patterns) {
    for (const std::string& text : patterns) {
        try {
            patterns_.push_back({query::Query::parse(text), false});
        } catch (const Error& error) {
            throw Error(ErrorKind::usage, "--watch " + text + ": " + error.what());
        }
        if (patterns_.back().query.empty()) {
            throw Error(ErrorKind::usage, "--watch: the pattern is empty (name~ and a part of a name, op=SOFT_MAX, …)");
        }
        check_fields(patterns_.back().query);
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
    if (candidate.split >= 0) {
        facts_.set(Field::split, candidate.split);
    }
    facts_.set(Field::node, t.id);
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
