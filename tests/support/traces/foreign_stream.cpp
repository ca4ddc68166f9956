#include "tests/support/traces/foreign_stream.h"

#include "tests/corpus/run_case.h"
#include "tests/support/traces/corpus_run.h"

namespace schedscope::test {

namespace {

/// "7" is a tensor, "c7.1.0" a copy.
void read_reference(const std::string& text, RealPlan::Place& place) {
    if (text.front() != 'c') {
        place.tensor = std::stoi(text);
        return;
    }
    size_t end = 0;
    place.copy.of = std::stoi(text.substr(1), &end);
    const std::string rest = text.substr(end + 2);
    place.copy.backend = static_cast<BackendId>(std::stoi(rest, &end));
    place.copy.stage = std::stoi(rest.substr(end + 1));
}

RealPlan::Printed printed(TensorId tensor, const std::string& cause) {
    for (int i = 1; i <= static_cast<int>(Cause::copy); ++i) {
        for (int source = -1; source < max_sources; ++source) {
            if (cause_name(static_cast<Cause>(i), source) == cause) {
                const bool counts = static_cast<Cause>(i) == Cause::weight;
                return {tensor, static_cast<Cause>(i), static_cast<int8_t>(counts ? source : -1)};
            }
        }
    }
    return {tensor, Cause::none, -1};
}

} // namespace

RealPlan real_plan_of(const corpus::Case& c, const corpus::Outcome& expected) {
    RealPlan real;
    for (size_t id = 0; id < expected.assign.size(); ++id) {
        const char digit = expected.assign[id];
        const int backend = digit == '.' ? -1 : digit <= '9' ? digit - '0' : digit - 'a' + 10;
        real.assigned.push_back({static_cast<TensorId>(id), static_cast<BackendId>(backend)});
    }
    for (const corpus::Row::Split& split : expected.splits) {
        real.splits.push_back({static_cast<BackendId>(split.backend), split.first, split.end, split.inputs});
    }
    for (const corpus::Row::Rewired& r : expected.rewired) {
        real.sources.push_back({r.node, r.source, {r.original, static_cast<BackendId>(r.backend), r.copy}});
    }
    for (size_t id = 0; id < expected.causes.size(); ++id) {
        if (!expected.causes[id].empty()) {
            real.causes.push_back(printed(static_cast<TensorId>(id), expected.causes[id]));
        }
    }
    if (expected.allocation) {
        for (const corpus::Row::Placed& placed : expected.allocation->tensors) {
            RealPlan::Place place;
            read_reference(placed.tensor, place);
            place.buffer_type = c.backends[static_cast<size_t>(placed.backend)].buffer_type;
            place.chunk = placed.chunk;
            place.offset = placed.offset;
            place.size = placed.bytes;
            real.places.push_back(place);
        }
    }
    return real;
}

std::shared_ptr<LiveStore> streamed_case(const corpus::Case& c, const std::function<void(int, RealPlan&)>& change) {
    ForeignStream stream;
    const SessionInfo info = session_of(c);
    stream.recorder().session(info);
    int next_stage = 0;
    for (size_t i = 0; i < c.rounds.size() && c.error_round < 0; ++i) {
        const corpus::Round& round = c.rounds[i];
        const OwnedGraph& graph = round.graph ? *round.graph : c.graph;
        next_stage = round.synchronise_before ? 0 : next_stage;
        CapabilityTable table;
        fill_table(table, info, corpus::MockCapabilities(c, graph.view()), static_cast<int32_t>(graph.tensors.size()));
        ForeignStream::Options options;
        options.n_stages = c.n_stages;
        options.current_stage = c.allocates ? next_stage : round.current_stage;
        options.op_offload = c.op_offload;
        RealPlan real = real_plan_of(c, round.expected);
        if (change) {
            change(static_cast<int>(i), real);
        }
        stream.plan(graph.view(), table, real, options);
        next_stage = (next_stage + 1) % c.n_stages;
    }
    return stream.imported();
}

} // namespace schedscope::test
