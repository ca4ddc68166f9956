// JSON for scripts: one object, the list under the name of what was asked; unknown values are null.

#include "inspector/cli/show/show_json.h"

#include "inspector/cli/output/print_json.h"
#include "inspector/cli/show/show.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace schedscope::show {

namespace {

using nlohmann::json;

template <typename Rows, typename Make> json list(const char* name, const Rows& rows, Make make) {
    json out = json::array();
    for (const auto& row : rows) {
        out.push_back(make(row));
    }
    return {{name, std::move(out)}};
}

} // namespace

json backend_json(const History& history, BackendId id) {
    return id == no_backend ? json(nullptr) : json(history.backend_name(id));
}

json passes_json(History& history, const PlanState& state) {
    return list("passes", tables::passes(history, state.planned_in), [](const tables::PassRow& r) {
        return json{{"pass", pass_name(r.pass)},  {"title", pass_title(r.pass)}, {"assigned", r.assigned},
                    {"unassigned", r.unassigned}, {"changed", r.changed},        {"time_ns", or_null(r.time_ns)}};
    });
}

json assignments_json(History& history, const PlanState& state) {
    return list("assignments", tables::assignments(history, state), [&](const tables::AssignmentRow& r) {
        return json{{"id", r.id},
                    {"name", r.name},
                    {"op", r.logged && r.op == Op::NONE ? json(nullptr) : json(op_name(r.op))},
                    {"operation", r.logged && r.op == Op::NONE ? json(nullptr) : json(r.operation)},
                    {"type", r.logged ? json(nullptr) : json(type_name(r.type))},
                    {"ne", r.logged ? json(nullptr) : json(r.ne)},
                    {"backend", backend_json(history, r.backend)},
                    {"cause", or_null(r.cause)},
                    {"split", or_null(r.split)}};
    });
}

json splits_json(History& history, const PlanState& state) {
    return list("splits", tables::splits(history, state), [&](const tables::SplitRow& r) {
        json inputs = json::array();
        for (const tables::SplitInputRow& input : r.inputs) {
            inputs.push_back({{"id", input.id},
                              {"tensor", input.tensor},
                              {"from", backend_json(history, input.from)},
                              {"bytes", or_null(input.bytes)}});
        }
        return json{{"index", r.index},
                    {"backend", backend_json(history, r.backend)},
                    {"first_node", r.nodes_known ? json(r.first_node) : json(nullptr)},
                    {"last_node", r.nodes_known ? json(r.last_node) : json(nullptr)},
                    {"why", r.why ? json(split_reason_name(*r.why)) : json(nullptr)},
                    {"node", or_null(r.node_name)},
                    {"node_id", r.node == no_tensor ? json(nullptr) : json(r.node)},
                    {"by", or_null(r.by)},
                    {"inputs", std::move(inputs)},
                    {"time_ns", or_null(r.time_ns)}};
    });
}

json copies_json(History& history, const PlanState& state) {
    return list("copies", tables::copies(history, state), [&](const tables::CopyRow& r) {
        return json{{"id", r.id},
                    {"tensor", r.tensor},
                    {"from", backend_json(history, r.from)},
                    {"to", backend_json(history, r.to)},
                    {"stage", or_null(r.stage)},
                    {"split", or_null(r.split)},
                    {"bytes", or_null(r.bytes)},
                    {"moved_bytes", or_null(r.moved_bytes)},
                    {"time_ns", or_null(r.time_ns)},
                    {"experts", or_null(r.experts)},
                    {"experts_total", or_null(r.experts_total)}};
    });
}

json fusion_json(History& history, const PlanState& state) {
    const tables::FusionTable table = tables::fusion(history, state);
    json out = list("fusion", table.fusion, [&](const tables::FusionRow& r) {
        return json{{"backend", backend_json(history, r.backend)}, {"kernel", r.kernel}, {"split", r.split}, {"nodes", r.nodes}};
    });
    out.update(list("reorders", table.reorders, [](const tables::ReorderRow& r) {
        return json{{"split", r.split}, {"order", r.order}};
    }));
    out.update(list("not_fused", table.not_fused, [&](const tables::NotFusedRow& r) {
        return json{{"backend", backend_json(history, r.backend)}, {"nodes", r.nodes}, {"why", r.why}};
    }));
    return out;
}

json memory_json(History& history, const PlanState& state) {
    const tables::MemoryTable table = tables::memory(history, state);
    json out = list("memory", table.memory, [](const tables::MemoryRow& r) {
        json holders = json::array();
        for (const tables::MemoryRow::Holder& holder : r.holders) {
            holders.push_back({{"name", holder.name}, {"bytes", holder.bytes}});
        }
        return json{{"buffer_type", r.buffer_type},
                    {"size", r.size},
                    {"peak", r.use_known ? json(r.peak) : json(nullptr)},
                    {"replan", or_null(r.replan)},
                    {"most", r.use_known ? json(r.most_live) : json(nullptr)},
                    {"most_at", r.use_known ? json(r.most_at) : json(nullptr)},
                    {"holders", std::move(holders)}};
    });
    out.update(list("reserves", table.reserves, [](const tables::ReserveRow& r) {
        return json{{"n_tokens", r.n_tokens}, {"graph", r.graph}, {"error", or_null(r.error)}};
    }));
    out.update(list("tensors", table.tensors, [](const tables::PlacementRow& r) {
        return json{{"id", r.id},
                    {"name", r.name},
                    {"buffer_type", r.buffer_type},
                    {"chunk", r.chunk},
                    {"offset", r.offset},
                    {"size", r.size},
                    {"first_use", r.first_use},
                    {"last_use", r.last_use},
                    {"in_place_of", or_null(r.in_place_of)}};
    }));
    return out;
}

json kernels_json(History& history, const PlanState& state) {
    return list("kernels", tables::kernels(history, state), [&](const tables::KernelRow& r) {
        return json{{"node", r.node},
                    {"id", r.id},
                    {"split", r.split},
                    {"nodes", r.count},
                    {"backend", backend_json(history, r.backend)},
                    {"kernel", r.kernel},
                    {"start_ns", r.start_ns},
                    {"end_ns", r.end_ns},
                    {"bytes", r.bytes},
                    {"flops", r.flops},
                    {"device_time", r.device_time}};
    });
}

json tokens_json(History& history, const PlanState& /*state*/) {
    return list("tokens", tables::tokens(history), [&](const tables::TokenRow& r) {
        json chain = json::array();
        for (const tables::SamplerRow& s : r.chain) {
            chain.push_back({{"sampler", s.name},
                             {"backend", backend_json(history, s.backend)},
                             {"refused", s.refused},
                             {"why_not_in_graph", or_null(s.why_not_in_graph)},
                             {"nodes", s.n_nodes},
                             {"candidates", s.candidates}});
        }
        return json{{"eval", r.eval},
                    {"seq", r.seq},
                    {"id", r.id < 0 ? json(nullptr) : json(r.id)},
                    {"text", r.text},
                    {"samplers", r.samplers()},
                    {"chain", std::move(chain)},
                    {"candidates", r.candidates},
                    {"host_bytes", r.host_bytes}};
    });
}

json reuse_json(History& history, const PlanState& /*state*/) {
    return list("reuse", tables::reuse(history), [](const tables::ReuseRow& r) {
        return json{{"eval", r.eval},
                    {"kind", graph_kind_name(r.kind)},
                    {"reused", !r.failed && r.reused},
                    {"failed", or_null(r.failed)}};
    });
}

json values_json(History& history, const PlanState& state) {
    return list("values", tables::values(history, state), [&](const tables::ValueRow& r) {
        json first = json::array();
        for (const double value : r.first) {
            first.push_back(or_null(value));
        }
        return json{{"eval", r.eval},
                    {"tensor", r.tensor},
                    {"id", r.id},
                    {"device", or_null(r.device)},
                    {"elements", r.value.n_elements},
                    {"min", or_null(r.value.min)},
                    {"max", or_null(r.value.max)},
                    {"mean", or_null(r.value.mean)},
                    {"norm", or_null(r.value.norm)},
                    {"nan", r.value.n_nan},
                    {"inf", r.value.n_inf},
                    {"histogram", r.histogram},
                    {"first", std::move(first)}};
    });
}

json summary_json(History& history) {
    const tables::Summary s = tables::summary(history);
    const tables::DifferenceCount d = tables::count_differences(history.source(), s.steps);
    json facts = json::object();
    for (const auto& [name, value] : history.session().facts) {
        facts[name] = value;
    }
    json backends = json::array();
    for (const BackendInfo& b : history.session().backends) {
        backends.push_back({{"name", b.name},
                            {"device", b.device},
                            {"kind", b.kind == "unknown" ? json(nullptr) : json(b.kind)},
                            {"description", or_null(b.description)},
                            {"memory_bytes", b.memory_bytes > 0 ? json(b.memory_bytes) : json(nullptr)}});
    }
    json operators = json::array();
    for (const auto& o : s.operators) {
        operators.push_back({{"op", o.op ? json(op_name(*o.op)) : json(nullptr)},
                             {"backend", backend_json(history, o.backend)},
                             {"nodes", o.nodes}});
    }
    return {{"facts", facts},
            {"backends", backends},
            {"steps", s.steps},
            {"evaluations", s.evaluations},
            {"plans", s.plans},
            {"failed", s.failed},
            {"graphs", s.graphs},
            {"tokens", s.imported ? json(nullptr) : json(s.tokens)},
            {"time_ns", or_null(s.time_ns())},
            {"last_planned", s.planned < 0 ? json(nullptr) : json(s.planned)},
            {"nodes", or_null(s.nodes)},
            {"leafs", or_null(s.leafs)},
            {"splits", s.splits},
            {"copies", s.copies},
            {"copied_bytes", or_null(s.to_copy.known())},
            {"moved_bytes", or_null(s.moved_bytes)},
            {"compute_bytes", or_null(s.compute_bytes)},
            {"compared", d.compared},
            {"beyond", d.beyond},
            {"operators", operators}};
}

} // namespace schedscope::show
