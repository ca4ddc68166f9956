#include "traces/store/trace_tables.h"

#include "traces/format/fields.h"
#include "traces/format/schema.h"

#include <array>

namespace schedscope {

namespace {

std::span<const std::byte> bytes_of(const std::vector<uint8_t>& v) { return std::as_bytes(std::span(v)); }

/// Facts of the session that hold what the user wrote.
bool is_users_text(const std::string& key) { return key == "prompt" || key == "command"; }

} // namespace

TraceTables::TraceTables(sqlite::Database& database, bool texts, std::function<std::string(StringId)> text_of)
    : database_(database), texts_(texts), text_of_(std::move(text_of)) {
    database_.execute("BEGIN");
    for (const schema::Entity& table : schema::tables()) {
        database_.execute(table.sql);
    }
    for (const schema::Entity& view : schema::views()) {
        database_.execute(view.sql);
    }
    sqlite::Statement word(database_, "INSERT INTO word VALUES (?, ?, ?)");
    for (const schema::Word& w : schema::words()) {
        word.bind_text(0, w.kind);
        word.bind(1, w.number);
        word.bind_text(2, w.word);
        word.run();
    }
    database_.execute("INSERT INTO about VALUES ('writer', 'schedscope'), ('texts', " + std::to_string(texts ? 1 : 0) +
                      "), ('closed', 0)");
    database_.execute("PRAGMA application_id = " + std::to_string(schema::application_id));
    database_.execute("PRAGMA user_version = " + std::to_string(schema::user_version));
    database_.execute("COMMIT");

    for (size_t kind = 0; kind < std::variant_size_v<Fact>; ++kind) {
        insert_.emplace_back(database_, schema::insert_record(kind));
    }
    insert_text_ = {database_, "INSERT INTO text VALUES (?, ?)"};
    insert_evaluation_ = {database_, "INSERT INTO evaluation VALUES (?, ?)"};
    insert_graph_ = {database_, "INSERT INTO graph VALUES (?, ?, ?, ?)"};
    insert_tensor_ = {database_,
                      "INSERT INTO tensor VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    insert_edge_ = {database_, "INSERT INTO edge VALUES (?, ?, ?, ?)"};
    insert_answer_ = {database_, "INSERT INTO answer VALUES (?, ?, ?, ?)"};
    insert_capability_ = {database_, "INSERT INTO capability VALUES (?, ?, ?, ?)"};
}

void TraceTables::session(const SessionInfo& info) {
    for (const char* table : {"meta", "backend", "buffer_type", "backend_buffer_type"}) {
        database_.execute(std::string("DELETE FROM ") + table); // a later call knows more
    }
    sqlite::Statement meta(database_, "INSERT INTO meta VALUES (?, ?, ?)");
    int64_t position = 0;
    for (const auto& [key, value] : info.facts) {
        if (texts_ || !is_users_text(key)) {
            meta.bind(0, position++);
            meta.bind_text(1, key);
            meta.bind_text(2, value);
            meta.run();
        }
    }
    sqlite::Statement backend(database_, "INSERT INTO backend VALUES (?, ?, ?, ?, ?, ?, ?)");
    sqlite::Statement uses(database_, "INSERT INTO backend_buffer_type VALUES (?, ?)");
    for (size_t b = 0; b < info.backends.size(); ++b) {
        const BackendInfo& i = info.backends[b];
        backend.bind(0, static_cast<int64_t>(b));
        backend.bind_text(1, i.name);
        backend.bind_text(2, i.device);
        backend.bind_text(3, i.kind);
        backend.bind_text(4, i.description);
        backend.bind(5, i.memory_bytes);
        backend.bind(6, static_cast<int64_t>(i.default_buffer_type));
        backend.run();
        for (size_t t = 0; t < i.supports_buffer_type.size(); ++t) {
            if (i.supports_buffer_type[t] != 0) {
                uses.bind(0, static_cast<int64_t>(b));
                uses.bind(1, static_cast<int64_t>(t));
                uses.run();
            }
        }
    }
    sqlite::Statement type(database_, "INSERT INTO buffer_type VALUES (?, ?, ?, ?, ?)");
    for (size_t t = 0; t < info.buffer_types.size(); ++t) {
        const BufferTypeInfo& i = info.buffer_types[t];
        type.bind(0, static_cast<int64_t>(t));
        type.bind_text(1, i.name);
        type.bind(2, int64_t{i.is_host});
        type.bind(3, i.alignment);
        type.bind(4, i.max_size);
        type.run();
    }
}

void TraceTables::graph(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers) {
    insert_graph_.bind(0, int64_t{id});
    insert_graph_.bind(1, static_cast<int64_t>(graph.tensors.size()));
    insert_graph_.bind(2, static_cast<int64_t>(graph.leafs.size()));
    insert_graph_.bind(3, static_cast<int64_t>(graph.nodes.size()));
    insert_graph_.run();
    tensors(id, graph);
    capabilities(id, answers);
}

void TraceTables::tensors(GraphId id, const OwnedGraph& graph) {
    std::vector<int64_t> leaf(graph.tensors.size(), -1), node(graph.tensors.size(), -1);
    for (size_t i = 0; i < graph.leafs.size(); ++i) {
        leaf[graph.leafs[i]] = i;
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
        node[graph.nodes[i]] = i;
    }
    sqlite::Statement& s = insert_tensor_;
    const auto bind_place = [&](int parameter, int64_t index) { index < 0 ? s.bind_null(parameter) : s.bind(parameter, index); };
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
        const TensorInfo& i = graph.tensors[t];
        s.bind(0, int64_t{id});
        s.bind(1, static_cast<int64_t>(t));
        s.bind_text(2, i.name);
        s.bind_text(3, op_name(i.op));
        s.bind_text(4, type_name(i.type));
        s.bind(5, int64_t{i.flags});
        s.bind_text(6, schema::usage_name(i.usage));
        s.bind(7, int64_t{i.buffer_type});
        s.bind(8, int64_t{i.user_backend});
        bind_place(9, leaf[t]);
        bind_place(10, node[t]);
        s.bind(11, int64_t{i.view_source});
        s.bind(12, static_cast<int64_t>(i.view_offset));
        for (int d = 0; d < max_dims; ++d) {
            s.bind(13 + d, i.ne[d]);
            s.bind(17 + d, static_cast<int64_t>(i.nb[d]));
        }
        if (i.params == Params{}) {
            s.bind_null(21);
        } else {
            s.bind_blob(21, std::as_bytes(std::span(i.params)));
        }
        s.bind_text(22, home_name(i.home));
        s.bind(23, int64_t{i.layer});
        s.run();
        for (size_t slot = 0; slot < i.src.size(); ++slot) {
            if (i.src[slot] >= 0) {
                insert_edge_.bind(0, int64_t{id});
                insert_edge_.bind(1, static_cast<int64_t>(t));
                insert_edge_.bind(2, static_cast<int64_t>(slot));
                insert_edge_.bind(3, int64_t{i.src[slot]});
                insert_edge_.run();
            }
        }
    }
}

void TraceTables::capabilities(GraphId id, const CapabilityTable& table) {
    const size_t n = table.n_tensors;
    for (size_t first = 0; n > 0 && first + n <= table.op_answers.size(); first += n) {
        std::vector<uint8_t> answers(2 * n);
        std::vector<uint8_t> offload(table.offload_answers.begin() + first, table.offload_answers.begin() + (first + n));
        const Answer* last = nullptr;
        int64_t number = 0;
        for (size_t t = 0; t < n; ++t) {
            const Answer& a = table.op_answers[first + t];
            const bool same = last != nullptr && a.yes == last->yes && a.reason == last->reason &&
                              a.detail.data() == last->detail.data() && a.detail.size() == last->detail.size();
            number = same ? number : answer(a);
            last = &a;
            answers[2 * t] = static_cast<uint8_t>(number & 0xFF);
            answers[2 * t + 1] = static_cast<uint8_t>(number >> 8);
        }
        insert_capability_.bind(0, int64_t{id});
        insert_capability_.bind(1, static_cast<int64_t>(first / n));
        insert_capability_.bind_blob(2, bytes_of(answers));
        insert_capability_.bind_blob(3, bytes_of(offload));
        insert_capability_.run();
    }
}

int64_t TraceTables::answer(const Answer& a) {
    constexpr int64_t most = 0xFFFF; // two bytes an answer; the reason's details are constants of the drivers, a few dozen
    auto key = std::make_tuple(a.yes, a.reason, std::string(a.detail));
    if (const auto found = answers_.find(key); found != answers_.end()) {
        return found->second;
    }
    if (static_cast<int64_t>(answers_.size()) > most) {
        throw sqlite::Failure(0, "more than " + std::to_string(most) + " different answers of backends");
    }
    const int64_t number = answers_.size();
    answers_.emplace(std::move(key), number);
    insert_answer_.bind(0, number);
    insert_answer_.bind(1, int64_t{a.yes});
    insert_answer_.bind(2, static_cast<int64_t>(a.reason));
    insert_answer_.bind_text(3, a.detail);
    insert_answer_.run();
    return number;
}

/// Texts are written when a record first speaks of them: so what is left out of the records is not in the file either.
void TraceTables::text(StringId id) {
    if (id <= 0 || (static_cast<size_t>(id) < text_written_.size() && text_written_[id])) {
        return;
    }
    if (text_written_.size() <= static_cast<size_t>(id)) {
        text_written_.resize(static_cast<size_t>(id) + 1);
    }
    text_written_[id] = true;
    const std::string value = text_of_(id);
    insert_text_.bind(0, int64_t{id});
    insert_text_.bind_text(1, value);
    insert_text_.run();
}

template <typename T> void TraceTables::bind_fields(sqlite::Statement& s, const T& fact) {
    int parameter = 3;
    for_each_field<T>([&](const auto& f) {
        using Value = typename std::remove_cvref_t<decltype(f)>::Value;
        const Value value = fact.*f.member;
        if constexpr (std::is_floating_point_v<Value>) {
            s.bind(parameter, value); // NaN becomes NULL
        } else {
            if (f.meaning == Meaning::text) {
                text(static_cast<StringId>(value));
            }
            s.bind(parameter, static_cast<int64_t>(value));
        }
        ++parameter;
    });
}

void TraceTables::record(const Record& r) {
    for (; n_evaluations_ <= r.evaluation; ++n_evaluations_) {
        insert_evaluation_.bind(0, int64_t{n_evaluations_});
        insert_evaluation_.bind(1, r.step);
        insert_evaluation_.run();
    }
    sqlite::Statement& s = insert_[r.fact.index()];
    s.bind(0, r.step);
    s.bind(1, int64_t{r.evaluation});
    s.bind(2, r.time_ns);
    std::visit(
        [&]<typename T>(const T& fact) {
            T kept = fact;
            if constexpr (std::is_same_v<T, record::NextToken>) {
                if (!texts_) {
                    kept.token = -1;
                    kept.text = 0;
                }
            } else if constexpr (std::is_same_v<T, record::UbatchToken>) {
                kept.token = texts_ ? kept.token : -1; // ids are the text in another alphabet
            }
            bind_fields(s, kept);
        },
        r.fact);
    s.run();
}

void TraceTables::closed() { database_.execute("UPDATE about SET value = 1 WHERE key = 'closed'"); }

} // namespace schedscope
