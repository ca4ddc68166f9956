#include "traces/store/reading/trace_index.h"

#include "traces/format/kernel_times.h"
#include "traces/format/schema.h"
#include "traces/store/model_rows.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <array>
#include <optional>

namespace schedscope {

namespace {

constexpr int64_t most_tensors = int64_t{1} << 28;
/// Any other record has a row of its own, which takes more.
constexpr int64_t least_record_bytes = least_bytes_of_times;

void read_settings(sqlite::Database& database, SessionInfo& session, KeptBytes& kept) {
    sqlite::Statement row(database, schema::select_settings());
    if (!row.step()) {
        return;
    }
    PlanSettings& s = session.settings.emplace();
    int column = 0;
    for_each_setting(s, [&]<typename T>(const char* name, T& value, int64_t least, int64_t most) {
        if (may_lack_setting<T> && row.is_null(column)) { // it stays so
        } else if constexpr (is_word_setting<T>) {
            value = take_word(row, column, name, setting_from_word<T>);
        } else {
            value = static_cast<SettingValue<T>>(take(row, column, least, most, name));
        }
        ++column;
    });

    sqlite::Statement shares(database, "SELECT share FROM device_share ORDER BY position");
    while (shares.step()) {
        const double share = shares.real(0);
        if (!is_share(share) || std::ssize(s.placement.tensor_split) >= most_backends) {
            throw Damage("a device's share is not one");
        }
        s.placement.tensor_split.push_back(static_cast<float>(share));
    }
    sqlite::Statement overrides(database, "SELECT pattern, device FROM tensor_override ORDER BY position");
    while (overrides.step()) {
        s.placement.overrides.push_back(
            {kept.text(overrides, 0, "an override's pattern"), kept.text(overrides, 1, "an override's device")});
    }
    sqlite::Statement laid_out(database, "SELECT type, rows, longer_than, is_copy FROM laid_out_type ORDER BY position");
    while (laid_out.step()) {
        const Type type = take_word(laid_out, 0, "a type that is laid out", type_from_name);
        if (s.laid_out.size() == most_laid_out) {
            throw Damage("more types are laid out than there are");
        }
        s.laid_out.push_back({type, take(laid_out, 1, 1, most_laid_out_rows, "how many rows are laid out together"),
                              take(laid_out, 2, 0, most_memory, "the length of rows that are not laid out"),
                              take(laid_out, 3, 0, 1, "whether what is laid out is a copy") != 0});
    }
}

/// Topics of a later version are no concern of ours; one that is missing is not known. But before 4.2 `memory` was about buffers,
/// too, and before 4.4 `order` about fusion, also of programs that do not say what they fuse.
void read_knowledge(sqlite::Database& database, Knowledge& knows, KeptBytes& kept) {
    std::array<std::optional<bool>, ordinal(Topic::count)> known;
    sqlite::Statement rows(database, "SELECT topic, known, closely FROM knows");
    while (rows.step()) {
        const std::string_view name = rows.bytes(0);
        for (size_t i = 0; i < known.size(); ++i) {
            if (name == topic_name(static_cast<Topic>(i))) {
                known[i] = take(rows, 1, 0, 1, "whether a topic is known") != 0;
            }
        }
        if (name == topic_name(Topic::times) && !rows.is_null(2)) {
            knows.closely = kept.text(rows, 2, "how closely times were taken");
        }
    }
    if (std::optional<bool>& buffers = known[ordinal(Topic::buffers)]; !buffers) {
        buffers = known[ordinal(Topic::memory)];
    }
    if (std::optional<bool>& fusion = known[ordinal(Topic::fusion)]; !fusion) {
        sqlite::Statement said(
            database,
            "SELECT EXISTS (SELECT * FROM fusion) OR EXISTS (SELECT * FROM not_fused) OR EXISTS (SELECT * FROM settings)");
        said.step();
        fusion = known[ordinal(Topic::order)].value_or(false) && said.integer(0) != 0;
    }
    for (size_t i = 0; i < known.size(); ++i) {
        if (!known[i].value_or(false)) {
            knows.lack(static_cast<Topic>(i));
        }
    }
}

void read_session(sqlite::Database& database, SessionInfo& session, KeptBytes& kept) {
    sqlite::Statement types(database, "SELECT id, name, is_host, alignment, max_size FROM buffer_type ORDER BY id");
    while (types.step()) {
        take(types, 0, session.buffer_types.size(), std::min<int64_t>(session.buffer_types.size(), most_backends),
             "the id of a buffer type");
        BufferTypeInfo type;
        type.name = kept.text(types, 1, "the name of a buffer type");
        type.is_host = take(types, 2, 0, 1, "is_host of a buffer type") != 0;
        type.alignment = take_known<int64_t>(types, 3, 1, most_alignment, "the alignment of a buffer type");
        type.max_size = take_known<int64_t>(types, 4, -1, most_memory, "the greatest size of a buffer type");
        session.buffer_types.push_back(std::move(type));
    }
    const int64_t n_types = session.buffer_types.size();

    sqlite::Statement backends(
        database,
        "SELECT id, name, device, kind, description, memory_bytes, default_buffer_type, kernel_times, keeps_order FROM backend "
        "ORDER BY id");
    while (backends.step()) {
        take(backends, 0, session.backends.size(), std::min<int64_t>(session.backends.size(), most_backends),
             "the id of a backend");
        BackendInfo backend;
        backend.name = kept.text(backends, 1, "the name of a backend");
        backend.device = kept.text(backends, 2, "the device of a backend");
        if (!backends.is_null(3)) {
            backend.kind = kept.text(backends, 3, "the kind of a backend");
        }
        backend.description = kept.text(backends, 4, "the description of a backend");
        backend.memory_bytes = take_known<int64_t>(backends, 5, 0, most_memory, "the memory of a backend");
        backend.default_buffer_type = take_known<BufferTypeId>(backends, 6, 0, n_types - 1, "the buffer type of a backend");
        if (!backends.is_null(7)) {
            backend.kernel_times = take_word(backends, 7, "how closely a backend was timed", kernel_times_from_name);
        }
        backend.keeps_order = take_known<bool>(backends, 8, 0, 1, "whether a backend keeps the planned order");
        backend.supports_buffer_type.assign(session.buffer_types.size(), 0);
        session.backends.push_back(std::move(backend));
    }
    const int64_t n_backends = session.backends.size();

    sqlite::Statement uses(database, "SELECT backend, buffer_type FROM backend_buffer_type");
    while (uses.step()) {
        const int64_t backend = take(uses, 0, 0, n_backends - 1, "a backend that uses a buffer type");
        const int64_t type = take(uses, 1, 0, n_types - 1, "a buffer type that a backend uses");
        session.backends[backend].supports_buffer_type[type] = 1;
    }

    sqlite::Statement words(database, "SELECT kind = 'op', word FROM word WHERE kind IN ('op', 'type') ORDER BY kind, number");
    while (words.step()) {
        auto& list = words.integer(0) != 0 ? session.own_operators : session.own_types;
        list.push_back(kept.text(words, 1, "a word of the program's own"));
    }

    read_knowledge(database, session.knows, kept);
    read_settings(database, session, kept);
    session.models = read_models(database, kept);
    sqlite::Statement facts(database, "SELECT key, value FROM meta ORDER BY position");
    while (facts.step()) {
        session.facts.emplace_back(kept.text(facts, 0, "a fact's name"), kept.text(facts, 1, "a fact"));
    }
}

int64_t one_number(sqlite::Database& database, const std::string& sql, int64_t otherwise) {
    sqlite::Statement statement(database, sql);
    return statement.step() ? statement.as_integer(0).value_or(otherwise) : otherwise;
}

} // namespace

TraceIndex read_index(sqlite::Database& database, int64_t bytes, KeptBytes& kept) {
    TraceIndex index;
    read_session(database, index.session, kept);
    index.closed = one_number(database, "SELECT value FROM about WHERE key = 'closed'", 0) == 1;
    index.last_text =
        static_cast<StringId>(std::clamp<int64_t>(one_number(database, "SELECT max(id) FROM text", 0), 0, INT32_MAX));
    for (size_t kind = 0; kind < std::variant_size_v<Fact>; ++kind) {
        const int64_t last = one_number(database, "SELECT max(step) FROM " + std::string(schema::table_of(kind)), -1);
        if (last < -1 || last >= bytes / least_record_bytes) {
            throw Damage("its last record is " + std::to_string(last));
        }
        index.n_steps = std::max(index.n_steps, last + 1);
    }

    sqlite::Statement evaluations(database, "SELECT id, first_step FROM evaluation ORDER BY id");
    while (evaluations.step()) {
        const int64_t next = index.evaluations.size();
        take(evaluations, 0, next, std::min<int64_t>(next, INT32_MAX), "the id of an evaluation");
        const Step least = index.evaluations.empty() ? 0 : index.evaluations.back();
        index.evaluations.push_back(take(evaluations, 1, least, index.n_steps, "the first record of an evaluation"));
    }
    if (index.evaluations.empty() ? index.n_steps != 0 : index.evaluations.front() != 0) {
        throw Damage("its first evaluation does not begin at the first record");
    }

    sqlite::Statement graphs(database, "SELECT id, n_tensors, n_leafs, n_nodes, EXISTS (SELECT 1 FROM capability WHERE graph = "
                                       "graph.id) FROM graph ORDER BY id");
    while (graphs.step()) {
        const int64_t next = index.graphs.size();
        take(graphs, 0, next, next, "the id of a graph");
        GraphSize size;
        size.n_tensors = take(graphs, 1, 0, most_tensors, "the number of a graph's tensors");
        size.n_leafs = take(graphs, 2, 0, size.n_tensors, "the number of a graph's leafs");
        size.n_nodes = take(graphs, 3, 0, size.n_tensors, "the number of a graph's nodes");
        size.answered = take(graphs, 4, 0, 1, "whether a graph has answers") != 0;
        index.graphs.push_back(size);
    }

    sqlite::Statement plans(database, "SELECT step, graph, n_stages FROM plan ORDER BY step");
    while (plans.step()) {
        TraceIndex::IndexedPlan plan;
        plan.step = take(plans, 0, 0, index.n_steps - 1, "a plan's record");
        plan.graph = static_cast<GraphId>(take(plans, 1, 0, index.graphs.size() - 1, "a plan's graph"));
        plan.n_stages = take_known<int32_t>(plans, 2, 1, most_stages, "a plan's number of stages").value_or(1);
        index.plans.push_back(plan);
    }
    return index;
}

Step TraceIndex::evaluation_end(EvaluationId id) const {
    const auto next = static_cast<size_t>(id) + 1;
    return next < evaluations.size() ? evaluations[next] : n_steps;
}

EvaluationId TraceIndex::evaluation_of(Step step) const {
    return static_cast<EvaluationId>(std::upper_bound(evaluations.begin(), evaluations.end(), step) - evaluations.begin()) - 1;
}

int TraceIndex::last_plan(Step first, Step before) const {
    const auto after =
        std::lower_bound(plans.begin(), plans.end(), before, [](const IndexedPlan& plan, Step step) { return plan.step < step; });
    if (after == plans.begin() || std::prev(after)->step < first) {
        return -1;
    }
    return static_cast<int>(after - plans.begin()) - 1;
}

Step TraceIndex::next_plan(Step step) const {
    const auto next = std::upper_bound(plans.begin(), plans.end(), step,
                                       [](Step wanted, const IndexedPlan& plan) { return wanted < plan.step; });
    return next == plans.end() ? n_steps : next->step;
}

} // namespace schedscope
