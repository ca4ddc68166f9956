#include "traces/import/logged_graph.h"

#include "runtime/numbers.h"
#include "traces/import/logged_text.h"
#include "traces/import/operator_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace schedscope::import {

namespace {

/// No scheduler had room for fewer inputs of a split since a full one makes a new split: with fewer it can't be that.
constexpr size_t least_room_for_inputs = 10;

bool differ(const std::optional<int64_t>& a, const std::optional<int64_t>& b) noexcept { return a && b && *a != *b; }
bool differ(std::string_view a, std::string_view b) noexcept { return !a.empty() && !b.empty() && a != b; }

/// Words of schedulers before 2024 ("2.1", "3.cur") and of others' are not ours: nothing.
std::pair<std::optional<Cause>, int8_t> cause_from(std::string_view word) noexcept {
    constexpr std::array plain = {Cause::user,      Cause::dst,  Cause::view_source, Cause::input,       Cause::offload,
                                  Cause::supported, Cause::best, Cause::upgrade,     Cause::source_view, Cause::source_current,
                                  Cause::copy};
    for (const Cause cause : plain) {
        if (cause_name(cause, -1) == word) {
            return {cause, -1};
        }
    }
    for (int n = 0; n < max_sources; ++n) {
        if (cause_name(Cause::weight, n) == word) {
            return {Cause::weight, n};
        }
    }
    return {std::nullopt, -1};
}

/// Without the "#STAGE" at the end of a copy's name.
std::string_view without_stage(std::string_view name) noexcept {
    const size_t hash = name.rfind('#');
    return hash != std::string_view::npos && hash + 1 < name.size() &&
                   name.find_first_not_of("0123456789", hash + 1) == std::string_view::npos
               ? name.substr(0, hash)
               : name;
}

} // namespace

LoggedGraphBuilder::LoggedGraphBuilder(const BackendNames& backends, size_t name_width, int64_t most_tensors, int64_t& spare)
    : backends_(backends), name_width_(name_width), most_tensors_(most_tensors), spare_(spare) {}

bool LoggedGraphBuilder::begins_next_graph(const LoggedSplit& split) const noexcept {
    return !g_.splits.empty() && split.index < std::ssize(g_.splits);
}

bool LoggedGraphBuilder::begins_next_graph(const LoggedNode& node) const noexcept {
    return node.index < std::ssize(g_.graph.nodes);
}

TensorId LoggedGraphBuilder::make(const LoggedTensor& tensor, bool in_full) {
    const auto id = n_of(g_.graph.tensors);
    TensorInfo info;
    info.op.reset();
    info.type.reset();
    info.ne.reset();
    info.nb.reset();
    info.params.reset();
    info.name = g_.graph.keep(readable(tensor.name));
    g_.graph.tensors.push_back(info);
    g_.placed.emplace_back();
    seen_.push_back({std::string(tensor.name), tensor.bytes, std::string(tensor.backend), std::string(tensor.cause), in_full});
    if (!tensor.name.empty()) {
        by_name_[key(tensor.name)].push_back(id);
    }
    return id;
}

void LoggedGraphBuilder::place(TensorId id, const LoggedTensor& tensor, BackendId sure) {
    LoggedGraph::Placed& placed = g_.placed[id];
    placed.backend = sure != no_backend ? sure : backends_.resolve(tensor);
    std::tie(placed.cause, placed.source) = cause_from(tensor.cause);
}

/// The nodes up to `until` that have no line are view operators (or lost).
void LoggedGraphBuilder::fill_nodes(int64_t until) {
    while (std::ssize(g_.graph.nodes) < until) {
        g_.graph.nodes.push_back(make({}, true));
    }
}

/// Numbers from noise are not to fill the memory.
bool LoggedGraphBuilder::has_room_for(int64_t missing) const noexcept {
    return missing >= 0 && missing <= spare_ && static_cast<int64_t>(size()) + missing <= most_tensors_;
}

bool LoggedGraphBuilder::add(const LoggedSplit& split) {
    const int64_t missing = split.index - g_.splits.size();
    if (!has_room_for(missing)) {
        return false;
    }
    spare_ -= missing;
    const auto next_node = n_of(g_.graph.nodes);
    g_.lacks_splits |= missing > 0;
    for (int64_t i = 0; i < missing; ++i) {
        LoggedGraph::OneSplit& lost = g_.splits.emplace_back();
        lost.first_node = lost.end_node = next_node;
    }
    LoggedGraph::OneSplit& s = g_.splits.emplace_back();
    s.backend = backends_.find(readable(split.backend));
    s.first_node = s.end_node = next_node;
    const auto index = n_of(g_.splits) - 1;
    s.n_inputs = static_cast<int32_t>(std::clamp<int64_t>(split.n_inputs, std::ssize(split.inputs), INT32_MAX));
    g_.n_lost_inputs += static_cast<int32_t>(std::max<int64_t>(split.n_inputs - split.inputs.size(), 0));
    for (const LoggedInput& input : split.inputs) {
        LoggedGraph::InputOfSplit in;
        in.tensor = input_of(input, s.backend);
        in.bytes = input.bytes;
        if (s.backend == no_backend) {
            s.inputs.push_back(in);
            continue;
        }
        const auto same = [&](const LoggedGraph::OneCopy& c) { return c.of == in.tensor && c.backend == s.backend; };
        // Schedulers before 2024 listed an input for each split that reads its copy.
        const std::string name = copy_key(s.backend, input.name);
        std::vector<CopyInput>& others = by_copy_name_[name];
        for (const CopyInput& other : others) {
            const int32_t copy = g_.splits[other.split].inputs[other.input].copy;
            if (copy >= 0 && same(g_.copies[copy])) {
                in.copy = copy;
            }
        }
        if (in.copy < 0) {
            in.copy = n_of(g_.copies);
            in.makes_copy = true;
            g_.copies.push_back({in.tensor, s.backend, in.bytes});
        }
        others.push_back({index, n_of(s.inputs)});
        s.inputs.push_back(in);
    }
    return true;
}

bool LoggedGraphBuilder::add(const LoggedNode& node) {
    const int64_t missing = node.index - g_.graph.nodes.size();
    if (!has_room_for(missing)) {
        return false;
    }
    spare_ -= missing;
    g_.lacks_splits |= g_.splits.empty();
    g_.has_nodes = true;
    // A split begins with the node that makes it one, the first of a graph with node 0.
    LoggedGraph::OneSplit* split = g_.splits.empty() ? nullptr : &g_.splits.back();
    const bool first = split != nullptr && split->node == no_tensor;
    if (first && g_.splits.size() > 1) {
        fill_nodes(node.index);
        split->first_node = static_cast<int32_t>(node.index);
        // What lies between is the split before's.
        LoggedGraph::OneSplit& before = g_.splits[g_.splits.size() - 2];
        if (before.end_node > before.first_node) {
            before.end_node = split->first_node;
        }
    }
    fill_nodes(node.index);
    const TensorId id = make(node.has_name ? node.tensor : LoggedTensor{}, false);
    const LoggedOp op = operator_from_log(node.op);
    reading_ = id;
    std::array<TensorId, max_sources> sources;
    sources.fill(no_tensor);
    const size_t n = std::min<size_t>(node.sources.size(), max_sources);
    for (size_t i = 0; i < n; ++i) {
        sources[i] = source_of(node.sources[i]);
        if (const int32_t copy = copy_of(node.sources[i]); copy >= 0) {
            g_.rewires.push_back({id, static_cast<int32_t>(i), copy});
            for (LoggedGraph::InputOfSplit& input : g_.splits.back().inputs) {
                if (input.copy == copy && input.first_reader == no_tensor) {
                    input.first_reader = id;
                }
            }
        }
    }
    TensorInfo& info = g_.graph.tensors[id];
    info.op = op.op;
    info.src = sources;
    if (op.op == Op::UNARY || op.op == Op::GLU) {
        if (op.which) { // what else there is, such as whether a GLU's halves are swapped, no log shows
            info.params = Params{*op.which};
        }
    }
    const bool fits = split != nullptr && (node.tensor.backend.empty() || backends_.shown_as(split->backend, node.tensor));
    place(id, node.tensor, fits ? split->backend : no_backend);
    if (LoggedGraph::Placed& placed = g_.placed[id]; placed.cause == Cause::weight) {
        placed.by = sources[placed.source] != no_tensor ? std::optional(sources[placed.source]) : std::nullopt;
    }
    g_.graph.nodes.push_back(id);
    if (split != nullptr) {
        split->end_node = n_of(g_.graph.nodes);
        if (first) {
            split->node = id;
        }
    }
    uses_of_last_ = node.uses;
    return true;
}

/// The newest tensor that has the source's name, size, backend and cause; a new one when none has.
TensorId LoggedGraphBuilder::source_of(const LoggedTensor& source) {
    if (const int32_t copy = copy_of(source); copy >= 0) {
        return g_.copies[copy].of;
    }
    const std::vector<TensorId>& same_name = by_name_[key(source.name)];
    for (auto at = same_name.rbegin(); at != same_name.rend(); ++at) {
        Seen& seen = seen_[*at];
        // A node does not read itself, though one before it may have its name.
        if (*at == reading_ || differ(seen.bytes, source.bytes) || differ(seen.backend, source.backend) ||
            differ(seen.cause, source.cause)) {
            continue;
        }
        if (seen.backend.empty()) { // a header's, which says nothing of where it lies
            seen.backend = source.backend;
            seen.cause = source.cause;
            place(*at, source, no_backend);
        }
        return *at;
    }
    const TensorId id = make(source, false);
    place(id, source, no_backend);
    return id;
}

/// What a split's header names in full: the newest tensor of that name, as far as node lines show it, that does not lie on the
/// reader's backend.
TensorId LoggedGraphBuilder::input_of(const LoggedInput& input, BackendId reader) {
    const std::vector<TensorId>& same_name = by_name_[key(input.name)];
    for (auto at = same_name.rbegin(); at != same_name.rend(); ++at) {
        Seen& seen = seen_[*at];
        const BackendId backend = g_.placed[*at].backend;
        const bool same = seen.in_full ? seen.name == input.name : seen.name == key(input.name);
        if (!same || differ(seen.bytes, input.bytes) || (backend != no_backend && backend == reader)) {
            continue;
        }
        if (!seen.in_full) {
            seen.name = input.name;
            seen.in_full = true;
            g_.graph.tensors[*at].name = g_.graph.keep(readable(input.name));
        }
        return *at;
    }
    LoggedTensor tensor;
    tensor.name = input.name;
    tensor.bytes = input.bytes;
    return make(tensor, true);
}

std::string LoggedGraphBuilder::copy_key(BackendId backend, std::string_view name) const {
    std::string text = backends_.names()[backend];
    text.append("#").append(name).append("#");
    if (text.size() >= name_width_) {
        text.resize(name_width_);
    } else {
        text.pop_back();
    }
    return text;
}

/// The copy that a source's name "BACKEND#TENSOR#STAGE" speaks of, cut or not; −1: none that a header announced.
int32_t LoggedGraphBuilder::copy_of(const LoggedTensor& source) {
    const bool cut = source.name.size() >= name_width_;
    if (g_.splits.empty() || (!cut && source.name.find('#') == std::string_view::npos)) {
        return -1;
    }
    auto found = cut ? by_copy_name_.find(std::string(source.name)) : by_copy_name_.end();
    if (found == by_copy_name_.end()) {
        const std::string_view whole = without_stage(source.name);
        found = by_copy_name_.find(std::string(whole));
        if (found != by_copy_name_.end() && whole.size() < source.name.size() && !g_.stage) {
            g_.stage = static_cast<int16_t>(std::min(std::stol("0" + std::string(source.name.substr(whole.size() + 1, 4))), 63L));
        }
    }
    if (found == by_copy_name_.end()) {
        return -1;
    }
    // Several may begin so. Inputs are listed in the order in which nodes first need them: what is first read now is the first
    // that was not read yet.
    const auto this_split = n_of(g_.splits) - 1;
    const std::vector<LoggedGraph::InputOfSplit>& inputs = g_.splits.back().inputs;
    const auto unread = [](const LoggedGraph::InputOfSplit& input) { return input.first_reader == no_tensor; };
    const auto next = std::find_if(inputs.begin(), inputs.end(), unread) - inputs.begin();
    int32_t late = -1, read = -1;
    bool several = false;
    for (const CopyInput& c : found->second) {
        const LoggedGraph::InputOfSplit& input = g_.splits[c.split].inputs[c.input];
        if (differ(source.bytes, input.bytes) || g_.splits[c.split].backend != g_.splits.back().backend) {
            continue;
        }
        if (c.split == this_split && c.input == next) {
            return input.copy;
        }
        if (c.split == this_split && unread(input)) {
            late = late < 0 ? input.copy : late; // lines before it were lost
        } else {
            several |= read >= 0 && read != input.copy;
            read = input.copy;
        }
    }
    return several ? -1 : read >= 0 ? read : late;
}

/// Why split `index` is one of its own.
void LoggedGraphBuilder::explain_split(size_t index) {
    LoggedGraph::OneSplit& split = g_.splits[index];
    split.why.reset();
    split.by = no_tensor;
    if (index == 0) {
        split.why = SplitReason::first;
        return;
    }
    const LoggedGraph::OneSplit& before = g_.splits[index - 1];
    if (split.backend == no_backend || before.backend == no_backend) {
        return;
    }
    if (split.backend != before.backend) {
        split.why = SplitReason::backend;
        return;
    }
    // The weight is copied for the node that the split begins with: it is known where only one source of that node is.
    if (before.inputs.size() < least_room_for_inputs) {
        int n = 0;
        for (const LoggedGraph::InputOfSplit& input : split.inputs) {
            if (split.node != no_tensor && input.first_reader == split.node) {
                split.by = input.tensor;
                ++n;
            }
        }
        split.by = n == 1 ? split.by : no_tensor;
        split.why = n == 1 ? std::optional(SplitReason::weight) : std::nullopt;
    }
}

/// The embeddings of all tokens are so many times as large as a norm's weights, which are one row of the same type. Sizes are
/// rounded down: where several numbers of tokens come to the same, it may still be sure that it is one, or that it is more.
void LoggedGraphBuilder::count_tokens() {
    constexpr int64_t kibi = 1024, mebi = kibi * kibi;
    struct Range {
        int64_t least, end;
    };
    const auto size_of = [&](size_t id) -> std::optional<Range> {
        const std::optional<int64_t> bytes = seen_[id].bytes;
        return bytes ? std::optional(Range{*bytes, *bytes + (*bytes < mebi ? kibi : mebi)}) : std::nullopt;
    };
    const auto looks_up_tokens = [&](TensorId id) {
        const TensorInfo& t = g_.graph.tensors[id];
        return t.op == Op::GET_ROWS && t.src[0] != no_tensor && g_.graph.tensors[t.src[0]].name.starts_with("token_embd.weigh");
    };
    const auto embeddings = std::find_if(g_.graph.nodes.begin(), g_.graph.nodes.end(), looks_up_tokens);
    const auto row = std::find_if(g_.graph.tensors.begin(), g_.graph.tensors.end(), [](const TensorInfo& t) {
        return t.name.starts_with("blk.") && t.name.find(".attn_norm.w") != std::string_view::npos;
    });
    if (embeddings == g_.graph.nodes.end() || row == g_.graph.tensors.end()) {
        return;
    }
    const std::optional<Range> all = size_of(*embeddings), one = size_of(row - g_.graph.tensors.begin());
    if (!all || !one) {
        return;
    }
    const int64_t least = std::max<int64_t>((all->least + one->end - 2) / (one->end - 1), 1),
                  most = (all->end - 1) / std::max<int64_t>(one->least, 1);
    constexpr int64_t beyond_belief = 1 << 24;
    if (least == most && most < beyond_belief) {
        g_.n_tokens = static_cast<int32_t>(least);
    }
    if (least > 1 || most == 1) {
        g_.kind = least > 1 ? GraphKind::prefill : GraphKind::decode;
    }
}

bool LoggedGraphBuilder::last_op_unknown() const noexcept {
    return !g_.graph.nodes.empty() && !g_.graph.tensors[g_.graph.nodes.back()].op;
}

bool LoggedGraphBuilder::last_cause_unknown() const noexcept {
    return !g_.graph.nodes.empty() && !g_.placed[g_.graph.nodes.back()].cause;
}

LoggedGraph LoggedGraphBuilder::finish() {
    for (size_t i = 0; i < g_.splits.size(); ++i) {
        explain_split(i);
    }
    count_tokens();
    std::transform(seen_.begin(), seen_.end(), std::back_inserter(g_.bytes), [](const Seen& seen) { return seen.bytes; });
    g_.ends_early = uses_of_last_ > 0 || (g_.has_nodes && !g_.splits.empty() && g_.splits.back().node == no_tensor);
    LoggedGraph done = std::move(g_);
    g_ = {};
    seen_.clear();
    by_name_.clear();
    by_copy_name_.clear();
    uses_of_last_ = -1;
    reading_ = no_tensor;
    return done;
}

} // namespace schedscope::import
