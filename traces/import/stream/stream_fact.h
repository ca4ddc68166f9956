#pragma once

#include "runtime/planner/records.h"
#include "traces/import/stream/stream_layout.h"
#include "traces/import/stream/stream_real.h"

#include <functional>
#include <optional>
#include <string>

namespace schedscope::import {

/// A fact as a stream says it: graphs and evaluations have the program's own numbers.
struct StreamFact {
    Fact fact;
    std::optional<RealDecision> real; ///< it is no fact, but this
    std::optional<int64_t> time_ns;
    std::optional<int64_t> named; ///< the graph or the evaluation that it names, instead of its own field
    uint64_t place = 0;           ///< of its block
};

/// Where such a number of a plan is left out, it is counted.
constexpr int32_t to_be_counted = -2;

/// The kind of facts that has this name in lines of JSON: its index in Fact. Nothing: none has.
std::optional<size_t> fact_kind(std::string_view name);

/// A fact of that kind: its fields are those of fields.h, and the time. Throws Damage. `intern`: the number of a text.
StreamFact read_fact(size_t kind, const StreamFields& f, const std::function<StringId(std::string_view)>& intern,
                     UnknownWords& unknown);

} // namespace schedscope::import
