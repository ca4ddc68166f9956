#include "runtime/planner/planning.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/planner/placement/plan_settings.h"

#include <algorithm>

namespace schedscope {

namespace {

int checked_backends(const Capabilities& capabilities) {
    const int n = capabilities.n_backends();
    if (n < 1 || n > INT16_MAX) {
        throw Error(ErrorKind::usage, "scheduler: " + std::to_string(n) + " backends, at least one is needed");
    }
    return n;
}

} // namespace

Planning::Planning(const GraphView& graph, const Capabilities& capabilities, const PlanOptions& options, Carry& carry, Plan& plan,
                   Recorder* recorder)
    : graph(graph), capabilities(capabilities), options(options), carry(carry), scratch(carry.scratch), plan(plan),
      recorder(recorder), n_backends(checked_backends(capabilities)), last(narrow<BackendId>(n_backends - 1)) {
    const size_t n_tensors = graph.tensors.size();
    plan.n_tensors = int_of(n_tensors);
    plan.n_stages = options.n_stages;
    plan.current_stage = options.current_stage;
    plan.rules = options.rules;
    plan.reserve = options.reserve;
    plan.n_backends = n_backends;
    plan.assignments.assign(n_tensors, {});
    plan.splits.clear();
    plan.split_inputs.clear();
    plan.copies.clear();
    plan.rewires.clear();
    plan.graph_inputs.clear();
    plan.copy_index.assign(n_tensors * n_backends, -1);
    describe_tensors();
    describe_backends();
}

void Planning::describe_tensors() {
    const size_t n_tensors = graph.tensors.size();
    scratch.home.resize(n_tensors);
    plan.source_masks.resize(n_tensors);
    plan.bytes.resize(n_tensors);
    plan.flags.resize(n_tensors);
    for (size_t i = 0; i < n_tensors; ++i) {
        const TensorInfo& t = graph.tensors[i];
        scratch.home[i] = t.is_view() ? tensor(t.view_source).buffer_type : t.buffer_type;
        plan.source_masks[i] = source_mask(t.src);
        plan.flags[i] = t.flags;
        plan.bytes[i] = t.is_view() || t.buffer_type != no_buffer_type ? -1 : bytes_of(t);
        if (t.user_backend >= n_backends) {
            throw Error(ErrorKind::usage, "tensor " + name(int_of(i)) + ": pinned to backend " + std::to_string(t.user_backend) +
                                              " of " + std::to_string(n_backends));
        }
    }
    scratch.active.clear();
    for (const TensorId node : graph.nodes) {
        if (!is_view_op(*tensor(node).op)) {
            scratch.active.push_back(node);
        }
    }
}

void Planning::describe_backends() {
    const size_t n = n_backends;
    scratch.default_type.resize(n);
    scratch.may_upgrade.resize(n);
    BufferTypeId highest = no_buffer_type;
    for (const BufferTypeId home : scratch.home) {
        highest = std::max(highest, home);
    }
    for (size_t b = 0; b < n; ++b) {
        const BufferTypeId type = capabilities.default_buffer_type(narrow<BackendId>(b));
        const auto higher = scratch.default_type.begin();
        scratch.may_upgrade[b] = std::count(higher, higher + b, type) != 0;
        scratch.default_type[b] = type;
        highest = std::max(highest, type);
    }
    scratch.usable.clear();
    for (BufferTypeId type = 0; type <= highest; ++type) {
        for (BackendId b = 0; b < n_backends; ++b) {
            scratch.usable.push_back(capabilities.supports_buffer_type(b, type) ? 1 : 0);
        }
    }
}

bool Planning::wants_offload(BackendId backend, TensorId decided) {
    const bool yes = capabilities.wants_offload(backend, decided);
    if (recorder != nullptr) {
        record_query(Question::offload, yes ? Answer{} : Answer::no(Refusal::none, {}), backend, no_buffer_type, decided);
    }
    return yes;
}

std::string Planning::why_not_offloaded(int64_t batch) const {
    if (batch == 0) {
        return "a row lookup is not worth it";
    }
    if (batch < options.offload_min_batch) {
        return "its batch of " + std::to_string(batch) + " is below " + std::to_string(options.offload_min_batch) + " (" +
               std::string(options.offload_option) + ")";
    }
    const int64_t usual = PlanSettings().offload_min_batch;
    if (options.offload_min_batch == 0 && batch < usual) {
        return "its batch of " + std::to_string(batch) + " is below the " + std::to_string(usual) +
               " from which ggml's devices take work over";
    }
    return "does not offer to take this operator over";
}

void Planning::record_query(Question question, const Answer& answer, BackendId backend, BufferTypeId type, TensorId decided) {
    record::BackendQuery query;
    query.pass = pass;
    query.question = question;
    query.yes = answer.yes;
    query.reason = answer.reason;
    query.backend = backend;
    query.buffer_type = type;
    query.tensor = decided;
    query.detail = question == Question::offload && !answer.yes ? offload_detail(decided) : detail(answer.detail);
    recorder->add_in_burst(query);
}

void Planning::refuse_unasked(BackendId backend, TensorId decided) const {
    throw Error(ErrorKind::input,
                "it can't be planned again: whether " + backend_name(backend) + " runs " + name(decided) + " is not recorded");
}

void Planning::record_assign(TensorId id, BackendId before, TensorId by) {
    const Assignment& a = plan.assignments[id];
    recorder->add_in_burst(record::Assign{pass, a.cause, a.source, before, a.backend, id, by});
}

/// Backends' details are constants, known by address.
StringId Planning::detail(std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    Detail& known = details_[(reinterpret_cast<uintptr_t>(text.data()) >> 3) % details_.size()];
    if (known.data != text.data() || known.size != text.size()) {
        known = {text.data(), text.size(), recorder->intern(text)};
    }
    return known.id;
}

StringId Planning::offload_detail(TensorId decided) {
    const TensorInfo& t = graph.tensors[decided];
    const auto [known, is_new] = offload_details_.try_emplace(offload_batch(*t.op, *t.ne));
    if (is_new) {
        known->second = recorder->intern(why_not_offloaded(known->first));
    }
    return known->second;
}

std::string Planning::name(TensorId id) const {
    const TensorInfo& t = tensor(id);
    std::string text = "'";
    text.append(t.name).append("' (").append(op_name(t)).append(")");
    return text;
}

std::string Planning::buffer_type_name(BufferTypeId type) const {
    if (options.session != nullptr && is_index(type, options.session->buffer_types)) {
        return options.session->buffer_types[type].name;
    }
    return "buffer type " + std::to_string(type);
}

std::string Planning::backend_name(BackendId backend) const {
    if (options.session != nullptr && is_index(backend, options.session->backends)) {
        return options.session->backends[backend].name;
    }
    return "backend " + std::to_string(backend);
}

} // namespace schedscope
