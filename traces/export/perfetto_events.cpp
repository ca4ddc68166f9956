#include "traces/export/perfetto_events.h"

#include "runtime/numbers.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/time.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/words/difference_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope {

namespace {

// What may be part of what.
constexpr int evaluation_level = 0, plan_level = 1, pass_level = 2, wait_level = 3;
constexpr int split_level = 0, kernel_level = 1;
constexpr int copy_level = 0;

constexpr std::string_view planning = "planning";

/// Records without a time stand at the beginning.
int64_t at_ns(const Record& record) { return record.time_ns.value_or(0); }

/// Passes 1 to 5; what comes behind them carries the plan out.
bool decides(Pass pass) { return pass < Pass::optimise; }

PerfettoEvents::Slice slice(int64_t start_ns, int64_t end_ns, int level, std::string name, std::string_view category) {
    PerfettoEvents::Slice s;
    s.start_ns = std::max<int64_t>(start_ns, 0);
    s.end_ns = std::max(s.start_ns, end_ns);
    s.level = level;
    s.event.name = std::move(name);
    s.event.category = category;
    return s;
}

/// Arguments that say nothing are left out.
class EventArguments {
public:
    explicit EventArguments(PerfettoEvent& event) : out_(event.arguments) {}
    EventArguments& text(std::string_view name, std::string value) {
        if (!value.empty()) {
            out_.push_back({name, std::move(value)});
        }
        return *this;
    }
    EventArguments& number(std::string_view name, std::optional<int64_t> value) {
        if (value) {
            out_.push_back({name, *value});
        }
        return *this;
    }
    EventArguments& yes(std::string_view name, bool value) {
        out_.push_back({name, value});
        return *this;
    }
    EventArguments& list(std::string_view name, std::vector<std::string> values) {
        if (!values.empty()) {
            out_.push_back({name, std::move(values)});
        }
        return *this;
    }

private:
    std::vector<PerfettoArgument>& out_;
};

std::string title(Pass pass) { return (decides(pass) ? "pass " : "") + words::pass_and_title(pass); }

} // namespace

PerfettoEvents::PerfettoEvents(const History& history, const PlanState& state, const EvaluationSpan& span)
    : history_(history), state_(state) {
    for (const record::Fusion& fusion : state.fusions) {
        const auto last = fusion.first + static_cast<size_t>(std::max(fusion.count, 1)) - 1;
        if (fusion.first >= 0 && last < state.order.size()) {
            fusion_of_[state.order[last]] = &fusion;
        }
    }
    history.source().for_each(span.first, span.end, [&](const Record& r) {
        last_ns_ = std::max(last_ns_, at_ns(r));
        std::visit([&](const auto& fact) { add(r, fact); }, r.fact);
    });
    // What was cut off lasts until the last record.
    end_pass(last_ns_);
    for (const size_t open : {plan_, evaluation_}) {
        if (open != SIZE_MAX) {
            scheduler[open].end_ns = std::max(scheduler[open].start_ns, last_ns_);
        }
    }
    add_account();
    draw_arrows();
}

/// What each device did, as all faces have it.
void PerfettoEvents::add_account() {
    if (scheduler.empty() || scheduler.front().level != evaluation_level) {
        return;
    }
    const accounts::TimeAccount account = accounts::time(history_, state_, accounts::TimeBy::device);
    if (!account.anything) {
        return;
    }
    EventArguments arguments(scheduler.front().event);
    arguments.number("time ns", account.extent.time_ns());
    for (size_t i = 0; i < accounts::n_activities; ++i) {
        const auto activity = static_cast<accounts::Activity>(i);
        std::vector<std::string> devices;
        for (const accounts::DeviceTime& device : account.devices) {
            devices.push_back(history_.backend_name(device.backend) + ": " + words::count(device.of(activity)) + " ns");
        }
        arguments.list(accounts::activity_name(activity), std::move(devices));
    }
}

void PerfettoEvents::add(const Record& r, const record::EvaluationBegin& f) {
    evaluation_ = scheduler.size();
    scheduler.push_back(slice(at_ns(r), at_ns(r), evaluation_level, std::string(kind_text(f.kind)), "evaluation"));
    EventArguments arguments(scheduler.back().event);
    arguments.number("evaluation", r.evaluation)
        .number("tokens", f.n_tokens)
        .number("sequences", f.n_sequences)
        .number("outputs", f.n_outputs);
    if (history_.knows(Topic::reuse)) {
        arguments.yes("graph reused", f.reused)
            .text("not reused because of", text(f.failed_check))
            .number("planned in evaluation", f.planned_in);
    }
}

void PerfettoEvents::add(const Record& r, const record::EvaluationEnd& f) {
    if (evaluation_ != SIZE_MAX) {
        Slice& s = scheduler[evaluation_];
        s.end_ns = std::max(s.start_ns, at_ns(r));
        EventArguments(s.event).text("error", text(f.error));
        evaluation_ = SIZE_MAX;
    }
}

void PerfettoEvents::add(const Record& r, const record::PlanBegin& f) {
    plan_ = scheduler.size();
    scheduler.push_back(slice(at_ns(r), at_ns(r), plan_level, "plan", planning));
    EventArguments(scheduler.back().event).number("nodes", f.n_nodes).number("leafs", f.n_leafs).number("stages", f.n_stages);
}

void PerfettoEvents::add(const Record& r, const record::PlanEnd& f) {
    if (plan_ != SIZE_MAX) {
        Slice& s = scheduler[plan_];
        s.end_ns = std::max(s.start_ns, at_ns(r));
        EventArguments(s.event).number("splits", f.n_splits).number("copies", f.n_copies).text("error", text(f.error));
        plan_ = SIZE_MAX;
    }
}

void PerfettoEvents::add(const Record& r, const record::PassBegin& f) {
    end_pass(at_ns(r));
    pass_ = scheduler.size();
    scheduler.push_back(slice(at_ns(r), at_ns(r), pass_level, title(f.pass), decides(f.pass) ? planning : "stage"));
    asked_ = assigned_ = 0;
}

void PerfettoEvents::add(const Record& r, const record::PassEnd&) { end_pass(at_ns(r)); }

void PerfettoEvents::end_pass(int64_t time_ns) {
    if (pass_ != SIZE_MAX) {
        Slice& s = scheduler[pass_];
        s.end_ns = std::max(s.start_ns, time_ns);
        if (s.event.category == planning) {
            EventArguments(s.event).number("assignments", assigned_).number("questions", asked_);
        }
        pass_ = SIZE_MAX;
    }
}

void PerfettoEvents::add(const Record&, const record::BackendQuery&) { ++asked_; }
void PerfettoEvents::add(const Record&, const record::Assign&) { ++assigned_; }

void PerfettoEvents::add(const Record&, const record::SplitRun& f) {
    if (!f.start_ns || !f.end_ns) {
        return;
    }
    Slice s = slice(*f.start_ns, *f.end_ns, split_level, "split " + std::to_string(f.split), "split");
    EventArguments arguments(s.event);
    arguments.number("split", f.split);
    if (is_index(f.split, state_.splits)) {
        const SplitState& split = state_.splits[f.split];
        const accounts::RecordedSizes sizes(history_, state_);
        std::vector<std::string> inputs;
        for (const record::SplitInput& input : split.inputs) {
            inputs.push_back(name(input.tensor) + ", " + words::bytes(sizes.of(input.tensor, input.bytes)) + " from " +
                             history_.backend_name(or_none(input.from)));
        }
        arguments.text("begins here because of", std::string(reason_text(split.begin.why)))
            .text("by", name(or_none(split.begin.by)))
            .text("first node", name(split.node()))
            .number("nodes", std::max(0, split.end_node - split.first_node()))
            .list("inputs", std::move(inputs));
    }
    std::vector<std::string> untimed;
    for (const KernelInfo& k : history_.source().kernels(f.kernels)) {
        untimed.push_back(text(k.kernel) + " " + name(k.last));
    }
    arguments.list("kernels, each not timed", std::move(untimed));
    auto& slices = backends_[f.backend];
    runs_[f.split] = {f.backend, slices.size()};
    slices.push_back(std::move(s));
}

std::string PerfettoEvents::shape(TensorId id) const {
    const TensorInfo* tensor = history_.find_tensor(state_, id);
    return tensor == nullptr ? "" : type_text(*tensor) + " " + shape_text(*tensor);
}

/// The nodes of a fused kernel, in the order in which they would run.
std::vector<std::string> PerfettoEvents::group_of(const record::Execute& kernel) const {
    const auto fusion = fusion_of_.find(kernel.last);
    std::vector<std::string> names;
    if (kernel.count > 1 && fusion != fusion_of_.end()) {
        for (int32_t i = 0; i < fusion->second->count; ++i) {
            const TensorId node = state_.order[fusion->second->first + i];
            const TensorInfo* tensor = history_.find_tensor(state_, node);
            names.push_back((tensor == nullptr || !tensor->op ? "" : std::string(op_name(*tensor)) + " ") + name(node));
        }
    }
    return names;
}

void PerfettoEvents::add(const Record&, const record::Execute& f) {
    kernels.push_back(f);
    Slice s = slice(f.start_ns, f.end_ns, kernel_level, text(f.kernel), f.count > 1 ? "fused kernel" : "kernel");
    EventArguments arguments(s.event);
    arguments.text("node", name(f.last));
    if (const TensorInfo* tensor = history_.find_tensor(state_, f.last)) {
        const TensorState& at = state_.tensors[f.last];
        std::vector<std::string> sources;
        for (const TensorId source : tensor->src) {
            if (source != no_tensor) {
                sources.push_back(name(source) + " " + shape(source));
            }
        }
        arguments.text("op", std::string(op_name(*tensor)))
            .text("result", shape(f.last))
            .list("sources", std::move(sources))
            .text("cause", cause_text(at.cause, at.source))
            .text("by", name(at.by));
    }
    if (f.count > 1) {
        arguments.number("fused nodes", f.count).list("fused", group_of(f));
    }
    arguments.number("bytes", f.bytes).number("flops", f.flops).yes("device's clock", f.device_time);
    backends_[f.backend].push_back(std::move(s));
}

void PerfettoEvents::add(const Record& r, const record::Transfer& f) {
    transfers.push_back(f);
    arrows_.emplace_back(f, r.step);
    Slice s = slice(f.start_ns, f.end_ns, copy_level, name(f.tensor), "copy");
    EventArguments arguments(s.event);
    arguments.text("from", history_.backend_name(f.from))
        .text("to", history_.backend_name(f.to))
        .text("tensor", shape(f.tensor))
        .text("copy", name(f.copy))
        .number("for split", f.split)
        .number("bytes", f.bytes)
        .yes("asynchronous", f.async);
    if (f.experts >= 0) {
        arguments.number("experts", f.experts).number("of all experts", f.experts_total);
    }
    copies.push_back(std::move(s));
}

/// From the split that made a tensor (weights and inputs were made by none) through its copying to the split that needs it.
/// Perfetto takes an arrow's direction from when its slices begin; where that is the other way round, a slice has no part in it.
void PerfettoEvents::draw_arrows() {
    for (size_t i = 0; i < arrows_.size(); ++i) {
        const auto& [transfer, step] = arrows_[i];
        Slice& copy = copies[i];
        const uint64_t flow = step + 1;
        const auto slice_of = [&](int32_t split) -> Slice* {
            const auto run = runs_.find(split);
            return run == runs_.end() ? nullptr : &backends_[run->second.first][run->second.second];
        };
        const TensorInfo* tensor = history_.find_tensor(state_, transfer.tensor);
        const bool computed = tensor != nullptr && tensor->op != Op::NONE;
        const int32_t made_in = computed ? state_.tensors[transfer.tensor].split : -1;
        Slice* producer = made_in >= 0 && made_in < transfer.split ? slice_of(made_in) : nullptr;
        Slice* consumer = slice_of(transfer.split);
        if (producer != nullptr && producer->start_ns > copy.start_ns) {
            producer = nullptr;
        }
        if (consumer != nullptr && consumer->start_ns < copy.start_ns) {
            consumer = nullptr;
        }
        if (producer != nullptr) {
            producer->event.flows.push_back(flow);
        }
        if (consumer != nullptr) {
            consumer->event.ending_flows.push_back(flow);
        }
        if (producer != nullptr || consumer != nullptr) {
            (consumer != nullptr ? copy.event.flows : copy.event.ending_flows).push_back(flow);
        }
    }
}

void PerfettoEvents::add(const Record&, const record::Wait& f) {
    const std::string what = f.backend == no_backend ? "the trace writer" : history_.backend_name(f.backend);
    scheduler.push_back(slice(f.start_ns, f.end_ns, wait_level,
                              f.held            ? "held"
                              : f.n_shaders > 0 ? "compile " + words::counted(f.n_shaders, "shader") + " for " + what
                                                : "wait for " + what,
                              "wait"));
    if (f.split >= 0) {
        EventArguments(scheduler.back().event).number("for split", f.split);
    }
}

void PerfettoEvents::add(const Record& r, const record::Reallocation& f) {
    notes.push_back({at_ns(r), {"reallocation", "memory"}});
    EventArguments(notes.back().event).text("because", text(f.reason)).text("node", name(f.node));
}

void PerfettoEvents::add(const Record& r, const record::BufferSize& f) { buffers.push_back({at_ns(r), f}); }

void PerfettoEvents::add(const Record& r, const record::Reserve& f) {
    notes.push_back({at_ns(r), {"reserve", "memory"}});
    EventArguments(notes.back().event).number("tokens", f.n_tokens).text("error", text(f.error));
}

void PerfettoEvents::add(const Record&, const record::Sample& f) {
    accounts::SamplerRow row;
    row.name = text(f.sampler);
    row.backend = f.backend;
    row.refused = f.refused;
    samplers_[f.sequence].push_back(row.marked());
}

void PerfettoEvents::add(const Record& r, const record::NextToken& f) {
    const std::string piece = text(f.text.value_or(0));
    tokens.push_back({at_ns(r),
                      {!piece.empty() ? piece
                       : f.token      ? "token " + std::to_string(*f.token)
                                      : "token",
                       "token", false}});
    EventArguments(tokens.back().event)
        .number("token", f.token)
        .number("sequence", f.sequence)
        .number("position", f.position)
        .list("samplers", std::move(samplers_[f.sequence]))
        .number("candidates", f.candidates)
        .number("bytes to the host", f.host_bytes);
    samplers_.erase(f.sequence);
}

void PerfettoEvents::add(const Record& r, const record::Difference& f) {
    const std::string verdict = words::verdict(f);
    const TensorInfo* const tensor = history_.find_tensor(state_, f.tensor);
    const words::DifferenceNames names{text(f.device), history_.backend_name(f.backend), text(f.why)};
    differences.push_back({at_ns(r), {verdict + ": " + name(f.tensor), "difference"}});
    EventArguments(differences.back().event)
        .text("verdict", verdict)
        .text("node", name(f.tensor))
        .text("op", tensor == nullptr ? "" : std::string(op_name(*tensor)))
        .text("found", words::difference(f, names, tensor == nullptr ? Shape{} : tensor->ne.value_or(Shape{})));
}

} // namespace schedscope
