#include "traces/reader.h"

#include "runtime/error.h"
#include "traces/schema.h"
#include "traces/trace_file.h"
#include "traces/trace_graphs.h"
#include "traces/trace_index.h"
#include "traces/trace_rows.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <sqlite3.h>
#include <unordered_map>

namespace schedscope {

namespace {

constexpr size_t n_kinds = std::variant_size_v<Fact>;
constexpr int64_t farthest_time = int64_t{1} << 61; ///< differences can be computed
constexpr Step largest_read = Step{1} << 16;        ///< records that are read in one go

} // namespace

struct TraceReader::State {
    explicit State(const std::string& p)
        : path(p), file(open_trace_file(p)), index(guarded([&] { return read_index(file.database); })),
          graphs(file.database, index) {
        if (!index.closed && file.notes.empty()) {
            file.notes.push_back("was not closed; what had been committed is shown");
        }
    }

    /// Runs something that reads, with errors as Error(input).
    template <typename F> std::invoke_result_t<F> guarded(F&& f) {
        try {
            return f();
        } catch (const sqlite::Failure& failure) {
            refuse(path, failure);
        } catch (const Damage& damage) {
            refuse(path, std::string("is damaged: ") + damage.what());
        }
    }
    template <typename F> std::invoke_result_t<F> locked(F&& f) {
        const std::lock_guard lock(mutex);
        return guarded(std::forward<F>(f));
    }

    void read_chunk(Step first, Step end, Wanted wanted, std::vector<Record>& out);
    template <typename T> void take_whole(const sqlite::Statement& row, Record& record);
    template <typename T> void take_names(const sqlite::Statement& row, Record& record);
    void check(std::vector<Record>& records, size_t from, bool names_only);
    Bounds bounds_at(Step step);
    int plan_at(Step step);
    int64_t n_ids(int plan);
    EvaluationSpan span(EvaluationId id);
    const std::string* find_text(StringId id);
    int64_t number(const std::string& sql);
    Step extreme(Step from, FactSet kinds, bool next);
    /// Of a kind; `sql()` when it is first used.
    template <typename F> sqlite::Statement& statement(std::vector<sqlite::Statement>& list, size_t kind, F&& sql);
    sqlite::Statement& rows_of(size_t kind) {
        return statement(select, kind, [&] { return schema::select_records(kind, file.minor); });
    }
    sqlite::Statement& names_of(size_t kind) {
        return statement(select_names, kind, [&] { return schema::select_names(kind, file.minor); });
    }

    const std::string path;
    mutable std::mutex mutex; ///< guards all below
    TraceFile file;
    TraceIndex index;
    TraceGraphs graphs;
    std::vector<sqlite::Statement> select{n_kinds}, select_names{n_kinds}, next{n_kinds}, previous{n_kinds};
    sqlite::Statement count_copies, select_text;
    std::unordered_map<StringId, std::string> texts; ///< nodes keep their addresses
    std::unordered_map<EvaluationId, EvaluationSpan> spans;
};

template <typename F>
sqlite::Statement& TraceReader::State::statement(std::vector<sqlite::Statement>& list, size_t kind, F&& sql) {
    if (list[kind].n_columns() == 0) {
        list[kind] = sqlite::Statement(file.database, sql());
    }
    list[kind].reset();
    return list[kind];
}

template <typename T> void TraceReader::State::take_whole(const sqlite::Statement& row, Record& record) {
    record.evaluation =
        static_cast<EvaluationId>(take(row, 1, 0, static_cast<int64_t>(index.evaluations.size()) - 1, "evaluation"));
    record.time_ns = take(row, 2, -farthest_time, farthest_time, "time_ns");
    T& fact = record.fact.emplace<T>();
    int column = 3;
    for_each_field<T>([&](const auto& f) { fact.*f.member = take_field(row, column++, f); });
}

template <typename T> void TraceReader::State::take_names(const sqlite::Statement& row, Record& record) {
    T& fact = record.fact.emplace<T>();
    int column = 1;
    for_each_field<T>([&](const auto& f) {
        if (schema::names_something(f)) {
            fact.*f.member = take_field(row, column++, f);
        }
    });
}

void TraceReader::State::read_chunk(Step first, Step end, Wanted wanted, std::vector<Record>& out) {
    const size_t base = out.size();
    const auto n = static_cast<size_t>(end - first);
    out.resize(base + n);
    std::vector<bool> there(n);
    size_t n_there = 0;
    for_each_kind([&]<typename T>(size_t kind) {
        if ((wanted.kinds >> kind & 1) == 0) {
            return;
        }
        sqlite::Statement& rows = wanted.names_only ? names_of(kind) : rows_of(kind);
        rows.bind(0, first);
        rows.bind(1, end);
        while (rows.step()) {
            const Step step = take(rows, 0, first, end - 1, "a record's step");
            try {
                const auto at = static_cast<size_t>(step - first);
                if (there[at]) {
                    throw Damage("it is there twice");
                }
                there[at] = true;
                ++n_there;
                Record& r = out[base + at];
                r.step = step;
                wanted.names_only ? take_names<T>(rows, r) : take_whole<T>(rows, r);
            } catch (const Damage& damage) {
                throw Damage("record " + std::to_string(step) + " (" + Kind<T>::table + "): " + damage.what());
            }
        }
        rows.reset();
    });
    if (wanted.kinds == every_fact && n_there != n) {
        const auto hole = static_cast<Step>(std::find(there.begin(), there.end(), false) - there.begin());
        throw Damage("record " + std::to_string(first + hole) + " is missing");
    }
    if (n_there != n) {
        size_t to = base;
        for (size_t i = 0; i < n; ++i) {
            if (there[i]) {
                out[to++] = out[base + i];
            }
        }
        out.resize(to);
    }
    check(out, base, wanted.names_only);
}

void TraceReader::State::check(std::vector<Record>& records, size_t from, bool names_only) {
    Bounds bounds;
    Step until = -1; // bounds hold up to here
    for (size_t i = from; i < records.size(); ++i) {
        const Record& r = records[i];
        try {
            if (r.step >= until) {
                bounds = bounds_at(r.step);
                until = std::min(index.evaluation_end(index.evaluation_of(r.step)), index.next_plan(r.step));
            }
            check_bounds(r, bounds);
            if (names_only) {
                continue;
            }
            check_sense(r, bounds);
            std::visit(
                [&]<typename T>(const T& fact) {
                    for_each_field<T>([&](const auto& f) {
                        if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(f)>::Value, StringId>) {
                            if (f.meaning == Meaning::text && find_text(fact.*f.member) == nullptr) {
                                throw Damage(std::string(f.name) + " is text " + std::to_string(fact.*f.member) +
                                             ", which is not there");
                            }
                        }
                    });
                },
                r.fact);
        } catch (const Damage& damage) {
            throw Damage("record " + std::to_string(r.step) + " (" + std::string(fact_name(r.fact)) + "): " + damage.what());
        }
    }
}

/// The plan that a record speaks of: the last one begun before it in its evaluation, else the last one of the evaluation whose plan is run.
int TraceReader::State::plan_at(Step step) {
    const EvaluationId evaluation = index.evaluation_of(step);
    const Step first = index.evaluations[static_cast<size_t>(evaluation)];
    if (const int own = index.last_plan(first, step + 1); own >= 0) {
        return own;
    }
    const EvaluationId planned = span(evaluation).begin.planned_in;
    return planned == evaluation
               ? -1
               : index.last_plan(index.evaluations[static_cast<size_t>(planned)], index.evaluation_end(planned));
}

Bounds TraceReader::State::bounds_at(Step step) {
    Bounds b;
    b.n_backends = static_cast<int64_t>(index.session.backends.size());
    b.n_buffer_types = static_cast<int64_t>(index.session.buffer_types.size());
    b.n_graphs = static_cast<int64_t>(index.graphs.size());
    b.n_evaluations = static_cast<int64_t>(index.evaluations.size());
    if (const int plan = plan_at(step); plan >= 0) {
        const GraphId graph = index.plans[static_cast<size_t>(plan)].graph;
        b.n_nodes = index.graphs[static_cast<size_t>(graph)].n_nodes;
        // A log may tell of splits and not of their nodes.
        constexpr int64_t most_logged_splits = int64_t{1} << 24;
        b.n_splits = index.graphs[static_cast<size_t>(graph)].answered ? b.n_nodes : most_logged_splits;
        b.n_own = index.graphs[static_cast<size_t>(graph)].n_tensors;
        b.n_tensors = n_ids(plan);
    }
    return b;
}

/// Tensors of the graph and room for the copies: a group of stages has one number for the original too.
int64_t TraceReader::State::n_ids(int number) {
    TraceIndex::Plan& plan = index.plans[static_cast<size_t>(number)];
    if (!plan.n_ids) {
        const auto n_tensors = static_cast<int64_t>(graphs.graph(plan.graph).tensors.size()); // whose number was so checked
        const auto following = static_cast<size_t>(number) + 1;
        const Step evaluation_end = index.evaluation_end(index.evaluation_of(plan.step));
        const Step end = following < index.plans.size() ? std::min(index.plans[following].step, evaluation_end) : evaluation_end;
        if (count_copies.n_columns() == 0) {
            count_copies = {file.database, "SELECT count(*) FROM copy WHERE step >= ? AND step < ?"};
        }
        count_copies.reset();
        count_copies.bind(0, plan.step);
        count_copies.bind(1, end);
        const int64_t copies = count_copies.step() ? count_copies.integer(0) : 0;
        count_copies.reset();
        plan.n_ids = n_tensors + copies * plan.n_stages;
    }
    return *plan.n_ids;
}

EvaluationSpan TraceReader::State::span(EvaluationId id) {
    if (id < 0 || static_cast<size_t>(id) >= index.evaluations.size()) {
        throw Error(ErrorKind::usage,
                    "evaluation " + std::to_string(id) + ": there are " + std::to_string(index.evaluations.size()));
    }
    if (const auto known = spans.find(id); known != spans.end()) {
        return known->second;
    }
    EvaluationSpan s;
    s.id = id;
    s.first = index.evaluations[static_cast<size_t>(id)];
    s.end = index.evaluation_end(id);
    s.begin.planned_in = id;
    constexpr size_t begin_kind = 0;
    static_assert(std::is_same_v<std::variant_alternative_t<begin_kind, Fact>, record::EvaluationBegin>);
    sqlite::Statement& rows = rows_of(begin_kind);
    rows.bind(0, s.first);
    rows.bind(1, s.end);
    while (rows.step()) { // the last one counts, should there be several
        int column = 3;
        for_each_field<record::EvaluationBegin>([&](const auto& f) { s.begin.*f.member = take_field(rows, column++, f); });
        if (s.begin.planned_in > id || find_text(s.begin.failed_check) == nullptr) {
            throw Damage("evaluation " + std::to_string(id) + " runs the plan of evaluation " +
                         std::to_string(s.begin.planned_in));
        }
    }
    rows.reset();
    const Step over = extreme(s.first - 1, fact_bit<record::EvaluationEnd>(), true);
    s.complete = over != no_step && over < s.end;
    return spans.emplace(id, s).first->second;
}

const std::string* TraceReader::State::find_text(StringId id) {
    static const std::string empty;
    if (id == 0) {
        return &empty;
    }
    if (id < 0 || id > index.last_text) {
        return nullptr;
    }
    if (const auto known = texts.find(id); known != texts.end()) {
        return &known->second;
    }
    if (select_text.n_columns() == 0) {
        select_text = {file.database, "SELECT value FROM text WHERE id = ?"};
    }
    select_text.reset();
    select_text.bind(0, int64_t{id});
    if (!select_text.step()) {
        select_text.reset();
        return nullptr;
    }
    std::string value = take_text(select_text, 0, "a text");
    select_text.reset();
    return &texts.emplace(id, std::move(value)).first->second;
}

int64_t TraceReader::State::number(const std::string& sql) {
    sqlite::Statement statement(file.database, sql);
    return statement.step() ? statement.integer(0) : 0;
}

Step TraceReader::State::extreme(Step from, FactSet kinds, bool forward) {
    Step best = no_step;
    for (size_t kind = 0; kind < n_kinds; ++kind) {
        if ((kinds >> kind & 1) == 0) {
            continue;
        }
        const auto from_table = [&] { return " FROM " + std::string(schema::table_of(kind)); };
        sqlite::Statement& row =
            forward ? statement(next, kind, [&] { return "SELECT min(step)" + from_table() + " WHERE step > ?"; })
                    : statement(previous, kind, [&] { return "SELECT max(step)" + from_table() + " WHERE step < ?"; });
        row.bind(0, from);
        if (row.step() && row.as_integer(0)) {
            const Step found = take(row, 0, 0, index.n_steps - 1, "a record's step");
            best = best == no_step ? found : forward ? std::min(best, found) : std::max(best, found);
        }
        row.reset();
    }
    return best;
}

TraceReader::TraceReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
TraceReader::~TraceReader() = default;

SessionInfo TraceReader::session() const { return state_->index.session; }
Step TraceReader::n_steps() const { return state_->index.n_steps; }
int TraceReader::n_evaluations() const { return static_cast<int>(state_->index.evaluations.size()); }
int TraceReader::n_graphs() const { return static_cast<int>(state_->index.graphs.size()); }
const std::vector<std::string>& TraceReader::notes() const noexcept { return state_->file.notes; }

EvaluationSpan TraceReader::evaluation(EvaluationId id) const {
    return state_->locked([&] { return state_->span(id); });
}

void TraceReader::read(Step first, Step end, std::vector<Record>& out) const { read_wanted(first, end, {}, out); }

void TraceReader::read_wanted(Step first, Step end, Wanted wanted, std::vector<Record>& out) const {
    first = std::max<Step>(first, 0);
    end = std::min(end, n_steps());
    const size_t before = out.size();
    try {
        for (; first < end; first += largest_read) {
            state_->locked([&] { state_->read_chunk(first, std::min(first + largest_read, end), wanted, out); });
        }
    } catch (...) {
        out.resize(before); // nothing unchecked leaves
        throw;
    }
}

const OwnedGraph& TraceReader::graph(GraphId id) const {
    return *state_->locked([&] { return &state_->graphs.graph(id); });
}

const CapabilityTable& TraceReader::answers(GraphId id) const {
    return *state_->locked([&] { return &state_->graphs.answers(id); });
}

std::string_view TraceReader::text(StringId id) const {
    const std::string* text = state_->locked([&] { return state_->find_text(id); });
    if (text == nullptr) {
        throw Error(ErrorKind::usage, "text " + std::to_string(id) + ": there is none");
    }
    return *text;
}

Step TraceReader::next_of(Step from, FactSet kinds) const {
    return state_->locked([&] { return state_->extreme(from, kinds, true); });
}

int64_t TraceReader::count(FactSet kinds) const {
    return state_->locked([&] {
        int64_t n = 0;
        for (size_t kind = 0; kind < n_kinds; ++kind) {
            if ((kinds >> kind & 1) != 0) {
                n += state_->number("SELECT count(*) FROM " + std::string(schema::table_of(kind)));
            }
        }
        return n;
    });
}

int64_t TraceReader::count_failed() const {
    return state_->locked([&] { return state_->number("SELECT count(*) FROM evaluation_end WHERE failed <> 0"); });
}

int64_t TraceReader::pages_read() const {
    const std::lock_guard lock(state_->mutex);
    int now = 0, most = 0;
    sqlite3_db_status(state_->file.database.handle(), SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 0);
    return now;
}

Step TraceReader::previous_of(Step from, FactSet kinds) const {
    return state_->locked([&] { return state_->extreme(from, kinds, false); });
}

} // namespace schedscope
