#include "traces/store/reading/trace_graphs.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/store/reading/graph_rows.h"
#include "traces/store/reading/trace_rows.h"

#include <array>

namespace schedscope {

TraceGraphs::TraceGraphs(TraceConnections& connections, const TraceIndex& index, KeptBytes& kept)
    : connections_(connections), database_(connections.first().file.database), index_(index), kept_(kept) {
    graphs_.resize(index.graphs.size());
    tables_.resize(index.graphs.size());
}

void TraceGraphs::check_id(GraphId id) const {
    if (!is_index(id, graphs_)) {
        throw Error(ErrorKind::usage, "graph " + std::to_string(id) + ": there are " + std::to_string(graphs_.size()));
    }
}

template <typename T, typename Read>
const T& TraceGraphs::once(std::vector<std::unique_ptr<T>>& kept, GraphId id, const char* what, const Read& read) {
    check_id(id);
    auto& entry = kept[id];
    if (!entry) {
        try {
            entry = read();
        } catch (const Damage& damage) {
            throw Damage(what + std::to_string(id) + ": " + damage.what());
        }
    }
    return *entry;
}

const OwnedGraph& TraceGraphs::graph(GraphId id) {
    return once(graphs_, id, "graph ", [&] { return read_graph(id); });
}

const CapabilityTable& TraceGraphs::answers(GraphId id) {
    return once(tables_, id, "answers about graph ", [&] { return read_answers(id); });
}

namespace {

constexpr int64_t tensors_worth_halving = 2048; ///< tensors; fewer are read sooner than another thread has begun

} // namespace

std::unique_ptr<OwnedGraph> TraceGraphs::read_graph(GraphId id) {
    const GraphSize& size = index_.graphs[id];
    // A number in a table alone gets no memory.
    if (size.n_tensors * GraphRows::least_bytes > connections_.first().file.bytes()) {
        throw Damage("a tensor is missing");
    }
    auto graph = std::make_unique<OwnedGraph>();
    graph->tensors.resize(size.n_tensors);
    std::vector<std::string> names(graph->tensors.size());
    const GraphRows rows(index_, id, kept_);
    std::array<GraphRows::Lists, 2> lists; // of either half
    const auto read = [&](TraceConnection& connection, int64_t first, int64_t end) {
        lists[first == 0 ? 0 : 1] = rows.read(connection.file.database, first, end, graph->tensors, names);
    };
    connections_.in_halves(0, size.n_tensors, tensors_worth_halving, read);
    size_t name_bytes = 0;
    for (size_t i = 0; i < names.size(); ++i) {
        graph->tensors[i].name = graph->keep(names[i]);
        name_bytes += names[i].size();
    }
    for (GraphRows::Lists& half : lists) {
        for (auto& [id, words] : half.foreign) {
            graph->tensors[id].foreign = graph->keep(std::move(words));
        }
    }
    graph->leafs = in_order({lists[0].leafs, lists[1].leafs}, size.n_leafs, "leaf");
    graph->nodes = in_order({lists[0].nodes, lists[1].nodes}, size.n_nodes, "node");
    kept_.add(name_bytes);
    return graph;
}

void TraceGraphs::read_answer_texts() {
    std::vector<Answer> answers;
    std::deque<std::string> details;
    size_t detail_bytes = 0;
    sqlite::Statement rows(database_, "SELECT id, yes, reason, detail FROM answer ORDER BY id");
    while (rows.step()) {
        const int64_t next = answers.size();
        take(rows, 0, next, std::min<int64_t>(next, 0xFFFF), "the id of an answer");
        Answer answer;
        answer.yes = take(rows, 1, 0, 1, "an answer") != 0;
        answer.reason =
            static_cast<Refusal>(take(rows, 2, 0, static_cast<int64_t>(greatest<Refusal>()), "the reason of an answer"));
        answer.detail = details.emplace_back(take_text(rows, 3, "the detail of an answer"));
        kept_.check(detail_bytes += answer.detail.size());
        answers.push_back(answer);
    }
    kept_.add(detail_bytes);
    details_ = std::move(details);
    answers_ = std::move(answers);
}

std::unique_ptr<CapabilityTable> TraceGraphs::read_answers(GraphId id) {
    if (!answers_) {
        read_answer_texts();
    }
    const size_t n = graph(id).tensors.size();
    auto table = std::make_unique<CapabilityTable>();
    table->session = &index_.session;
    sqlite::Statement rows(database_, "SELECT backend, answers, offload FROM capability WHERE graph = ? ORDER BY backend");
    rows.bind(0, int64_t{id});
    size_t n_rows = 0, bytes = 0;
    while (rows.step()) {
        take(rows, 0, n_rows, std::min<int64_t>(n_rows, index_.session.backends.size() - 1), "the backend of an answer");
        const std::string_view answers = rows.bytes(1), offload = rows.bytes(2);
        if (answers.size() != 2 * n || offload.size() != n) {
            throw Damage("there are " + std::to_string(answers.size() / 2) + " for " + std::to_string(n) + " tensors");
        }
        kept_.check(bytes += answers.size() + offload.size());
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
    if (n_rows != 0 &&
        n_rows < index_.session.backends.size()) { // backends that were met later, and never asked about this graph
        const size_t missing = index_.session.backends.size() - n_rows;
        kept_.check(bytes += missing * n);
        table->op_answers.resize(table->op_answers.size() + missing * n, Answer::no(Refusal::not_asked, ""));
        table->offload_answers.resize(table->offload_answers.size() + missing * n, 0);
    }
    kept_.add(bytes);
    table->n_tensors = n_rows == 0 ? 0 : static_cast<int32_t>(n); // a trace made from a log has none
    return table;
}

} // namespace schedscope
