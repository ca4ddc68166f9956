#include "traces/import/stream/stream_graph.h"

#include "runtime/numbers.h"
#include "runtime/system/budget.h"
#include "traces/format/schema.h"
#include "traces/history/words/unknown.h"
#include "traces/store/reading/graph_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace schedscope::import {

namespace {

constexpr int64_t most_answers = int64_t{16} << 20; ///< about one graph

} // namespace

StreamGraph::StreamGraph(const StreamFields& f, int64_t most_tensors)
    : number_(f.needed("id", 0, std::numeric_limits<int64_t>::max())), n_tensors_(f.needed("n_tensors", 0, most_tensors)) {
    graph_.tensors.resize(n_tensors_);
    described_.resize(n_tensors_);
}

void StreamGraph::take(const StreamFields& f, UnknownWords& unknown) {
    f.kind() == "tensor" ? take_tensor(f, unknown) : f.kind() == "capability" ? take_capability(f) : take_answer(f, unknown);
}

void StreamGraph::take_tensor(const StreamFields& f, UnknownWords& unknown) {
    const auto number = [&](std::string_view name, int64_t least, int64_t most, int64_t otherwise, size_t at = 0) {
        return f.number(name, least, most, at).value_or(otherwise);
    };
    const int64_t last = n_tensors_ - 1;
    const TensorId id = int_of(next_ <= last ? number("id", 0, last, next_) : f.needed("id", 0, last));
    if (std::exchange(described_[id], 1) != 0) {
        throw Damage("id is " + std::to_string(id) + " again");
    }
    next_ = id + 1;
    TensorInfo& t = graph_.tensors[id];
    t.name = graph_.keep(f.text("name").value_or(std::string_view()));
    t.flags = static_cast<uint8_t>(number("flags", 0, 15, 0));
    t.usage = f.named("usage", schema::usage_from_name, unknown).value_or(t.usage);
    t.role = f.named("role", role_from_name, unknown).value_or(t.role);
    t.layer = int_of(number("layer", -1, most_layers, -1));
    t.buffer_type = narrow<BufferTypeId>(number("buffer_type", -1, most_backends - 1, no_buffer_type));
    t.user_backend = narrow<BackendId>(number("user_backend", -1, most_backends - 1, no_backend));
    t.view_source = int_of(number("view_source", -1, last, no_tensor));
    t.view_offset = number("view_offset", 0, most_tensor_bytes, 0);
    std::array<int64_t, max_sources> src;
    f.numbers("src", -1, last, src, no_tensor);
    std::transform(src.begin(), src.end(), t.src.begin(), int_of<int64_t>);
    std::array<int64_t, max_params> params;
    f.numbers("params", std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), params, 0);
    std::transform(params.begin(), params.end(), t.params->begin(), int_of<int64_t>);
    const int64_t leaf = number("leaf", -1, last, -1), node = number("node", -1, last, -1);
    if (leaf >= 0) {
        leafs_.emplace_back(leaf, id);
    }
    if (node >= 0) {
        nodes_.emplace_back(node, id);
    }

    constexpr int64_t left_out = -1;
    Shape ne;
    std::array<int64_t, max_dims> nb;
    f.numbers("ne", 0, most_tensor_bytes, ne, left_out);
    f.numbers("nb", 0, most_tensor_bytes, nb, left_out);
    ForeignWords foreign;
    t.op = node >= 0 ? std::nullopt : std::optional(Op::NONE);
    if (const auto op = f.text("op")) {
        t.op = known_or_foreign(op_from_name(*op), *op, foreign_op, foreign.op);
    }
    t.type.reset();
    if (const auto type = f.text("type")) {
        t.type = known_or_foreign(type_from_name(*type), *type, foreign_type, foreign.type);
    }
    check_foreign(foreign);
    t.foreign = graph_.keep(foreign);
    t.ne.reset();
    t.nb.reset();
    if (ne[0] != left_out) {
        std::replace(ne.begin(), ne.end(), left_out, int64_t{1});
        t.ne = ne;
        check_extent(t); // of the elements, before strides are made of them
        if (nb[0] != left_out) {
            Strides strides;
            for (int d = 0; d < max_dims; ++d) {
                nb[d] = nb[d] == left_out ? nb[d - 1] * ne[d - 1] : nb[d];
                strides[d] = nb[d];
            }
            t.nb = strides;
        } else if (t.type && foreign.type.empty()) {
            t.nb = contiguous_strides(*t.type, ne);
        }
    }
    check_extent(t);
}

/// Of the backend that a record is about.
StreamGraph::Answers& StreamGraph::answers_of(const StreamFields& f) {
    const auto backend = narrow<BackendId>(f.needed("backend", 0, most_backends - 1));
    const auto [found, is_new] = given_.try_emplace(backend);
    if (is_new) {
        if (std::ssize(given_) * n_tensors_ > most_answers) {
            throw Damage("there are more than " + std::to_string(most_answers) + " answers");
        }
        found->second.op.assign(n_tensors_, Answer::no(Refusal::not_asked, ""));
        found->second.offload.assign(n_tensors_, 0);
    }
    return found->second;
}

void StreamGraph::take_capability(const StreamFields& f) {
    Answers& given = answers_of(f);
    const size_t n = f.count("answers");
    if (static_cast<int64_t>(n) > n_tensors_) {
        throw Damage("there are " + std::to_string(n) + " answers about " + std::to_string(n_tensors_) + " tensors");
    }
    constexpr int64_t not_asked = -1;
    std::vector<int64_t> answers(n);
    f.numbers("answers", 0, 3, answers, not_asked);
    for (size_t t = 0; t < n; ++t) {
        if (answers[t] != not_asked) {
            given.op[t] = (answers[t] & 1) != 0 ? Answer{} : Answer::no(Refusal::none, "");
            given.offload[t] = (answers[t] & 2) != 0 ? 1 : 0;
        }
    }
}

void StreamGraph::take_answer(const StreamFields& f, UnknownWords& unknown) {
    Answer& answer = answers_of(f).op[f.needed("tensor", 0, n_tensors_ - 1)];
    const auto number = [](std::string_view word) { return schema::number_of(word_kind<Refusal>(), word); };
    const std::optional<int64_t> reason = f.named("reason", number, unknown);
    const std::string_view detail = f.text("detail").value_or(std::string_view());
    const bool yes = f.number("yes", 0, 1).value_or(0) != 0;
    answer = yes ? Answer{} : Answer::no(static_cast<Refusal>(reason.value_or(0)), detail);
}

void StreamGraph::settle(const SessionInfo& session) {
    const int64_t n = std::count(described_.begin(), described_.end(), 1), n_backends = std::ssize(session.backends);
    if (n != n_tensors_) {
        throw Damage("graph: of its " + std::to_string(n_tensors_) + " tensors " + std::to_string(n) + " are there");
    }
    for (const TensorInfo& t : graph_.tensors) {
        if (t.buffer_type >= std::ssize(session.buffer_types) || t.user_backend >= n_backends) {
            throw Damage("tensor: buffer_type is " + std::to_string(t.buffer_type) + ", user_backend is " +
                         std::to_string(t.user_backend));
        }
    }
    graph_.leafs = in_order({leafs_}, std::ssize(leafs_), "leaf");
    graph_.nodes = in_order({nodes_}, std::ssize(nodes_), "node");
    if (!given_.empty() && given_.rbegin()->first >= n_backends) {
        throw Damage("capability: backend is " + std::to_string(given_.rbegin()->first) + " of " + std::to_string(n_backends));
    }
    if (!given_.empty() && n_backends * n_tensors_ > most_answers) {
        throw Damage("capability: there are more than " + std::to_string(most_answers) + " answers");
    }
}

CapabilityTable StreamGraph::answers(const SessionInfo& session) const {
    CapabilityTable table;
    table.session = &session;
    if (given_.empty()) {
        return table;
    }
    table.n_tensors = int_of(n_tensors_);
    for (BackendId b = 0; b < n_of(session.backends); ++b) {
        if (const auto given = given_.find(b); given != given_.end()) {
            table.op_answers.insert(table.op_answers.end(), given->second.op.begin(), given->second.op.end());
            table.offload_answers.insert(table.offload_answers.end(), given->second.offload.begin(), given->second.offload.end());
        }
        table.op_answers.resize((b + 1) * n_tensors_, Answer::no(Refusal::not_asked, ""));
        table.offload_answers.resize((b + 1) * n_tensors_, 0);
    }
    return table;
}

} // namespace schedscope::import
