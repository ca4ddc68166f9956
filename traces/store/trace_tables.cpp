#include "traces/store/trace_tables.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"
#include "traces/format/kernel_times.h"
#include "traces/format/schema.h"
#include "traces/format/settings_table.h"
#include "traces/store/model_rows.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

std::span<const std::byte> bytes_of(const std::vector<uint8_t>& v) { return std::as_bytes(std::span(v)); }

/// Facts of the session that hold what the user wrote.
bool is_users_text(const std::string& key) { return key == "prompt" || key == "command"; }

} // namespace

TraceTables::TraceTables(sqlite::Database& database, bool texts, std::function<std::string(StringId)> text_of)
    : database_(&database), texts_(texts), text_of_(std::move(text_of)) {
    database_->execute("BEGIN");
    for (const schema::Entity& table : schema::tables()) {
        database_->execute(table.sql);
    }
    for (const schema::Entity& view : schema::views()) {
        database_->execute(view.sql);
    }
    words();
    database_->execute("INSERT INTO about VALUES ('writer', 'schedscope'), ('texts', " + std::to_string(texts ? 1 : 0) +
                       "), ('closed', 0)");
    database_->execute("PRAGMA application_id = " + std::to_string(schema::application_id));
    database_->execute("PRAGMA user_version = " + std::to_string(schema::user_version));
    knowledge({}); // until a session says that something is not known
    database_->execute("COMMIT");
}

void TraceTables::begin(sqlite::Database& database) {
    database_ = &database;
    for (size_t kind = 0; kind < std::variant_size_v<Fact>; ++kind) {
        insert_.push_back(insert(std::string(schema::table_of(kind))));
    }
    insert_text_ = insert("text");
    insert_evaluation_ = insert("evaluation");
    insert_graph_ = insert("graph");
    insert_tensor_ = insert("tensor");
    insert_edge_ = insert("edge");
    insert_answer_ = insert("answer");
    insert_capability_ = insert("capability");
    insert_kernel_ = insert("kernel");
    insert_part_ = insert("split_run");
}

HashedInsert TraceTables::insert(const std::string& table) { return {*database_, table, hashes_[table]}; }

void TraceTables::clear(const std::string& table) {
    database_->execute("DELETE FROM " + table);
    hashes_[table] = {};
}

void TraceTables::words() {
    clear("word");
    HashedInsert row = insert("word");
    const auto add = [&](const schema::Word& word) {
        row.bind_text(0, word.kind);
        row.bind(1, word.number);
        row.bind_text(2, word.word);
        row.run();
    };
    const std::vector<schema::Word> of_enumerations = schema::words();
    std::for_each(of_enumerations.begin(), of_enumerations.end(), add);
    for (const auto& [kind, own] : {std::pair{"op", &own_words_.first}, {"type", &own_words_.second}}) {
        for (size_t i = 0; i < own->size(); ++i) {
            add({kind, static_cast<int64_t>(i), (*own)[i]});
        }
    }
}

void TraceTables::session(const SessionInfo& info) {
    for (const char* table : {"meta", "backend", "buffer_type", "backend_buffer_type", "settings", "device_share",
                              "tensor_override", "laid_out_type"}) {
        clear(table); // a later call knows more
    }
    if (std::pair own(info.own_operators, info.own_types); own != own_words_) {
        own_words_ = std::move(own);
        words();
    }
    HashedInsert meta = insert("meta");
    int64_t position = 0;
    for (const auto& [key, value] : info.facts) {
        if (texts_ || !is_users_text(key)) {
            meta.bind(0, position++);
            meta.bind_text(1, key);
            meta.bind_text(2, value);
            meta.run();
        }
    }
    knowledge(info.knows);
    if (info.settings) {
        settings(*info.settings);
    }
    if (info.models && info.models != models_) {
        clear("model_value");
        clear("model_tensor");
        write_models(*info.models, insert("model_value"), insert("model_tensor"));
        models_ = info.models;
    }
    HashedInsert backend = insert("backend");
    HashedInsert uses = insert("backend_buffer_type");
    for (size_t b = 0; b < info.backends.size(); ++b) {
        const BackendInfo& i = info.backends[b];
        backend.bind(0, static_cast<int64_t>(b));
        backend.bind_text(1, i.name);
        backend.bind_text(2, i.device);
        i.kind ? backend.bind_text(3, *i.kind) : backend.bind_null(3);
        backend.bind_text(4, i.description);
        backend.bind(5, i.memory_bytes);
        backend.bind(6, i.default_buffer_type);
        i.kernel_times ? backend.bind_text(7, kernel_times_name(*i.kernel_times)) : backend.bind_null(7);
        backend.bind(8, i.keeps_order);
        backend.run();
        for (size_t t = 0; t < i.supports_buffer_type.size(); ++t) {
            if (i.supports_buffer_type[t] != 0) {
                uses.bind(0, static_cast<int64_t>(b));
                uses.bind(1, static_cast<int64_t>(t));
                uses.run();
            }
        }
    }
    HashedInsert type = insert("buffer_type");
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

void TraceTables::knowledge(const Knowledge& knows) {
    knows_ = knows;
    clear("knows");
    HashedInsert row = insert("knows");
    for (int i = 0; i < ordinal(Topic::count); ++i) {
        const auto topic = static_cast<Topic>(i);
        row.bind_text(0, topic_name(topic));
        row.bind(1, int64_t{knows.has(topic)});
        topic == Topic::times && !knows.closely.empty() ? row.bind_text(2, knows.closely) : row.bind_null(2);
        row.run();
    }
}

void TraceTables::settings(const PlanSettings& s) {
    HashedInsert row = insert("settings");
    int parameter = 0;
    for_each_setting(s, [&]<typename T>(const char*, const T& value, int64_t, int64_t) {
        const auto* const set = known(value);
        if (set == nullptr) {
            row.bind_null(parameter);
        } else if constexpr (is_word_setting<T>) {
            row.bind_text(parameter, word_of_setting(*set));
        } else {
            row.bind(parameter, int64_t{*set});
        }
        ++parameter;
    });
    row.run();
    HashedInsert share = insert("device_share");
    for (size_t i = 0; i < s.placement.tensor_split.size(); ++i) {
        share.bind(0, static_cast<int64_t>(i));
        share.bind(1, double{s.placement.tensor_split[i]});
        share.run();
    }
    HashedInsert override = insert("tensor_override");
    for (size_t i = 0; i < s.placement.overrides.size(); ++i) {
        override.bind(0, static_cast<int64_t>(i));
        override.bind_text(1, s.placement.overrides[i].pattern);
        override.bind_text(2, s.placement.overrides[i].device);
        override.run();
    }
    HashedInsert laid_out = insert("laid_out_type");
    for (size_t i = 0; i < s.laid_out.size(); ++i) {
        laid_out.bind(0, static_cast<int64_t>(i));
        laid_out.bind_text(1, type_name(s.laid_out[i].type));
        laid_out.bind(2, s.laid_out[i].rows);
        laid_out.bind(3, s.laid_out[i].longer_than);
        laid_out.bind(4, int64_t{s.laid_out[i].is_copy});
        laid_out.run();
    }
}

void TraceTables::graph(GraphId id, const OwnedGraph& graph, const CapabilityTable& answers) {
    insert_graph_.bind(0, int64_t{id});
    insert_graph_.bind(1, std::ssize(graph.tensors));
    insert_graph_.bind(2, std::ssize(graph.leafs));
    insert_graph_.bind(3, std::ssize(graph.nodes));
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
    HashedInsert& s = insert_tensor_;
    const auto bind_place = [&](int parameter, int64_t index) { index < 0 ? s.bind_null(parameter) : s.bind(parameter, index); };
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
        const TensorInfo& i = graph.tensors[t];
        const auto only_if = [&](Topic topic, int parameter, auto value) {
            knows_.has(topic) ? s.bind(parameter, static_cast<int64_t>(value)) : s.bind_null(parameter);
        };
        s.bind(0, int64_t{id});
        s.bind(1, static_cast<int64_t>(t));
        s.bind_text(2, i.name);
        i.op ? s.bind_text(3, op_name(i)) : s.bind_null(3);
        i.type ? s.bind_text(4, type_name(i)) : s.bind_null(4);
        only_if(Topic::buffers, 5, i.flags);
        const bool is_weight = i.usage == BufferUsage::weights; // a model says it, of a graph whose buffers nobody knows
        is_weight || knows_.has(Topic::buffers) ? s.bind_text(6, schema::usage_name(i.usage)) : s.bind_null(6);
        only_if(Topic::buffers, 7, i.buffer_type);
        only_if(Topic::buffers, 8, i.user_backend);
        bind_place(9, leaf[t]);
        bind_place(10, node[t]);
        only_if(Topic::shapes, 11, i.view_source);
        only_if(Topic::shapes, 12, i.view_offset);
        for (int d = 0; d < max_dims; ++d) {
            s.bind(13 + d, i.ne ? std::optional((*i.ne)[d]) : std::nullopt);
            s.bind(17 + d, i.nb ? std::optional((*i.nb)[d]) : std::nullopt);
        }
        if (!i.params) {
            s.bind_null(21);
        } else {
            s.bind_blob(21, *i.params == Params{} ? std::span<const std::byte>() : std::as_bytes(std::span(*i.params)));
        }
        knows_.has(Topic::shapes) ? s.bind_text(22, role_name(i.role)) : s.bind_null(22);
        only_if(Topic::shapes, 23, i.layer);
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
    // Two bytes an answer. Drivers have a few dozen details; of more than fit, reasons are kept without them.
    constexpr int64_t most = 0xFFFF - 64;
    auto key = std::make_tuple(a.yes, a.reason, std::string(a.detail));
    if (const auto found = answers_.find(key); found != answers_.end()) {
        return found->second;
    }
    if (std::ssize(answers_) > most && !a.detail.empty()) {
        return answer({a.yes, a.reason, {}});
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
    if (id <= 0 || (is_index(id, text_written_) && text_written_[id])) {
        return;
    }
    if (!is_index(id, text_written_)) {
        text_written_.resize(static_cast<size_t>(id) + 1);
    }
    text_written_[id] = true;
    const std::string value = text_of_(id);
    insert_text_.bind(0, int64_t{id});
    insert_text_.bind_text(1, value);
    insert_text_.run();
}

template <typename T> void TraceTables::bind_fields(HashedInsert& s, const T& fact) {
    int parameter = 3;
    for_each_field<T>([&](const auto& f) {
        using Value = typename std::remove_cvref_t<decltype(f)>::Value;
        const Value* value = known(fact.*f.member);
        if (value == nullptr) {
            s.bind_null(parameter);
        } else if constexpr (std::is_floating_point_v<Value>) {
            s.bind(parameter, *value); // NaN becomes NULL
        } else {
            if (f.meaning == Meaning::text) {
                text(static_cast<StringId>(*value));
            }
            s.bind(parameter, static_cast<int64_t>(*value));
        }
        ++parameter;
    });
}

void TraceTables::begin_evaluations(Step step, EvaluationId evaluation) {
    for (; n_evaluations_ <= evaluation; ++n_evaluations_) {
        insert_evaluation_.bind(0, int64_t{n_evaluations_});
        insert_evaluation_.bind(1, step);
        insert_evaluation_.run();
    }
}

/// A list is written when a row first names it: an evaluation of a reused plan names those of the one before.
int64_t TraceTables::list_number(const std::shared_ptr<const KernelList>& list) {
    constexpr size_t most_held = size_t{1} << 20; // kernels
    if (const auto known = lists_.find(list.get()); known != lists_.end()) {
        return known->second.number;
    }
    if ((n_held_ += 1 + list->size()) > most_held) {
        lists_.clear();
        n_held_ = list->size();
    }
    lists_[list.get()] = {list, ++n_lists_};
    HashedInsert& s = insert_kernel_;
    for (size_t i = 0; i < list->size(); ++i) {
        const KernelInfo& k = (*list)[i];
        text(k.kernel);
        int parameter = 0;
        for (const int64_t value : {n_lists_, static_cast<int64_t>(i), int64_t{k.first}, int64_t{k.last}, int64_t{k.count},
                                    int64_t{k.kernel}, k.bytes, k.flops}) {
            s.bind(parameter++, value);
        }
        s.run();
    }
    return n_lists_;
}

void TraceTables::part(const PartRecord& r) {
    const SplitPart& p = r.part;
    begin_evaluations(r.step, r.evaluation);
    HashedInsert& s = insert_part_;
    s.bind(0, r.step + r.n_records() - 1);
    s.bind(1, int64_t{r.evaluation});
    s.bind(2, r.time_ns);
    s.bind(3, int64_t{p.split});
    s.bind(4, int64_t{p.backend});
    s.bind(5, int64_t{p.last});
    s.bind(6, int64_t{p.device_time});
    p.kernels != nullptr ? s.bind(7, list_number(p.kernels)) : s.bind_null(7);
    s.bind(8, int64_t{p.first});
    s.bind(9, int64_t{p.count});
    s.bind(10, p.start_ns);
    s.bind(11, p.end_ns);
    if (p.times.empty()) {
        s.bind_null(12);
    } else {
        write_times(p.times, *p.start_ns, times_);
        s.bind_text(12, times_);
    }
    s.run();
}

void TraceTables::record(const Record& r) {
    begin_evaluations(r.step, r.evaluation);
    HashedInsert& s = insert_[r.fact.index()];
    s.bind(0, r.step);
    s.bind(1, int64_t{r.evaluation});
    s.bind(2, r.time_ns);
    std::visit(
        [&]<typename T>(const T& fact) {
            T kept = fact;
            if constexpr (std::is_same_v<T, record::NextToken>) {
                if (!texts_) {
                    kept.token.reset();
                    kept.text.reset();
                }
            } else if constexpr (std::is_same_v<T, record::UbatchToken>) {
                if (!texts_) {
                    kept.token.reset(); // ids are the text in another alphabet
                }
            }
            bind_fields(s, kept);
        },
        r.fact);
    s.run();
}

void TraceTables::closed() {
    database_->execute("BEGIN");
    database_->execute("UPDATE about SET value = 1 WHERE key = 'closed'");
    hashes_["about"] = hash_of_table(*database_, "about");
    write_hashes(*database_, hashes_);
    database_->execute("COMMIT");
}

} // namespace schedscope
