#include "traces/attach/run.h"

namespace schedscope::attach {

namespace {

InputCopy* copy_of_tensor(Plan& plan, const Tensor* t) {
    const int id = plan.ids.find(t) - plan.tensors.size();
    return id >= 0 && id < plan.copies.size() && plan.copies[id].copy == t ? &plan.copies[id] : nullptr;
}

void put_transfer(Block& block, Scheduler& s, const InputCopy& copy, sent::transfer r) {
    Plan& plan = s.plan;
    const SplitBounds& split = plan.splits[copy.split];
    Tensor* const original = plan.tensors[copy.tensor].tensor;
    r.split = copy.split;
    r.tensor = copy.tensor;
    r.copy = plan.tensors.size() + static_cast<int>(&copy - plan.copies.begin());
    r.source_backend = s.number_of(s.ggml->call.ggml_backend_sched_get_tensor_backend(s.object, original));
    r.backend = split.backend < 0 ? -1 : s.numbers[split.backend];
    block.put(Kind::transfer, r);
}

} // namespace

Block* block_of(RunCall& call) {
    Scheduler& s = *call.scheduler;
    Plan& plan = s.plan;
    if (!plan.sent || s.inert) {
        return nullptr;
    }
    if (!call.is_waiting && s.evaluation < 0) {
        s.evaluation = next_number();
        s.run.begin(s.evaluation);
        SCHEDSCOPE_PUT(s.run, evaluation_begin, plan.evaluation, s.run.text(plan.kind), 1, is_observed(s), plan.n_tokens,
                       plan.n_outputs);
    }
    if (s.evaluation >= 0 && !s.run.begun()) {
        s.run.begin(s.evaluation);
    }
    return s.evaluation < 0 ? nullptr : &s.run;
}

void record_copy(RunCall& call, const Tensor* copy, Timed time) {
    InputCopy* const input = copy_of_tensor(call.scheduler->plan, copy);
    Block* const block = input == nullptr ? nullptr : block_of(call);
    if (block == nullptr) {
        return;
    }
    call.scheduler->split = input->split;
    input->moved = true;
    sent::transfer r = {};
    r.bytes = static_cast<int64_t>(call.scheduler->ggml->call.ggml_nbytes(copy));
    r.start_ns = time.start;
    r.end_ns = time.end;
    r.experts = r.experts_total = -1;
    put_transfer(*block, *call.scheduler, *input, r);
}

void record_part_of_copy(RunCall& call, const Tensor* copy, size_t bytes, Timed time) {
    if (InputCopy* const input = copy_of_tensor(call.scheduler->plan, copy)) {
        input->start = input->bytes == 0 ? time.start : input->start;
        input->bytes += static_cast<int64_t>(bytes);
        input->end = time.end;
    }
}

void begin_run(RunCall& call) {
    Scheduler& s = *call.scheduler;
    if (s.plan.ran) {
        end_evaluation(s, 0); // it was not waited for, or an exception ended it
    }
    for (InputCopy& input : s.plan.copies) {
        input.moved = false;
        input.bytes = 0;
    }
    s.split = 0;
    s.computes = s.plan.ran = true;
}

void record_split_run(RunCall& call, Backend* backend, const Graph* part, Timed time) {
    Scheduler& s = *call.scheduler;
    Block* const block = block_of(call);
    if (block == nullptr) {
        return;
    }
    const GgmlCopy& ggml = *s.ggml;
    auto* const nodes = read_at<Tensor**>(part, ggml.at.nodes);
    const int64_t first = nodes - s.plan.nodes;
    int split = -1;
    for (int i = 0; i < s.plan.splits.size() && split < 0; ++i) {
        split = first >= s.plan.splits[i].first && first < s.plan.splits[i].end ? i : -1;
    }
    if (split < 0) {
        return; // of another graph: what a backend computes for itself
    }
    // Inputs that no call was seen for were handed to the backend directly.
    for (InputCopy& input : s.plan.copies) {
        if (input.split != split || input.moved) {
            continue;
        }
        const bool in_parts = input.bytes > 0;
        const Tensor* const original = s.plan.tensors[input.tensor].tensor;
        sent::transfer r = {};
        r.bytes = in_parts ? input.bytes : static_cast<int64_t>(ggml.call.ggml_nbytes(original));
        r.start_ns = in_parts ? input.start : time.start;
        r.end_ns = in_parts ? input.end : time.start;
        r.async = 1;
        const auto n_experts = read_at<int64_t>(original, ggml.at.ne + 16), expert = read_at<int64_t>(original, ggml.at.nb + 16);
        r.experts_total = in_parts ? static_cast<int>(n_experts) : -1;
        r.experts = in_parts && expert > 0 ? static_cast<int>(input.bytes / expert) : -1;
        put_transfer(*block, s, input, r);
        input.moved = true;
    }
    const bool is_complete = first + read_at<int32_t>(part, ggml.at.n_nodes) >= s.plan.splits[split].end; // else a piece of it
    s.split = is_complete ? split + 1 : split;
    call.before_split = is_complete;
    const int place = s.place_of(backend);
    const bool exact = place >= 0 && Session::ends_with_its_call(s.numbers[place]);
    SCHEDSCOPE_PUT(*block, split_run, exact ? time.start : SSCP_UNKNOWN_64, exact ? time.end : SSCP_UNKNOWN_64, time.start, split,
                   place < 0 ? -1 : s.numbers[place]);
}

void record_wait(RunCall& call, const Backend* backend, Timed time) {
    const int number = call.scheduler->number_of(backend);
    Block* const block = number < 0 ? nullptr : block_of(call);
    if (block != nullptr) {
        const int split =
            call.is_waiting || call.scheduler->split >= call.scheduler->plan.splits.size() ? -1 : call.scheduler->split;
        SCHEDSCOPE_PUT(*block, wait, time.start, time.end, split, number, 0);
    }
}

void record_hold(RunCall& call, Timed time) {
    if (Block* const block = block_of(call)) {
        SCHEDSCOPE_PUT(*block, wait, time.start, time.end, -1, -1, 1);
    }
}

void send_run(RunCall& call) {
    if (Block* const block = block_of(call)) {
        block->commit();
    }
}

void end_run(RunCall& call, int status) {
    Scheduler& s = *call.scheduler;
    s.computes = false;
    if (status != 0) {
        end_evaluation(s, 1);
    } else if (s.run.begun() || (s.evaluation < 0 && block_of(call) != nullptr)) { // it ran again, and no part of that was seen
        s.run.commit();
    }
}

void end_wait(RunCall& call) {
    if (call.scheduler->plan.ran) {
        end_evaluation(*call.scheduler, 0);
    }
}

} // namespace schedscope::attach
