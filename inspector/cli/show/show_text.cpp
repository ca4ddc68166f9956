// The same tables for people.

#include "inspector/cli/show/show_text.h"

#include "inspector/cli/output/lines.h"
#include "inspector/cli/output/table.h"
#include "inspector/cli/show/show.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <cmath>
#include <iomanip>
#include <ostream>
#include <set>
#include <span>

namespace schedscope::show {

namespace {

constexpr auto right = Table::Align::right;

std::string number(int64_t n) { return std::to_string(n); }
template <typename T> std::string number_or_dash(const std::optional<T>& n) { return n ? std::to_string(*n) : "-"; }
std::string bytes_or_dash(const std::optional<int64_t>& bytes) { return bytes ? words::bytes(*bytes) : "-"; }
std::string time_or_dash(const std::optional<int64_t>& ns) { return ns ? words::duration(*ns) : "-"; }

/// Said where a table is empty because nothing tells what would stand there.
std::string if_logged(bool imported, const char* what, const char* otherwise) {
    return imported ? std::string(what) + " is unknown: this trace was imported from a log" : otherwise;
}

void print_or(const Table& table, std::string_view when_empty, std::ostream& out) {
    if (table.empty()) {
        out << when_empty << '\n';
    } else {
        table.print(out);
    }
}

} // namespace

void passes_text(History& history, const PlanState& state, std::ostream& out) {
    Table table({{"pass"}, {"what"}, {"assigned", right}, {"unassigned", right}, {"changed", right}, {"time", right}});
    for (const tables::PassRow& r : tables::passes(history, state.planned_in)) {
        table.row({std::string(pass_name(r.pass)), std::string(pass_title(r.pass)), number(r.assigned), number(r.unassigned),
                   number(r.changed), time_or_dash(r.time_ns)});
    }
    print_or(table, if_logged(is_imported(history, state), "what each pass did", "no passes were recorded"), out);
}

void assignments_text(History& history, const PlanState& state, std::ostream& out) {
    Table table({{"id", right}, {"op"}, {"name"}, {"type"}, {"shape"}, {"backend"}, {"by"}, {"split", right}});
    for (const tables::AssignmentRow& r : tables::assignments(history, state)) {
        table.row({number(r.id), r.logged ? r.operation : std::string(op_name(r.op)), r.name,
                   r.logged ? unknown_text : std::string(type_name(r.type)), r.logged ? unknown_text : shape_text(r.ne),
                   history.backend_name(r.backend), r.cause.empty() ? "-" : r.cause, number_or_dash(r.split)});
    }
    print_or(table, "nothing was assigned", out);
}

void splits_text(History& history, const PlanState& state, std::ostream& out) {
    const auto rows = tables::splits(history, state);
    if (rows.empty()) {
        out << "no splits were made\n";
    }
    for (const tables::SplitRow& r : rows) {
        OutputLine(out) << "split " << r.index << "  " << history.backend_name(r.backend) << "  nodes "
                        << (r.nodes_known ? number(r.first_node) + "–" + number(r.last_node) : std::string(unknown_text))
                        << "  starts" << (r.node == no_tensor ? "" : " with " + history.unique_name(state, r.node)) << ": "
                        << (r.why ? split_reason_name(*r.why) : std::string_view(unknown_text))
                        << (r.by.empty() ? "" : " (" + r.by + ")") << (r.time_ns ? "  " + words::duration(*r.time_ns) : "");
        for (const tables::SplitInputRow& input : r.inputs) {
            OutputLine(out) << "    copies in  " << input.tensor << "  " << bytes_or_dash(input.bytes) << "  from "
                            << history.backend_name(input.from);
        }
    }
}

void copies_text(History& history, const PlanState& state, std::ostream& out) {
    Table table({{"tensor"},
                 {"from"},
                 {"to"},
                 {"stage", right},
                 {"split", right},
                 {"size", right},
                 {"moved", right},
                 {"time", right},
                 {"experts"}});
    for (const tables::CopyRow& r : tables::copies(history, state)) {
        table.row({r.tensor, history.backend_name(r.from), history.backend_name(r.to), number_or_dash(r.stage),
                   number_or_dash(r.split), bytes_or_dash(r.bytes), bytes_or_dash(r.moved_bytes), time_or_dash(r.time_ns),
                   r.experts ? number(*r.experts) + " of " + number_or_dash(r.experts_total) : ""});
    }
    print_or(table, "no copies were made", out);
}

void fusion_text(History& history, const PlanState& state, std::ostream& out) {
    const tables::FusionTable fusion = tables::fusion(history, state);
    Table groups({{"split", right}, {"backend"}, {"kernel"}, {"nodes"}});
    for (const tables::FusionRow& r : fusion.fusion) {
        groups.row({number(r.split), history.backend_name(r.backend), r.kernel, joined(r.nodes, " + ")});
    }
    print_or(groups, if_logged(is_imported(history, state), "what was fused", "no nodes were fused"), out);
    for (const tables::ReorderRow& r : fusion.reorders) {
        out << "split " << r.split << " runs its nodes in the order";
        for (const int32_t node : r.order) {
            out << ' ' << node;
        }
        out << '\n';
    }
    for (const tables::NotFusedRow& r : fusion.not_fused) {
        OutputLine(out) << "not fused on " << history.backend_name(r.backend) << ": " << joined(r.nodes, " + ") << ": " << r.why;
    }
}

void memory_text(History& history, const PlanState& state, std::ostream& out) {
    const tables::MemoryTable memory = tables::memory(history, state);
    Table buffers({{"buffer"}, {"size", right}, {"used to", right}, {"needed at once", right}, {"places planned anew because"}});
    for (const tables::MemoryRow& r : memory.memory) {
        buffers.row({r.buffer_type, words::bytes(r.size), r.use_known ? words::bytes(r.peak) : "-",
                     r.use_known ? words::bytes(r.most_live) : "-", r.replan.value_or("")});
    }
    print_or(buffers, if_logged(is_imported(history, state), "what memory was planned", "no memory was planned"), out);
    constexpr size_t most_holders = 5;
    for (const tables::MemoryRow& r : memory.memory) {
        if (!r.holders.empty()) {
            const size_t n = std::min(r.holders.size(), most_holders), more = r.holders.size() - n;
            const auto text_of = [](const tables::MemoryRow::Holder& h) { return h.name + " " + words::bytes(h.bytes); };
            OutputLine(out) << r.buffer_type << ": most is needed at place " << r.most_at << ": "
                            << joined(std::span(r.holders).first(n), ", ", text_of)
                            << (more > 0 ? ", and " + std::to_string(more) + " more" : "");
        }
    }
    for (const tables::ReserveRow& r : memory.reserves) {
        OutputLine(out) << "reserved for " << r.n_tokens << (r.n_tokens == 1 ? " token" : " tokens")
                        << " at once with the cache full" << (r.error ? ", in vain: " + *r.error : "");
    }
    if (memory.tensors.empty()) {
        return;
    }
    out << '\n';
    Table tensors({{"tensor"}, {"buffer"}, {"chunk", right}, {"offset", right}, {"size", right}, {"used"}, {"in place of"}});
    for (const tables::PlacementRow& r : memory.tensors) {
        tensors.row({r.name, r.buffer_type, number(r.chunk), number(r.offset), number(r.size),
                     number(r.first_use) + "–" + number(r.last_use), r.in_place_of.value_or("")});
    }
    tensors.print(out);
}

void kernels_text(History& history, const PlanState& state, std::ostream& out) {
    Table table({{"split", right},
                 {"backend"},
                 {"node"},
                 {"kernel"},
                 {"nodes", right},
                 {"time", right},
                 {"bytes", right},
                 {"GFLOP/s", right},
                 {"clock"}});
    for (const tables::KernelRow& r : tables::kernels(history, state)) {
        const int64_t ns = r.end_ns - r.start_ns;
        std::string rate = "-";
        if (ns > 0 && r.flops > 0) {
            rate = std::to_string(to_double(r.flops) / to_double(ns));
            rate = rate.substr(0, rate.find('.') + 3);
        }
        table.row({number(r.split), history.backend_name(r.backend), r.node, r.kernel, number(r.count), words::duration(ns),
                   words::bytes(r.bytes), rate, r.device_time ? "device" : "host"});
    }
    print_or(table, if_logged(is_imported(history, state), "what was executed", "nothing was executed"), out);
}

namespace {

/// Below the tokens, once for each sampler of each sequence that has something to say of the graph: "+top_k  sequence 0  on Vulkan0, 4 nodes".
void print_places(const History& history, const std::vector<tables::TokenRow>& tokens, std::ostream& out) {
    Table table({{"sampler"}, {"seq", right}, {"nodes", right}, {"where, or why not in the graph"}});
    std::set<std::vector<std::string>> said;
    for (const tables::TokenRow& token : tokens) {
        for (const tables::SamplerRow& s : token.chain) {
            const bool in_graph = s.backend != no_backend;
            const std::vector<std::string> row{s.marked(), number(token.seq), in_graph ? number(s.n_nodes) : "-",
                                               in_graph ? "on " + history.backend_name(s.backend) : s.why_not_in_graph};
            if (!row.back().empty() && said.insert(row).second) {
                table.row(row);
            }
        }
    }
    if (!table.empty()) {
        out << '\n';
        table.print(out);
    }
}

} // namespace

void tokens_text(History& history, const PlanState& /*state*/, std::ostream& out) {
    const std::vector<tables::TokenRow> rows = tables::tokens(history);
    Table table(
        {{"eval", right}, {"seq", right}, {"id", right}, {"text"}, {"samplers"}, {"candidates", right}, {"to the host", right}});
    for (const tables::TokenRow& r : rows) {
        table.row({number(r.eval), number(r.seq), r.id < 0 ? "-" : number(r.id), '"' + r.text + '"', joined(r.samplers(), " "),
                   number(r.candidates), words::bytes(r.host_bytes)});
    }
    print_or(table, if_logged(is_imported(history), "which tokens were sampled", "no token was sampled"), out);
    print_places(history, rows, out);
}

void reuse_text(History& history, const PlanState& /*state*/, std::ostream& out) {
    Table table({{"eval", right}, {"graph"}, {"reused"}, {"because"}});
    for (const tables::ReuseRow& r : tables::reuse(history)) {
        table.row({number(r.eval), std::string(graph_kind_name(r.kind)), r.reused ? "yes" : "no",
                   r.reused                        ? ""
                   : r.failed                      ? "check failed: " + *r.failed
                   : r.kind == GraphKind::imported ? "-"
                                                   : "there was no graph before"});
    }
    print_or(table, "no evaluation was recorded", out);
}

void values_text(History& history, const PlanState& state, std::ostream& out) {
    const auto real = [](double value) { return std::isnan(value) ? std::string("-") : words::number(value); };
    Table table({{"eval", right},
                 {"tensor"},
                 {"id", right},
                 {"elements", right},
                 {"min", right},
                 {"max", right},
                 {"mean", right},
                 {"norm", right},
                 {"nan", right},
                 {"inf", right},
                 {"from min to max"},
                 {"first"}});
    for (const tables::ValueRow& r : tables::values(history, state)) {
        const std::string by = r.device.empty() ? "" : " by " + r.device;
        table.row({number(r.eval), r.tensor + by, number(r.id), number(r.value.n_elements), real(r.value.min), real(r.value.max),
                   real(r.value.mean), real(r.value.norm), number(r.value.n_nan), number(r.value.n_inf), words::bars(r.histogram),
                   joined(r.first, " ", words::number)});
    }
    print_or(table, "no values were recorded (record with --watch PATTERN)", out);
}

namespace {

/// "62 copies: 11 in each of 4 stages, 18 more of inputs of the graph"
std::string count_of_copies(const tables::Summary& s) {
    std::string text = words::counted(s.copies, "copy");
    if (s.stages > 1) {
        text += ": " + number((s.copies - s.input_copies) / s.stages) + " in each of " + number(s.stages) + " stages";
        text += s.input_copies > 0 ? ", " + number(s.input_copies) + " more of inputs of the graph" : "";
    }
    return text;
}

/// "18 copies (154 KiB of 307 KiB moved)"
std::string copies_of(const tables::Summary& s) {
    const std::string all = s.to_copy.complete    ? words::bytes(s.to_copy.bytes)
                            : s.to_copy.bytes > 0 ? "at least " + words::bytes(s.to_copy.bytes)
                                                  : "an unknown size";
    if (s.copies == 0) {
        return count_of_copies(s);
    }
    const std::string size = !s.moved_bytes                      ? all + " to move"
                             : *s.moved_bytes == s.to_copy.bytes ? all + " moved"
                                                                 : words::bytes(*s.moved_bytes) + " of " + all + " moved";
    return count_of_copies(s) + " (" + size + ')';
}

} // namespace

void summary_text(History& history, std::ostream& out) {
    const tables::Summary s = tables::summary(history);
    const SessionInfo& session = history.session();
    size_t width = 0;
    for (const auto& [name, value] : session.facts) {
        width = std::max(width, name.size());
    }
    for (const auto& [name, value] : session.facts) {
        OutputLine(out) << std::left << std::setw(int_of(width) + 2) << name << value;
    }
    for (const BackendInfo& b : session.backends) {
        OutputLine(out) << "backend  " << b.name << " (" << b.kind << ')' << (b.description.empty() ? "" : " " + b.description)
                        << (b.memory_bytes > 0 ? ", " + words::bytes(b.memory_bytes) : "");
    }
    out << '\n'
        << words::counted(s.evaluations, "evaluation") << ", " << s.plans << " planned"
        << (s.failed > 0 ? ", " + number(s.failed) + " failed" : "") << "; "
        << (s.imported ? "" : words::counted(s.tokens, "token") + "; ") << words::counted(s.steps, "record")
        << (s.time_ns() ? " over " + words::duration(*s.time_ns()) : "") << '\n';
    if (const tables::DifferenceCount d = tables::count_differences(history.source(), s.steps); d.compared + d.skipped > 0) {
        out << "verified: " << words::counted(d.compared, "node") << " compared, " << words::count(d.beyond)
            << " beyond tolerance, " << words::count(d.skipped) << " skipped (--what differences)\n";
    }
    if (s.planned < 0) {
        return;
    }
    out << "evaluation " << s.planned
        << ", the last one planned: " << (s.nodes ? words::counted(*s.nodes, "node") : std::string(unknown_text) + " nodes")
        << ", " << words::counted(s.splits, "split") << ", " << copies_of(s) << ", compute buffers "
        << bytes_or_dash(s.compute_bytes) << "\n\n";
    Table table({{"operator"}, {"backend"}, {"nodes", right}});
    for (const auto& o : s.operators) {
        table.row({o.op ? std::string(op_name(*o.op)) : unknown_text, history.backend_name(o.backend), number(o.nodes)});
    }
    if (!table.empty()) { // a log may have no nodes
        table.print(out);
    }
}

} // namespace schedscope::show
