#include "traces/import/model_graphs.h"

#include "runtime/numbers.h"
#include "runtime/system/number_words.h"
#include "traces/history/accounts/as_logged.h"

#include <algorithm>
#include <map>
#include <utility>

namespace schedscope::import {

namespace {

constexpr int32_t cell_step = 256;    ///< graphs see cells by so many
constexpr int32_t most_cells = 4096;  ///< that are tried
constexpr int64_t most_attempts = 64; ///< numbers of tokens that come to one rounded size

/// One logged graph and one of the model's.
class Filling {
public:
    Filling(const LoggedGraph& logged, const OwnedGraph& built, size_t name_width)
        : logged_(logged), built_(built), name_width_(name_width), is_(logged.graph.tensors.size(), no_tensor) {}

    bool fits() {
        if (logged_.graph.nodes.size() != built_.nodes.size()) {
            return false;
        }
        for (size_t i = 0; i < built_.nodes.size(); ++i) {
            if (!node_fits(logged_.graph.nodes[i], built_.nodes[i])) {
                return false;
            }
        }
        return others_fit();
    }

    int64_t n_named() const noexcept { return n_named_; }
    /// The first weight of the same name and another size; empty: none was met.
    const std::string& other_weight() const noexcept { return other_weight_; }
    TensorId operator[](TensorId logged) const { return logged == no_tensor ? no_tensor : is_[logged]; }

private:
    const TensorInfo& logged(TensorId id) const { return logged_.graph.tensors[id]; }
    const TensorInfo& built(TensorId id) const { return built_.tensors[id]; }

    bool same_name(TensorId of_log, TensorId of_model) const {
        const std::string_view name = logged(of_log).name, other = built(of_model).name;
        return name == other || (name.size() >= name_width_ && other.starts_with(name));
    }

    bool set(TensorId of_log, TensorId of_model) {
        if (is_[of_log] == of_model) {
            return true;
        }
        const auto bytes = static_cast<int64_t>(n_bytes(built(of_model)));
        if (is_[of_log] != no_tensor || !accounts::is_logged_as(bytes, logged_.bytes[of_log])) {
            if (const TensorInfo& m = built(of_model);
                is_[of_log] == no_tensor && m.usage == BufferUsage::weights && m.type && same_name(of_log, of_model)) {
                other_weight_ = std::string(m.name) + " has " + words::bytes(*logged_.bytes[of_log]) + " in the log, " +
                                words::bytes(bytes) + " (" + std::string(type_name(*m.type)) + ") in the model";
            }
            return false;
        }
        is_[of_log] = of_model;
        n_named_ += same_name(of_log, of_model) ? 1 : 0;
        return true;
    }

    /// Where names are the same the importer may have taken the one for the other.
    bool may_be(TensorId of_log, TensorId of_model) const {
        return same_name(of_log, of_model) &&
               accounts::is_logged_as(static_cast<int64_t>(n_bytes(built(of_model))), logged_.bytes[of_log]);
    }

    bool node_fits(TensorId of_log, TensorId of_model) {
        const TensorInfo &l = logged(of_log), &m = built(of_model);
        if (!l.op) { // left out of the log
            if (!l.name.empty() || !is_view_op(*m.op)) {
                return false;
            }
            is_[of_log] = of_model;
            return true;
        }
        if (l.op != m.op || (l.params && (*l.params)[0] != (*m.params)[0]) || !set(of_log, of_model)) {
            return false;
        }
        size_t slot = 0; // a log lists the sources that are there
        for (const TensorId source : m.src) {
            if (source == no_tensor) {
                continue;
            }
            const TensorId logged_source = slot < l.src.size() ? l.src[slot++] : no_tensor;
            if (logged_source == no_tensor || !(set(logged_source, source) || may_be(logged_source, source))) {
                return false;
            }
        }
        return slot == l.src.size() || l.src[slot] == no_tensor;
    }

    /// Tensors that no node of the log reads, by their names.
    bool others_fit() {
        for (TensorId id = 0; id < n_of(is_); ++id) {
            if (is_[id] != no_tensor) {
                continue;
            }
            TensorId at = 0;
            while (at < n_of(built_.tensors) && !(same_name(id, at) && std::find(is_.begin(), is_.end(), at) == is_.end())) {
                ++at;
            }
            if (at == n_of(built_.tensors) || !set(id, at)) {
                return false;
            }
        }
        return true;
    }

    const LoggedGraph& logged_;
    const OwnedGraph& built_;
    size_t name_width_;
    std::vector<TensorId> is_; ///< by logged tensor
    int64_t n_named_ = 0;
    std::string other_weight_;
};

/// The model's graph as the log's: under its names, with a tensor of its own for each place that a weight lies in.
class Filled {
public:
    Filled(const LoggedGraph& logged, const OwnedGraph& built, const Filling& is, size_t name_width)
        : logged_(logged), is_(logged.graph.tensors.size(), no_tensor), graph_(OwnedGraph::copy_of(built.view())) {
        for (TensorId id = 0; id < n_of(is_); ++id) {
            is_[id] = is[id];
        }
        add_twins();
        take_names(name_width);
        for (TensorInfo& t : graph_.tensors) { // that is another program's memory, and another user's wish
            t.buffer_type = no_buffer_type;
            t.user_backend = no_backend;
        }
    }

    const TensorInfo& tensor(TensorId id) const { return graph_.tensors[id]; }
    size_t n_tensors() const noexcept { return graph_.tensors.size(); }
    TensorId operator[](TensorId logged) const { return logged == no_tensor ? no_tensor : is_[logged]; }
    OwnedGraph graph() && { return std::move(graph_); }

private:
    /// A tied output: llama.cpp makes a second tensor of token_embd.weight on another device, where the model has one.
    void add_twins() {
        std::vector<TensorId> first(graph_.tensors.size(), no_tensor);
        std::map<std::pair<TensorId, BackendId>, TensorId> twins;
        std::vector<TensorId> twin_of(is_.size(), no_tensor);
        for (TensorId id = 0; id < n_of(is_); ++id) {
            const TensorId built = is_[id];
            if (built == no_tensor || graph_.tensors[built].usage != BufferUsage::weights || !graph_.tensors[built].is_leaf()) {
                continue;
            }
            if (first[built] == no_tensor) {
                first[built] = id;
            } else if (lie_apart(first[built], id)) {
                const auto [twin, is_new] = twins.try_emplace({built, logged_.placed[id].backend}, n_of(graph_.tensors));
                if (is_new) {
                    graph_.leafs.push_back(twin->second);
                    graph_.tensors.push_back(TensorInfo(graph_.tensors[built]));
                }
                twin_of[id] = twin->second;
            }
        }
        for (size_t i = 0; i < graph_.nodes.size() && !twins.empty(); ++i) {
            size_t slot = 0;
            for (TensorId& source : graph_.tensors[graph_.nodes[i]].src) {
                if (source != no_tensor) {
                    const auto& logged = logged_.graph.tensors[logged_.graph.nodes[i]].src;
                    const TensorId of_log = slot < logged.size() ? logged[slot++] : no_tensor;
                    if (of_log != no_tensor && twin_of[of_log] != no_tensor && is_[of_log] == source) {
                        source = twin_of[of_log];
                    }
                }
            }
        }
        for (TensorId id = 0; id < n_of(is_); ++id) {
            is_[id] = twin_of[id] != no_tensor ? twin_of[id] : is_[id];
        }
    }

    /// Node lines name their backends apart. What a split's header alone names has none.
    bool lie_apart(TensorId x, TensorId y) const {
        const auto is_input = [&](TensorId id) {
            return std::any_of(logged_.copies.begin(), logged_.copies.end(),
                               [id](const LoggedGraph::OneCopy& copy) { return copy.of == id; });
        };
        const auto is_placed = [&](TensorId id) { return logged_.placed[id].backend != no_backend || !is_input(id); };
        return logged_.placed[x].backend != logged_.placed[y].backend && is_placed(x) && is_placed(y);
    }

    /// Names that our builder gives otherwise are the log's, those of its nodes first. A cut name that the model's begins with
    /// says no more than that.
    void take_names(size_t name_width) {
        std::vector<bool> named(graph_.tensors.size(), false);
        const auto take = [&](TensorId id) {
            const std::string_view name = logged_.graph.tensors[id].name;
            if (is_[id] == no_tensor || name.empty() || named[is_[id]]) {
                return;
            }
            named[is_[id]] = true;
            std::string_view& known = graph_.tensors[is_[id]].name;
            if (name != known && !(name.size() >= name_width && known.starts_with(name))) {
                known = graph_.keep(name);
            }
        };
        std::for_each(logged_.graph.nodes.begin(), logged_.graph.nodes.end(), take);
        for (TensorId id = 0; id < n_of(is_); ++id) {
            take(id);
        }
    }

    const LoggedGraph& logged_;
    std::vector<TensorId> is_; ///< by logged tensor
    OwnedGraph graph_;
};

void replace_ids(LoggedGraph& logged, Filled is) {
    std::vector<LoggedGraph::Placed> placed(is.n_tensors());
    std::vector<std::optional<int64_t>> bytes(is.n_tensors());
    const auto take = [&](TensorId id) { // several of the log may be one
        LoggedGraph::Placed& place = placed[is[id]];
        if (place.backend == no_backend && !place.cause) {
            place = logged.placed[id];
            place.by = place.by ? std::optional(is[*place.by]) : std::nullopt;
            bytes[is[id]] = logged.bytes[id];
        }
    };
    std::for_each(logged.graph.nodes.begin(), logged.graph.nodes.end(), take); // whose own lines say it
    for (TensorId id = 0; id < n_of(logged.placed); ++id) {
        take(id);
    }
    logged.placed = std::move(placed);
    logged.bytes = std::move(bytes);
    for (LoggedGraph::OneSplit& split : logged.splits) {
        split.node = is[split.node];
        split.by = is[split.by];
        for (LoggedGraph::InputOfSplit& input : split.inputs) {
            input.tensor = is[input.tensor];
            input.first_reader = is[input.first_reader];
            input.bytes = static_cast<int64_t>(n_bytes(is.tensor(input.tensor)));
        }
    }
    for (LoggedGraph::OneCopy& copy : logged.copies) {
        copy.of = is[copy.of];
        copy.bytes = static_cast<int64_t>(n_bytes(is.tensor(copy.of)));
    }
    for (LoggedGraph::Rewiring& rewiring : logged.rewires) {
        rewiring.node = is[rewiring.node];
        int32_t slot = 0; // as the log counted it, which leaves out those that are not there
        for (int32_t at = 0; at < max_sources; ++at) {
            if (is.tensor(rewiring.node).src[at] != no_tensor && slot++ == rewiring.source) {
                rewiring.source = at;
                break;
            }
        }
    }
    logged.graph = std::move(is).graph();
}

} // namespace

std::optional<FilledIn> fill_in(LoggedGraph& logged, std::optional<int32_t> n_tokens, size_t name_width, ModelGraphs& model,
                                std::string& why_not) {
    const auto looks_up_tokens = [&](TensorId id) {
        const TensorInfo& t = logged.graph.tensors[id];
        return t.op == Op::GET_ROWS && t.src[0] != no_tensor &&
               logged.graph.tensors[t.src[0]].name.starts_with("token_embd.weight");
    };
    const auto& nodes = logged.graph.nodes;
    const auto embeddings = std::find_if(nodes.begin(), nodes.end(), looks_up_tokens);
    if (embeddings == nodes.end() || (!n_tokens && !logged.bytes[*embeddings])) {
        return std::nullopt;
    }
    int64_t least = n_tokens.value_or(1), most = n_tokens.value_or(1);
    if (!n_tokens) {
        const int64_t bytes = *logged.bytes[*embeddings], one = model.token_bytes();
        least = std::max<int64_t>((bytes + one - 1) / one, 1);
        most = std::min(accounts::most_logged_as(bytes) / one, least + most_attempts);
    }
    // Graphs that have to do with a prompt are also those of its decodes.
    const auto tokens_of = [&](const OwnedGraph& built, const Filling& filling) {
        return int_of((*built.tensors[filling[*embeddings]].ne)[1]);
    };
    const auto fits_also = [&](int32_t n, int32_t cells) {
        const std::vector<const OwnedGraph*>& graphs = model.graphs(n, cells);
        return std::any_of(graphs.begin(), graphs.end(), [&](const OwnedGraph* built) {
            Filling filling(logged, *built, name_width);
            return filling.fits() && tokens_of(*built, filling) == n;
        });
    };
    std::string other_weight, other_length;
    bool has_length = false; // a graph of the model has as many nodes
    for (int32_t cells = cell_step; cells <= std::max(std::min(most_cells, model.n_ctx_train()), cell_step); cells += cell_step) {
        for (auto n = int_of(least); n <= most; ++n) {
            for (const OwnedGraph* built : model.graphs(n, cells)) {
                Filling filling(logged, *built, name_width);
                if (filling.fits()) {
                    const int32_t tokens = tokens_of(*built, filling);
                    int32_t most_alike = tokens;
                    while (most_alike < most && fits_also(most_alike + 1, cells)) {
                        ++most_alike;
                    }
                    replace_ids(logged, Filled(logged, *built, filling, name_width));
                    return FilledIn{tokens, most_alike, filling.n_named()};
                }
                other_weight = filling.other_weight().empty() ? other_weight : filling.other_weight();
                has_length |= built->nodes.size() == nodes.size();
                other_length = "its graphs have " + words::counted(built->nodes.size(), "node") + ", the log's " +
                               words::count(nodes.size());
            }
        }
    }
    why_not = !other_weight.empty() || has_length ? other_weight : other_length;
    return std::nullopt;
}

} // namespace schedscope::import
