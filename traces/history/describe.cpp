#include "traces/history/describe.h"

#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/words/difference_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/verdict_words.h"
#include "traces/history/words/words.h"

namespace schedscope {

namespace {

class RecordSentence {
public:
    RecordSentence(History& history, const Record& record) : history(history), r(record) {}

    std::string operator()(const record::EvaluationBegin& f) const {
        std::string s = "evaluation " + std::to_string(r.evaluation) + " begins" +
                        (f.kind ? ": " + std::string(graph_kind_name(*f.kind)) : "");
        s += f.n_tokens ? (f.kind ? ", " : ": ") + words::counted(*f.n_tokens, "token") : "";
        s += f.n_sequences.value_or(1) != 1 ? " of " + words::counted(*f.n_sequences, "sequence") : ""; // one is what is usual
        s += f.n_outputs.value_or(1) != 1 ? ", " + words::counted(*f.n_outputs, "output") : "";
        if (f.reused) {
            s += "; runs the plan of evaluation " + std::to_string(f.planned_in) + " again";
        } else if (f.failed_check != 0) {
            s += "; planned again, failed check: " + text(f.failed_check);
        }
        return f.observed ? s + "; computed in pieces: it is stepped, watched or verified" : s;
    }
    std::string operator()(const record::EvaluationEnd& f) const {
        const std::string s = "evaluation " + std::to_string(r.evaluation);
        return f.failed ? s + " failed: " + text(f.error) : s + " ends";
    }
    std::string operator()(const record::UbatchToken& f) const {
        return (!f.token       ? std::string("a token that was left out")
                : *f.token < 0 ? std::string("an embedding")
                               : "token " + std::to_string(*f.token)) +
               " at position " + std::to_string(f.position) + " of sequence " + std::to_string(f.sequence) +
               (f.output ? ", its logits are wanted" : "");
    }
    std::string operator()(const record::PlanBegin& f) const {
        const bool staged = f.n_stages.value_or(1) > 1 && f.current_stage;
        return "a plan begins: graph " + std::to_string(f.graph) +
               (f.n_nodes ? " with " + words::counted(*f.n_nodes, "node") : ", of splits alone") +
               (f.n_leafs ? " and " + words::counted(*f.n_leafs, "leaf") : "") +
               (staged ? ", stage " + std::to_string(*f.current_stage) + " of " + std::to_string(*f.n_stages) : "") +
               (f.op_offload.value_or(true) ? "" : ", no offload of operators");
    }
    std::string operator()(const record::Alternative& f) const {
        return "with " + text(f.setting) + " it would have been graph " + std::to_string(f.graph);
    }
    std::string operator()(const record::Reserve& f) const {
        return "memory reserved for a " + words::reserved_for(f.n_tokens) + " at once" +
               (f.error == 0 ? "" : ", failed: " + text(f.error));
    }
    std::string operator()(const record::Pin& f) const {
        std::string s = tensor(f.tensor) + ": ";
        if (f.backend != no_backend) {
            s += "pinned to " + backend(f.backend) + ": ";
        } else if (f.buffer_type != no_buffer_type) {
            s += "lies in " + history.buffer_type_name(f.buffer_type) + ": ";
        }
        return s + text(f.why);
    }
    std::string operator()(const record::PlanBackend& f) const {
        return "scheduler " + std::to_string(f.scheduler) + " has " + backend(f.backend) + " at place " +
               std::to_string(f.place) +
               (f.buffer_type == no_buffer_type ? "" : ", which computes in " + history.buffer_type_name(f.buffer_type));
    }
    std::string operator()(const record::Kept& f) const {
        return tensor(f.tensor) + ": its memory is kept until " + tensor(f.node) + " is done";
    }
    std::string operator()(const record::Verdict& f) const { return words::verdict(f, text(f.rules), text(f.first)); }
    std::string operator()(const record::PlanEnd& f) const {
        return f.error != 0 ? "no plan: " + text(f.error)
                            : "planned: " + words::counted(f.n_splits, "split") + ", " + words::counted(f.n_copies, "copy");
    }
    std::string operator()(const record::PassBegin& f) const { return words::pass(f.pass) + " begins"; }
    std::string operator()(const record::PassEnd& f) const { return words::pass(f.pass) + " ends"; }
    std::string operator()(const record::BackendQuery& f) const {
        return tensor(f.tensor) + ": " + backend(f.backend) + " " +
               words::asked(f.question, f.question == Question::buffer_type ? history.buffer_type_name(f.buffer_type) : "", f.yes,
                            words::refusal(f.reason, text(f.detail)));
    }
    std::string operator()(const record::Assign& f) const {
        std::string s = tensor(f.tensor) + ": ";
        const std::string rule = f.cause ? cause_name(*f.cause, f.source) : "";
        if (f.after == no_backend) {
            s += "still unassigned, marked " + rule;
        } else {
            s += f.after ? backend(*f.after) : "a backend that is not known";
            s += f.cause ? " by " + rule : ", by a rule that is not known";
        }
        if (or_none(f.by) != no_tensor) {
            s += " (" + tensor(*f.by) + ")";
        }
        return or_none(f.before) != no_backend && f.before != f.after ? s + ", was " + backend(*f.before) : s;
    }
    std::string operator()(const record::SplitBegin& f) const {
        return split(f.index) +
               (f.backend ? " begins on " + backend(*f.backend) + (or_none(f.node) == no_tensor ? "" : " with " + tensor(*f.node))
                          : "") +
               ": " + words::split_begins(f, "", or_none(f.by) == no_tensor ? "a source" : tensor(*f.by));
    }
    std::string operator()(const record::SplitEnd& f) const {
        return split(f.index) + " ends" + (f.end_node ? " before node " + std::to_string(*f.end_node) : "") + ": " +
               words::counted(f.n_inputs, "input");
    }
    std::string operator()(const record::SplitInput& f) const {
        return tensor(f.tensor) + ": input of " + split(f.split) + (f.bytes ? ", " + size(f.tensor, f.bytes) : "") +
               (f.from ? (f.bytes ? " from " : ", from ") + backend(*f.from) : "") +
               (or_none(f.node) == no_tensor ? "" : ", first needed by " + tensor(*f.node));
    }
    std::string operator()(const record::CopyMade& f) const {
        return tensor(f.copy) + ": made to hold " + tensor(f.of) + " on " + backend(f.backend) + ", " + size(f.of, f.bytes) +
               (f.graph_input ? ", because an input is kept once per stage" : "");
    }
    std::string operator()(const record::Rewired& f) const {
        return tensor(f.node) + ": source " + std::to_string(f.source) + " is now " + tensor(f.copy) + " instead of " +
               tensor(f.original);
    }
    std::string operator()(const record::GraphInput& f) const {
        return tensor(f.tensor) + ": an input that is kept once per stage";
    }
    std::string operator()(const record::Reorder& f) const {
        return tensor(f.node) + ": moved from place " + std::to_string(f.from) + " to " + std::to_string(f.to) + " in " +
               split(f.split);
    }
    std::string operator()(const record::Fusion& f) const {
        return words::counted(f.count, "node") + " from place " + std::to_string(f.first) + " of " + split(f.split) +
               " run as one kernel, " + text(f.kernel) + " on " + backend(f.backend);
    }
    std::string operator()(const record::NotFused& f) const {
        return tensor(f.first) + " and " + tensor(f.second) + ": not fused on " + backend(f.backend) + ", " + text(f.why);
    }
    std::string operator()(const record::Reallocation& f) const { return "memory is planned again: " + text(f.reason); }
    std::string operator()(const record::BufferSize& f) const {
        return "compute buffer of " + history.buffer_type_name(f.buffer_type) +
               (f.chunk > 0 ? ", chunk " + std::to_string(f.chunk) : "") + ": " +
               words::bytes(accounts::compute_size(history, r.evaluation, f)) +
               (f.before.value_or(0) > 0 ? ", was " + words::bytes(*f.before) : "");
    }
    std::string operator()(const record::Placement& f) const {
        return tensor(f.tensor) + ": " + words::bytes(f.size) + " at " + std::to_string(f.offset) + " in " +
               history.buffer_type_name(f.buffer_type) + (f.chunk > 0 ? ", chunk " + std::to_string(f.chunk) : "") +
               (f.in_place_of == no_tensor ? "" : ", in place of " + tensor(f.in_place_of));
    }
    std::string operator()(const record::Execute& f) const {
        return (f.count > 1 ? tensor(f.first) + " … " + tensor(f.last) : tensor(f.last)) + ": ran on " + backend(f.backend) +
               " as " + text(f.kernel) + " in " + words::duration(f.end_ns - f.start_ns);
    }
    std::string operator()(const record::SplitRun& f) const {
        const size_t n = history.source().kernels(f.kernels).size();
        return split(f.split) + " ran on " + backend(f.backend) +
               (f.start_ns && f.end_ns ? " in " + words::duration(*f.end_ns - *f.start_ns) : ", not timed") +
               (n == 0 ? "" : ": " + words::counted(n, "kernel") + (f.start_ns ? ", each not timed" : ""));
    }
    std::string operator()(const record::Transfer& f) const {
        const std::optional<int64_t> took = accounts::moving_time(f);
        return tensor(f.tensor) + ": " + words::bytes(f.bytes) + " copied from " + backend(f.from) + " to " + backend(f.to) +
               " for " + split(f.split) +
               (f.experts >= 0 ? ", " + std::to_string(f.experts) + " of " + words::counted(f.experts_total, "expert") : "") +
               (f.async ? ", queued" : "") + (took ? " in " + words::duration(*took) : "");
    }
    std::string operator()(const record::Wait& f) const {
        return (f.n_shaders > 0           ? backend(f.backend) + ": " + words::counted(f.n_shaders, "shader") + " compiled"
                : f.held                  ? std::string("held by the inspector")
                : f.backend == no_backend ? std::string("waited for the trace to be written")
                                          : "waited for " + backend(f.backend)) +
               (f.split >= 0 ? " before " + split(f.split) : "") + ", " + words::duration(f.end_ns - f.start_ns);
    }
    std::string operator()(const record::Sample& f) const {
        return "sequence " + std::to_string(f.sequence) + ": sampler " + text(f.sampler) +
               (f.backend == no_backend
                    ? " on the host"
                    : " in the graph on " + backend(f.backend) + " with " + words::counted(f.n_nodes, "node")) +
               ", " + words::counted(f.candidates, "candidate") + " left" +
               (f.why_not_in_graph == 0 ? "" : "; not in the graph: " + text(f.why_not_in_graph));
    }
    std::string operator()(const record::NextToken& f) const {
        std::string s = "sequence " + std::to_string(f.sequence) + ": token ";
        s += f.token ? std::to_string(*f.token) : "left out";
        return s + " at position " + std::to_string(f.position) + (f.text.value_or(0) == 0 ? "" : ", \"" + text(*f.text) + "\"");
    }
    std::string operator()(const record::Value& f) const {
        return tensor(f.tensor) + ": " + (f.device == 0 ? "" : "computed once more by " + text(f.device) + ": ") +
               words::value(f);
    }
    std::string operator()(const record::Difference& f) const {
        const TensorInfo* info = history.tensor_at(r.step, f.tensor);
        return tensor(f.tensor) + ": " +
               words::difference(f, {text(f.device), backend(f.backend), text(f.why)},
                                 info == nullptr ? Shape{} : info->ne.value_or(Shape{}));
    }
    std::string operator()(const record::ValueElement& f) const {
        return tensor(f.tensor) + "[" + std::to_string(f.index) + "] = " + words::number(f.value);
    }
    std::string operator()(const record::ValueBucket& f) const {
        return tensor(f.tensor) + ": " + words::counted(f.count, "element") + " in part " + std::to_string(f.index) + " of " +
               std::to_string(record::n_value_buckets);
    }

private:
    std::string tensor(TensorId id) const { return id == no_tensor ? "-" : history.tensor_name_at(r.step, id); }
    std::string backend(BackendId id) const { return history.backend_name(id); }
    std::string text(StringId id) const { return std::string(history.source().text(id)); }
    std::string size(TensorId of, const std::optional<int64_t>& bytes) const {
        return words::bytes(accounts::recorded_size(history.session(), history.tensor_at(r.step, of), bytes));
    }
    static std::string split(int32_t index) { return "split " + std::to_string(index); }

    History& history;
    const Record& r;
};

} // namespace

std::string describe(History& history, const Record& record) { return std::visit(RecordSentence(history, record), record.fact); }

std::string describe_graph(const RecordSource& source, EvaluationId evaluation) {
    const EvaluationSpan span = source.evaluation(evaluation);
    int64_t n_nodes = 0, n_splits = 0;
    std::vector<Record> found;
    for (const FactSet kind : {fact_bit<record::PlanBegin>(), fact_bit<record::PlanEnd>()}) {
        if (const Step at = source.next_of(span.first - 1, kind); at != no_step && at < span.end) {
            source.read(at, at + 1, found);
        }
    }
    for (const Record& r : found) {
        if (const auto* begin = std::get_if<record::PlanBegin>(&r.fact)) {
            n_nodes = begin->n_nodes.value_or(0);
        } else if (const auto* end = std::get_if<record::PlanEnd>(&r.fact)) {
            n_splits = end->n_splits;
        }
    }
    return words::graph(span.begin, n_nodes, n_splits);
}

} // namespace schedscope
