#include "viz/pictures/subject.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/dot_text.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope {

namespace {

size_t at(int32_t i) noexcept { return i; }

/// A trace comes from elsewhere: what it says is looked up only after this.
void check(const PlanState& state, int32_t n_tensors, size_t n_ids) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) {
            throw Error(ErrorKind::input, std::string("trace: ") + what);
        }
    };
    const auto is_id = [&](TensorId id) { return id >= 0 && static_cast<size_t>(id) < n_ids; };
    const auto is_id_or_none = [&](TensorId id) { return id == no_tensor || is_id(id); };
    const auto is_graphs = [&](TensorId id) { return id >= 0 && id < n_tensors; };
    require(static_cast<size_t>(n_tensors) <= n_ids && n_ids <= state.tensors.size(), "fewer tensors than its graph has");
    const auto n_nodes = n_of(state.order);
    for (const TensorId node : state.order) {
        require(is_graphs(node), "a node that is not in its graph");
    }
    for (const SplitState& split : state.splits) {
        require(split.first_node() >= 0 && (split.end_node < 0 || split.end_node >= split.first_node()),
                "a split that ends before it begins");
        require(is_id_or_none(split.node()) && is_id_or_none(or_none(split.begin.by)),
                "a split that starts at no node of its graph");
        for (const record::SplitInput& input : split.inputs) {
            require(is_graphs(input.tensor), "a split input that is not in its graph");
        }
    }
    for (const record::CopyMade& made : state.copies) {
        require(is_graphs(made.of), "a copy of a tensor that is not in its graph");
    }
    for (const record::Rewired& rewire : state.rewires) {
        require(is_graphs(rewire.node) && is_id(rewire.copy), "a source that is not in its graph");
    }
    for (const record::Fusion& fusion : state.fusions) {
        require(fusion.first >= 0 && fusion.count >= 0 && fusion.first <= n_nodes && fusion.count <= n_nodes,
                "fused nodes that are not in its graph");
    }
    for (const record::Placement& placement : state.placements) {
        require(is_id(placement.tensor) && is_id_or_none(placement.in_place_of),
                "a placement of a tensor that is not in its graph");
        require(placement.size >= 0 && placement.offset >= 0 && placement.first_use < (1 << 28) && placement.last_use < (1 << 28),
                "a placement beyond any buffer");
    }
}

/// As many words of a command as a title has room for.
std::string beginning_of(const std::string& command) {
    constexpr size_t room = 60;
    if (command.size() <= room) {
        return command;
    }
    size_t end = std::min(command.rfind(' ', room), room);
    while (end > 0 && (static_cast<unsigned char>(command[end]) & 0xC0U) == 0x80) { // no character in two
        --end;
    }
    return command.substr(0, end) + " …";
}

} // namespace

Subject::Subject(const PlanState& shown, const OwnedGraph& of_graph, const SessionInfo& of_session,
                 std::vector<std::string> names, TextOf text_of, std::string at_moment)
    : state(shown), graph(of_graph), session(of_session), palette(of_session), moment(std::move(at_moment)),
      names_(std::move(names)), text_of_(std::move(text_of)) {
    const size_t n = names_.size();
    check(state, n_tensors(), n);
    ids_.reserve(n);
    std::unordered_map<std::string_view, int32_t> seen;
    seen.reserve(n);
    for (const std::string& name : names_) {
        const int32_t nth = ++seen[name];
        ids_.push_back(id_of_name(name.empty() ? "unnamed" : name) + (nth > 1 || name.empty() ? "@" + std::to_string(nth) : ""));
    }

    position_.assign(n, -1);
    split_of_.assign(n, -1);
    for (size_t i = 0; i < state.order.size(); ++i) {
        position_[at(state.order[i])] = int_of(i);
    }
    for (const SplitState& split : state.splits) {
        for (int32_t i = split.first_node(); i < end_node(split); ++i) {
            split_of_[at(state.order[at(i)])] = split.begin.index;
        }
    }

    copy_entry_.assign(n, -1);
    for (size_t i = 0; i < state.copies.size(); ++i) {
        const TensorId copy = state.copies[i].copy;
        if (copy >= n_tensors() && copy < n_ids()) {
            copy_entry_[at(copy)] = int_of(i);
        }
    }

    rewires_ = state.rewires;
    std::stable_sort(rewires_.begin(), rewires_.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
    rewire_start_.assign(at(n_tensors()) + 1, 0);
    for (const record::Rewired& rewire : rewires_) {
        ++rewire_start_[at(rewire.node) + 1];
    }
    for (size_t i = 1; i < rewire_start_.size(); ++i) {
        rewire_start_[i] += rewire_start_[i - 1];
    }
}

const std::string& Subject::name(TensorId id) const { return names_[at(id)]; }
const std::string& Subject::id(TensorId id) const { return ids_[at(id)]; }

const TensorInfo& Subject::info(TensorId id) const {
    if (id < n_tensors()) {
        return graph.tensors[at(id)];
    }
    const record::CopyMade* made = made_by(id);
    return graph.tensors[made == nullptr ? 0 : at(made->of)];
}

BackendId Subject::backend_of(TensorId id) const {
    return at(id) < state.tensors.size() ? state.tensors[at(id)].backend : no_backend;
}

std::string Subject::backend_name(BackendId id) const {
    if (id >= 0 && at(id) < session.backends.size()) {
        return session.backends[at(id)].name;
    }
    return all_assigned_known() ? "unassigned" : "unknown";
}

bool Subject::is_left_out(TensorId id) const { return id < n_tensors() && schedscope::is_left_out(info(id)); }

bool Subject::is_view_op(TensorId id) const { return info(id).op && schedscope::is_view_op(*info(id).op); }

int32_t Subject::end_node(const SplitState& split) const {
    const auto n = n_of(state.order);
    return std::min(n, split.end_node >= 0 ? split.end_node : split.first_node() + 1);
}

const record::CopyMade* Subject::made_by(TensorId id) const {
    const int32_t entry = copy_entry_[at(id)];
    return entry < 0 ? nullptr : &state.copies[at(entry)];
}

TensorId Subject::producer(TensorId id) const {
    const TensorInfo& tensor = info(id);
    return id < n_tensors() && is_view_op(id) && tensor.is_view() ? tensor.view_source : id;
}

std::vector<TensorId> Subject::sources(TensorId node) const {
    std::vector<TensorId> read;
    const TensorInfo& tensor = info(node);
    const auto first = rewires_.begin() + rewire_start_[at(node)], end = rewires_.begin() + rewire_start_[at(node) + 1];
    for (int32_t slot = 0; slot < max_sources; ++slot) {
        TensorId source = tensor.src[at(slot)];
        if (source == no_tensor || source == node) {
            continue;
        }
        for (auto rewire = first; rewire != end; ++rewire) {
            if (rewire->source == slot && rewire->copy < n_ids()) {
                source = rewire->copy;
            }
        }
        read.push_back(source);
    }
    return read;
}

std::string Subject::operation(TensorId id) const {
    const TensorInfo& tensor = info(id);
    std::string text = id < n_tensors() && !tensor.is_leaf() ? operator_text(tensor) : "";
    for (const std::string& more : {tensor.type ? type_text(tensor) : "", tensor.ne ? shape_text(tensor) : ""}) {
        text += (text.empty() || more.empty() ? "" : " ") + more;
    }
    return text;
}

std::string Subject::title() const { return run_title(session, kind); }

std::string run_title(const SessionInfo& session, std::optional<GraphKind> kind) {
    const auto fact = [&](std::string_view key) { return session_fact(session, key); };
    const auto file = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
    std::string title;
    const auto append = [&](const std::string& text) { title += (title.empty() || text.empty() ? "" : ", ") + text; };
    if (const std::string encoder = fact("image_encoder"); kind == GraphKind::encoder && !encoder.empty()) {
        append(file(encoder));
        append(fact("projector").empty() ? "image encoder" : "image encoder and projector (" + fact("projector") + ")");
    } else {
        append(file(words::model_of(session)));
        append(fact("architecture"));
        if (const std::string layers = fact("n_gpu_layers"); !layers.empty()) {
            append("-ngl " + layers);
        }
        if (const std::string attention = fact("flash_attention"); !attention.empty()) {
            append("-fa " + attention);
        }
    }
    const std::string command = fact("command");
    append(title.empty() && !command.empty() ? beginning_of(command) : file(fact("program"))); // that another one was
    if (const std::string log = fact(accounts::log_fact); !log.empty()) {
        const bool is_file = log.starts_with(accounts::log_file_words);
        append(is_file ? "log " + file(log.substr(accounts::log_file_words.size())) : log);
    }
    return title;
}

Subject subject_of(History& history, const PlanState& state, const OwnedGraph& graph, std::string moment) {
    std::vector<std::string> names;
    names.reserve(state.tensors.size());
    for (size_t id = 0; id < state.tensors.size(); ++id) {
        names.push_back(history.tensor_name(state, int_of(id)));
    }
    const auto text_of = [source = &history.source()](StringId id) { return std::string(source->text(id)); };
    Subject subject{state, graph, history.session(), std::move(names), text_of, std::move(moment)};
    if (state.evaluation >= 0 && state.evaluation < history.n_evaluations()) {
        subject.kind = history.evaluation(state.evaluation).begin.kind;
    }
    return subject;
}

} // namespace schedscope
