#include "traces/import/stream/stream_real.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"
#include "traces/format/schema.h"
#include "traces/replay/foreign/compare_real.h"
#include "traces/store/reading/trace_rows.h"

#include <limits>

namespace schedscope::import {

namespace {

constexpr int64_t most_ids = std::numeric_limits<int32_t>::max();
constexpr int64_t most_small = std::numeric_limits<int16_t>::max();

int32_t id(const StreamFields& f, std::string_view name, int64_t otherwise = -1) {
    return int_of(f.number(name, -1, most_ids).value_or(otherwise));
}
BackendId small(const StreamFields& f, std::string_view name) {
    return narrow<BackendId>(f.number(name, -1, most_small).value_or(-1));
}
RealCopy copy(const StreamFields& f) { return {id(f, "copy_of"), small(f, "backend"), id(f, "stage")}; }

RealPlan::Printed printed(const StreamFields& f, UnknownWords& unknown) {
    const auto number_of = [](std::string_view word) { return schema::number_of(word_kind<Cause>(), word); };
    const std::optional<int64_t> cause = f.named("cause", number_of, unknown);
    return {id(f, "tensor"), static_cast<Cause>(cause.value_or(0)),
            narrow<int8_t>(f.number("source", -1, max_sources - 1).value_or(-1))};
}

void require(bool holds, const char* kind, int64_t number) {
    if (!holds) {
        throw Damage(std::string(kind) + ": it names " + std::to_string(number) + ", which is not there");
    }
}

/// Adds a decision to a plan, checked.
struct Adding {
    const RealBounds& b;
    RealPlan& plan;

    void operator()(const RealPlan::Assigned& a) const {
        tensor("real_assign", a.tensor);
        backend("real_assign", a.backend, -1);
        plan.assigned.push_back(a);
    }
    void operator()(const RealSplit& s) const {
        require(s.index == std::ssize(plan.splits), "real_split", s.index);
        backend("real_split", s.split.backend, -1);
        require(0 <= s.split.first_node && s.split.first_node <= s.split.end_node && s.split.end_node <= b.n_nodes, "real_split",
                s.split.end_node);
        plan.splits.push_back(s.split);
    }
    void operator()(const RealInput& i) const {
        require(is_index(i.split, plan.splits), "real_input", i.split);
        tensor("real_input", i.tensor);
        plan.splits[i.split].inputs.push_back(i.tensor);
    }
    void operator()(const RealPlan::Source& s) const {
        tensor("real_source", s.node);
        require(0 <= s.slot && s.slot < max_sources, "real_source", s.slot);
        copied("real_source", s.copy);
        plan.sources.push_back(s);
    }
    void operator()(const RealOrder& o) const {
        tensor("real_order", o.node);
        require(0 <= o.place && o.place < b.n_nodes, "real_order", o.place);
        plan.order.resize(b.n_nodes, no_tensor);
        plan.order[o.place] = o.node;
    }
    void operator()(const RealPlan::Place& p) const {
        named("real_place", p.tensor, p.copy);
        require(0 <= p.buffer_type && p.buffer_type < b.n_buffer_types, "real_place", p.buffer_type);
        plan.places.push_back(p);
    }
    void operator()(const RealPlan::KeptAlive& k) const {
        tensor("real_keep", k.node);
        named("real_keep", k.tensor, k.copy);
        plan.kept.push_back(k);
    }
    void operator()(const RealPlan::Printed& p) const {
        tensor("real_cause", p.tensor);
        plan.causes.push_back(p);
    }
    void operator()(const RealBuffer& r) const {
        require(0 <= r.buffer_type && r.buffer_type < b.n_buffer_types, "real_buffer", r.buffer_type);
        plan.planned_memory = true;
    }
    void operator()(const RealMemory& m) const { plan.planned_memory = plan.planned_memory || m.planned; }

private:
    void tensor(const char* kind, TensorId id) const { require(0 <= id && id < b.n_tensors, kind, id); }
    void backend(const char* kind, BackendId id, BackendId least) const { require(least <= id && id < b.n_backends, kind, id); }
    void copied(const char* kind, const RealCopy& c) const {
        tensor(kind, c.of);
        backend(kind, c.backend, 0);
        require(c.stage < most_stages, kind, c.stage);
    }
    void named(const char* kind, TensorId id, const RealCopy& c) const {
        if (id == no_tensor) {
            copied(kind, c);
        } else {
            require(id < b.n_tensors + b.n_nodes * max_sources, kind, id); // of copies: name_copies
        }
    }
};

} // namespace

bool is_real_kind(std::string_view kind) noexcept { return kind.starts_with("real_"); }

std::optional<RealDecision> read_real(const StreamFields& f, UnknownWords& unknown) {
    const std::string& kind = f.kind();
    if (kind == "real_assign") {
        return RealPlan::Assigned{id(f, "tensor"), small(f, "backend")};
    }
    if (kind == "real_split") {
        return RealSplit{id(f, "index"), {small(f, "backend"), id(f, "first_node"), id(f, "end_node"), {}}};
    }
    if (kind == "real_input") {
        return RealInput{id(f, "split"), id(f, "tensor")};
    }
    if (kind == "real_source") {
        return RealPlan::Source{id(f, "node"), id(f, "source"), copy(f)};
    }
    if (kind == "real_order") {
        return RealOrder{id(f, "place"), id(f, "node")};
    }
    if (kind == "real_place") {
        return RealPlan::Place{id(f, "tensor"),
                               copy(f),
                               small(f, "buffer_type"),
                               int_of(f.number("chunk", 0, most_small).value_or(0)),
                               f.needed("offset", 0, most_tensor_bytes),
                               f.needed("size", -1, most_tensor_bytes)};
    }
    if (kind == "real_keep") {
        return RealPlan::KeptAlive{id(f, "node"), id(f, "tensor"), copy(f)};
    }
    if (kind == "real_cause") {
        return printed(f, unknown);
    }
    if (kind == "real_memory") {
        return RealMemory{f.number("planned", 0, 1).value_or(0) != 0};
    }
    if (kind == "real_buffer") {
        return RealBuffer{small(f, "buffer_type"), int_of(f.number("chunk", 0, most_small).value_or(0)),
                          f.needed("size", 0, most_tensor_bytes)};
    }
    return std::nullopt;
}

void name_copies(RealPlan& plan, int64_t n_tensors) {
    const std::vector<RealCopy> copies = copies_in_order(plan);
    const auto name = [&](const char* kind, auto& named) {
        if (named.tensor >= n_tensors) {
            require(is_index(named.tensor - n_tensors, copies), kind, named.tensor);
            named.copy = copies[named.tensor - n_tensors];
            named.tensor = no_tensor;
        }
    };
    for (RealPlan::Place& place : plan.places) {
        name("real_place", place);
    }
    for (RealPlan::KeptAlive& kept : plan.kept) {
        name("real_keep", kept);
    }
}

void add_real(const RealDecision& decision, const RealBounds& bounds, RealPlan& plan) {
    std::visit(Adding{bounds, plan}, decision);
}

} // namespace schedscope::import
