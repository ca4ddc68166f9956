#include "traces/trace_graphs.h"

#include "runtime/error.h"
#include "traces/schema.h"
#include "traces/trace_rows.h"

#include <cstring>

namespace schedscope {

namespace {

constexpr int64_t most_bytes = int64_t{1} << 46;
constexpr int64_t most_layers = int64_t{1} << 20;

BufferUsage usage_from(const std::string& name) {
    for (const BufferUsage usage : {BufferUsage::any, BufferUsage::weights, BufferUsage::compute}) {
        if (name == schema::usage_name(usage)) {
            return usage;
        }
    }
    throw Damage("the usage of a tensor's buffer is '" + name + "'");
}

Home home_from(const std::string& name) {
    for (const Home home : {Home::none, Home::layer, Home::layer_norm, Home::shared, Home::encoder, Home::host, Home::user}) {
        if (name == home_name(home)) {
            return home;
        }
    }
    throw Damage("the home of a tensor is '" + name + "'");
}

/// Sizes that no computation with strides overflows.
void check_extent(const TensorInfo& t) {
    __int128 elements = 1, bytes = static_cast<__int128>(traits(t.type).bytes);
    for (size_t d = 0; d < max_dims; ++d) {
        elements *= t.ne[d];
        bytes += static_cast<__int128>(t.ne[d]) * static_cast<__int128>(t.nb[d]);
        if (elements > most_bytes || bytes > most_bytes) {
            throw Damage("the extent of a tensor is beyond all memory");
        }
    }
    if (t.view_offset > static_cast<size_t>(most_bytes)) {
        throw Damage("the offset of a view is beyond all memory");
    }
}

/// The places that rows name in a list, made a list of once all rows are there: so nothing gets memory for more than the file holds.
class Places {
public:
    Places(int64_t size, const std::string& what) : size_(size), what_(what), place_("a place among the " + what + "s") {}

    void add(const sqlite::Statement& row, int column, TensorId id) {
        if (!row.is_null(column)) {
            named_.emplace_back(take(row, column, 0, size_ - 1, place_.c_str()), id);
        }
    }
    std::vector<TensorId> list() const {
        if (static_cast<int64_t>(named_.size()) < size_) {
            throw Damage("a " + what_ + " is missing");
        }
        std::vector<TensorId> list(static_cast<size_t>(size_), no_tensor);
        for (const auto& [place, id] : named_) {
            if (list[static_cast<size_t>(place)] != no_tensor) {
                throw Damage(place_ + " is taken twice");
            }
            list[static_cast<size_t>(place)] = id;
        }
        return list;
    }

private:
    int64_t size_;
    std::string what_, place_;
    std::vector<std::pair<int64_t, TensorId>> named_;
};

} // namespace

TraceGraphs::TraceGraphs(sqlite::Database& database, const TraceIndex& index) : database_(database), index_(index) {
    graphs_.resize(index.graphs.size());
    tables_.resize(index.graphs.size());
}

void TraceGraphs::check_id(GraphId id) const {
    if (id < 0 || static_cast<size_t>(id) >= graphs_.size()) {
        throw Error(ErrorKind::usage, "graph " + std::to_string(id) + ": there are " + std::to_string(graphs_.size()));
    }
}

const OwnedGraph& TraceGraphs::graph(GraphId id) {
    check_id(id);
    auto& entry = graphs_[static_cast<size_t>(id)];
    if (!entry) {
        try {
            entry = read_graph(id);
        } catch (const Damage& damage) {
            throw Damage("graph " + std::to_string(id) + ": " + damage.what());
        }
    }
    return *entry;
}

const CapabilityTable& TraceGraphs::answers(GraphId id) {
    check_id(id);
    auto& entry = tables_[static_cast<size_t>(id)];
    if (!entry) {
        try {
            entry = read_answers(id);
        } catch (const Damage& damage) {
            throw Damage("answers about graph " + std::to_string(id) + ": " + damage.what());
        }
    }
    return *entry;
}

std::unique_ptr<OwnedGraph> TraceGraphs::read_graph(GraphId id) {
    const TraceIndex::GraphSize& size = index_.graphs[static_cast<size_t>(id)];
    const int64_t n_types = static_cast<int64_t>(index_.session.buffer_types.size());
    const int64_t n_backends = static_cast<int64_t>(index_.session.backends.size());
    auto graph = std::make_unique<OwnedGraph>();

    sqlite::Statement rows(database_, "SELECT id, name, op, type, flags, usage, buffer_type, user_backend, leaf, node, "
                                      "view_source, view_offset, ne0, ne1, ne2, "
                                      "ne3, nb0, nb1, nb2, nb3, params, home, layer FROM tensor WHERE graph = ? ORDER BY id");
    rows.bind(0, int64_t{id});
    Places leafs(size.n_leafs, "leaf"), nodes(size.n_nodes, "node");
    while (rows.step()) {
        const auto next = static_cast<int64_t>(graph->tensors.size());
        take(rows, 0, next, std::min(next, size.n_tensors - 1), "the id of a tensor");
        TensorInfo t;
        t.name = graph->keep(take_text(rows, 1, "the name of a tensor"));
        const std::string op = take_text(rows, 2, "the operator of a tensor"), type = take_text(rows, 3, "the type of a tensor");
        const auto known_op = op_from_name(op);
        const auto known_type = type_from_name(type);
        if (!known_op || !known_type) {
            throw Damage("a tensor's " + (known_op ? "type is '" + type : "operator is '" + op) + "'");
        }
        t.op = *known_op;
        t.type = *known_type;
        t.flags = static_cast<uint8_t>(take(rows, 4, 0, 255, "the flags of a tensor"));
        t.usage = usage_from(take_text(rows, 5, "the usage of a tensor's buffer"));
        t.buffer_type = static_cast<BufferTypeId>(take(rows, 6, -1, n_types - 1, "the buffer type of a tensor"));
        t.user_backend = static_cast<BackendId>(take(rows, 7, -1, n_backends - 1, "the pinned backend of a tensor"));
        t.view_source = static_cast<TensorId>(take(rows, 10, -1, size.n_tensors - 1, "the source of a view"));
        t.view_offset = static_cast<size_t>(take(rows, 11, 0, most_bytes, "the offset of a view"));
        for (int d = 0; d < max_dims; ++d) {
            t.ne[static_cast<size_t>(d)] = take(rows, 12 + d, 0, most_bytes, "an extent of a tensor");
            t.nb[static_cast<size_t>(d)] = static_cast<size_t>(take(rows, 16 + d, 0, most_bytes, "a stride of a tensor"));
        }
        if (!rows.is_null(20)) {
            const std::string_view params = rows.bytes(20);
            if (params.size() != sizeof t.params) {
                throw Damage("the parameters of a tensor have " + std::to_string(params.size()) + " bytes");
            }
            std::memcpy(t.params.data(), params.data(), sizeof t.params);
        }
        t.home = home_from(take_text(rows, 21, "the home of a tensor"));
        t.layer = static_cast<int32_t>(take(rows, 22, -1, most_layers, "the layer of a tensor"));
        check_extent(t);
        leafs.add(rows, 8, static_cast<TensorId>(next));
        nodes.add(rows, 9, static_cast<TensorId>(next));
        graph->tensors.push_back(t);
    }
    if (static_cast<int64_t>(graph->tensors.size()) != size.n_tensors) {
        throw Damage("a tensor is missing");
    }
    graph->leafs = leafs.list();
    graph->nodes = nodes.list();

    sqlite::Statement edges(database_, "SELECT tensor, slot, source FROM edge WHERE graph = ? ORDER BY tensor, slot");
    edges.bind(0, int64_t{id});
    while (edges.step()) {
        const int64_t tensor = take(edges, 0, 0, size.n_tensors - 1, "the tensor of an edge");
        const int64_t slot = take(edges, 1, 0, max_sources - 1, "the slot of an edge");
        graph->tensors[static_cast<size_t>(tensor)].src[static_cast<size_t>(slot)] =
            static_cast<TensorId>(take(edges, 2, 0, size.n_tensors - 1, "the source of an edge"));
    }
    return graph;
}

void TraceGraphs::read_answer_texts() {
    std::vector<Answer> answers;
    sqlite::Statement rows(database_, "SELECT id, yes, reason, detail FROM answer ORDER BY id");
    while (rows.step()) {
        const auto next = static_cast<int64_t>(answers.size());
        take(rows, 0, next, std::min<int64_t>(next, 0xFFFF), "the id of an answer");
        Answer answer;
        answer.yes = take(rows, 1, 0, 1, "an answer") != 0;
        answer.reason =
            static_cast<Refusal>(take(rows, 2, 0, static_cast<int64_t>(greatest<Refusal>()), "the reason of an answer"));
        answer.detail = details_.emplace_back(take_text(rows, 3, "the detail of an answer"));
        answers.push_back(answer);
    }
    answers_ = std::move(answers);
}

std::unique_ptr<CapabilityTable> TraceGraphs::read_answers(GraphId id) {
    if (!answers_) {
        read_answer_texts();
    }
    const auto n = static_cast<size_t>(graph(id).tensors.size());
    auto table = std::make_unique<CapabilityTable>();
    table->session = &index_.session;
    sqlite::Statement rows(database_, "SELECT backend, answers, offload FROM capability WHERE graph = ? ORDER BY backend");
    rows.bind(0, int64_t{id});
    size_t n_rows = 0;
    while (rows.step()) {
        take(rows, 0, static_cast<int64_t>(n_rows),
             std::min<int64_t>(static_cast<int64_t>(n_rows), static_cast<int64_t>(index_.session.backends.size()) - 1),
             "the backend of an answer");
        const std::string_view answers = rows.bytes(1), offload = rows.bytes(2);
        if (answers.size() != 2 * n || offload.size() != n) {
            throw Damage("there are " + std::to_string(answers.size() / 2) + " for " + std::to_string(n) + " tensors");
        }
        for (size_t t = 0; t < n; ++t) {
            const size_t number =
                static_cast<uint8_t>(answers[2 * t]) | static_cast<size_t>(static_cast<uint8_t>(answers[2 * t + 1])) << 8;
            if (number >= answers_->size()) {
                throw Damage("answer " + std::to_string(number) + " is unknown");
            }
            table->op_answers.push_back((*answers_)[number]);
            table->offload_answers.push_back(offload[t] != 0 ? 1 : 0);
        }
        ++n_rows;
    }
    if (n_rows != 0 && n_rows != index_.session.backends.size()) {
        throw Damage("those of some backends are missing");
    }
    table->n_tensors = n_rows == 0 ? 0 : static_cast<int32_t>(n); // a trace made from a log has none
    return table;
}

} // namespace schedscope
