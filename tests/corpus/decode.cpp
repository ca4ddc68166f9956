#include "tests/corpus/decode.h"

#include "tests/corpus/decode_graph.h"

#include <algorithm>
#include <charconv>

namespace schedscope::corpus {

namespace {

/// The counts that ids in a round's outcome are checked against.
struct Counts {
    size_t tensors = 0, nodes = 0, backends = 0, stages = 0;
};

std::string backend_map(const Json& value, const std::string& what, size_t length, const Counts& n) {
    const std::string& map = text(value, what);
    if (map.size() != length) {
        broken(what + ": " + std::to_string(map.size()) + " characters for " + std::to_string(length) + " tensors");
    }
    for (const char c : map) {
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (c != '.' && (digit < 0 || static_cast<size_t>(digit) >= n.backends)) {
            broken(what + ": '" + std::string(1, c) + "' is no backend");
        }
    }
    return map;
}

size_t number(std::string_view& rest, size_t count, const std::string& reference) {
    size_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || value >= count) {
        broken("reference '" + reference + "': unknown");
    }
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return value;
}

/// 7, "d7" or "c7.1.0".
std::string decode_reference(const Json& value, const Counts& n) {
    if (!value.is_string()) {
        return std::to_string(index(value, "reference", n.tensors));
    }
    const std::string& name = value.get_ref<const std::string&>();
    std::string_view rest = name;
    const auto skip = [&](std::string_view expected) {
        if (!rest.starts_with(expected)) {
            broken("reference '" + name + "': unknown");
        }
        rest.remove_prefix(expected.size());
    };
    if (rest.starts_with("d")) {
        skip("d");
        number(rest, n.tensors, name);
    } else {
        skip("c");
        number(rest, n.tensors, name);
        skip(".");
        number(rest, n.backends, name);
        skip(".");
        number(rest, n.stages, name);
    }
    if (!rest.empty()) {
        broken("reference '" + name + "': unknown");
    }
    return name;
}

std::vector<std::string> decode_references(const Json& value, const std::string& what, const Counts& n) {
    std::vector<std::string> out;
    for (const Json& reference : list(value, what)) {
        out.push_back(decode_reference(reference, n));
    }
    return out;
}

Row::Split decode_split(const Json& value, const Counts& n) {
    Row::Split split;
    split.backend = index(field(value, "backend"), "split backend", n.backends);
    split.first = index(field(value, "i_start"), "i_start", n.nodes + 1);
    split.end = index(field(value, "i_end"), "i_end", n.nodes + 1);
    for (const Json& input : list(field(value, "inputs"), "inputs")) {
        split.inputs.push_back(index(input, "inputs", n.tensors));
    }
    split.why = text(field(value, "why"), "why");
    return split;
}

Row::Rewired decode_rewired(const Json& value, const Counts& n) {
    list_of(value, "rewired", 5);
    return {index(value[0], "rewired node", n.tensors), index(value[1], "rewired source", max_sources),
            index(value[2], "rewired original", n.tensors), index(value[3], "rewired backend", n.backends),
            index(value[4], "rewired copy", n.stages)};
}

Row::Copies decode_copies(const Json& value, const Counts& n) {
    list_of(value, "copies", 3);
    Row::Copies copies{index(value[0], "copies of", n.tensors), index(value[1], "copies backend", n.backends), {}};
    for (const Json& name : list_of(value[2], "copies names", n.stages)) {
        copies.names.push_back(name.is_null() ? "" : text(name, "copies names"));
    }
    return copies;
}

PlannedPlaces decode_allocation(const Json& source, const Counts& n) {
    PlannedPlaces out;
    const Json& copy = field(source, "graph_copy");
    out.nodes = decode_references(field(copy, "nodes"), "graph_copy nodes", n);
    out.leafs = decode_references(field(copy, "leafs"), "graph_copy leafs", n);
    out.node_backends = backend_map(field(copy, "node_backends"), "node_backends", out.nodes.size(), n);
    out.leaf_backends = backend_map(field(copy, "leaf_backends"), "leaf_backends", out.leafs.size(), n);
    const Json& alloc = field(source, "alloc");
    out.reserve = text(field(alloc, "reserve"), "reserve");
    for (const Json& sizes : list_of(field(alloc, "buffers"), "buffers", n.backends)) {
        std::vector<int64_t>& chunks = out.buffers.emplace_back();
        for (const Json& size : list(sizes, "buffers")) {
            chunks.push_back(integer(size, "buffers", 0, INT64_MAX));
        }
    }
    for (const Json& t : list(field(alloc, "tensors"), "alloc tensors")) {
        list_of(t, "alloc tensors", 5);
        out.tensors.push_back({decode_reference(t[0], n), index(t[1], "alloc backend", n.backends),
                               static_cast<int>(integer(t[2], "alloc chunk", 0, INT16_MAX)),
                               integer(t[3], "alloc offset", 0, INT64_MAX), integer(t[4], "alloc nbytes", 0, INT64_MAX)});
    }
    return out;
}

void decode_passes(const Json& value, const Counts& n, Outcome& out) {
    if (!value.is_object()) {
        broken("passes: expected an object");
    }
    for (const auto& [pass, map] : value.items()) {
        out.passes[pass] = backend_map(map, "passes", n.tensors, n);
    }
}

void decode_causes(const Json& value, const Counts& n, Outcome& out) {
    for (const Json& cause : list_of(value, "cause", n.tensors)) {
        out.causes.push_back(text(cause, "cause"));
    }
}

Outcome decode_outcome(const Json& source, bool allocates, const Counts& n) {
    Outcome out;
    out.assign = backend_map(field(source, "assign"), "assign", n.tensors, n);
    for (const Json& split : list(field(source, "splits"), "splits")) {
        out.splits.push_back(decode_split(split, n));
    }
    for (const Json& row : list(field(source, "rewired"), "rewired")) {
        out.rewired.push_back(decode_rewired(row, n));
    }
    for (const Json& row : list(field(source, "copies"), "copies")) {
        out.copies.push_back(decode_copies(row, n));
    }
    for (const Json& id : list(field(source, "graph_inputs"), "graph_inputs")) {
        out.graph_inputs.push_back(index(id, "graph_inputs", n.tensors));
    }
    if (allocates) {
        out.allocation = decode_allocation(source, n);
    }
    return out;
}

Round decode_first_round(const Json& line, const Counts& n, Case& out) {
    const Json& expected = field(line, "expected");
    Round round;
    round.has_causes_and_passes = true;
    if (optional_field(expected, "error") == nullptr) {
        round.expected = decode_outcome(expected, out.allocates, n);
        decode_causes(field(expected, "cause"), n, round.expected);
    } else {
        round.expected.error = text(expected["error"], "error");
        round.expected.where = text(field(expected, "where"), "where");
        out.error_round = static_cast<int>(integer(field(expected, "round"), "round", 0, 1000));
    }
    decode_passes(field(expected, "passes"), n, round.expected);
    return round;
}

Round decode_later_round(const Json& value, const Case& out, Counts n) {
    Round round;
    if (const Json* graph = optional_field(value, "graph")) {
        round.graph = decode_graph(*graph, out.session.buffer_types.size(), out.backends.size());
        round.has_causes_and_passes = true;
        n.tensors = round.graph->tensors.size();
        n.nodes = round.graph->nodes.size();
    }
    round.current_stage = index(field(value, "cur_copy"), "cur_copy", n.stages);
    round.synchronise_before = boolean(field(value, "sync_before"), "sync_before");
    round.expected = decode_outcome(value, out.allocates, n);
    if (round.has_causes_and_passes) {
        decode_causes(field(value, "cause"), n, round.expected);
        decode_passes(field(value, "passes"), n, round.expected);
    }
    return round;
}

Case decode_line(const Json& line) {
    if (integer(field(line, "schema"), "schema", 0, INT32_MAX) != 1) {
        broken("schema: only 1 is known");
    }
    Case out;
    out.name = text(field(line, "case"), "case");
    decode_system(line, out);
    const Json& flags = field(line, "flags");
    out.op_offload = boolean(field(flags, "op_offload"), "op_offload");
    out.allocates = boolean(field(flags, "alloc"), "alloc");
    out.n_stages = static_cast<int>(integer(field(flags, "n_copies"), "n_copies", 1, 16));
    out.graph = decode_graph(line, out.session.buffer_types.size(), out.backends.size());

    const Counts n{out.graph.tensors.size(), out.graph.nodes.size(), out.backends.size(), static_cast<size_t>(out.n_stages)};
    Round first = decode_first_round(line, n, out);
    first.current_stage = index(field(flags, "cur_copy"), "cur_copy", n.stages);
    out.rounds.push_back(std::move(first));
    if (const Json* rounds = optional_field(line, "rounds")) {
        for (const Json& round : list(*rounds, "rounds")) {
            out.rounds.push_back(decode_later_round(round, out, n));
        }
    }
    return out;
}

} // namespace

Case decode_case(std::string_view line) {
    Json json;
    try {
        json = Json::parse(line);
    } catch (const Json::exception&) {
        broken("not JSON");
    }
    try {
        return decode_line(json);
    } catch (const Json::exception& error) {
        broken(std::string("unexpected JSON: ") + error.what());
    }
}

} // namespace schedscope::corpus
