#include "traces/store/reading/reader.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/format/schema.h"
#include "traces/store/reading/trace_connections.h"
#include "traces/store/reading/trace_file.h"
#include "traces/store/reading/trace_graphs.h"
#include "traces/store/reading/trace_index.h"
#include "traces/store/reading/trace_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <unordered_map>

namespace schedscope {

namespace {

/// Of a trace that was not closed, behind the file's name.
std::string why_not_whole(const TraceFiles& files) {
    const std::string log = std::filesystem::path(files.path()).filename().string() + "-wal";
    if (files.being_recorded()) {
        return "is being recorded; what was committed so far is shown";
    }
    switch (files.beside()) {
    case TraceFiles::Beside::log:
        return "was not closed, its recording was killed: " + log +
               " beside it belongs to it (copy both); what had been committed is shown";
    case TraceFiles::Beside::gone:
        return "was not closed, and " + log +
               " is not beside it: if it was left behind, what was recorded last, up to all of it, is missing; copy both";
    case TraceFiles::Beside::nothing: break;
    }
    return "was not closed; what had been committed is shown";
}

constexpr size_t n_kinds = std::variant_size_v<Fact>;
constexpr Step largest_read = Step{1} << 16; ///< records that are read in one go
constexpr Step steps_worth_halving = 4096;   ///< fewer are read sooner than another thread has begun
/// Those that there are many of.
constexpr FactSet frequent = fact_set<record::BackendQuery, record::Assign, record::Placement, record::Execute>();

} // namespace

struct TraceReader::State {
    State(const std::string& p, Options options)
        : path(p), connections(open_trace_file(p, std::move(options.stop)), options.alone), file(connections.first().file),
          kept(file.bytes()), index(guarded([&] { return read_index(file.database, file.bytes(), kept); })),
          graphs(connections, index, kept) {
        if (!index.closed) {
            file.notes.push_back(why_not_whole(*file.files));
        }
    }

    /// Runs something that reads, with errors as Error(input).
    template <typename F> std::invoke_result_t<F> guarded(F&& f) {
        try {
            return f();
        } catch (const sqlite::Failure& failure) {
            refuse(*file.files, failure);
        } catch (const Damage& damage) {
            refuse_broken(path, std::string("is damaged: ") + damage.what());
        }
    }
    template <typename F> std::invoke_result_t<F> locked(F&& f) {
        const std::lock_guard lock(mutex);
        return guarded(std::forward<F>(f));
    }

    void read_few(Step first, Step end, Wanted wanted, std::vector<Record>& out);
    void read_chunk(Step first, Step end, Wanted wanted, std::vector<Record>& out);
    void check(std::vector<Record>& records, size_t from, bool names_only);
    Bounds bounds_at(Step step);
    int plan_at(Step step);
    int64_t n_ids(int plan);
    void check_kernels(const Record& split_run, const Bounds& bounds, const std::function<bool(StringId)>& known);
    const KernelList& kernels(KernelListId id);
    EvaluationSpan span(EvaluationId id);
    const std::string* find_text(StringId id);
    bool is_text(StringId id);
    int64_t number(const std::string& sql);
    Step extreme(Step from, FactSet kinds, bool next);

    const std::string path;
    mutable std::mutex mutex; ///< guards all below
    TraceConnections connections;
    TraceFile& file; ///< of the first connection
    KeptBytes kept;
    TraceIndex index;
    TraceGraphs graphs;
    std::vector<sqlite::Statement> next{n_kinds}, previous{n_kinds};
    sqlite::Statement count_copies, select_text;
    std::unordered_map<StringId, std::string> texts; ///< nodes keep their addresses
    std::array<StringId, 64> recent_texts{};         ///< that were found: the same ones come again and again
    std::unordered_map<EvaluationId, EvaluationSpan> spans;
    std::unordered_map<KernelListId, std::shared_ptr<const KernelList>> lists; ///< that were asked for
    std::pair<KernelListId, int> checked_list{0, -1};                          ///< the last one, and of which plan
};

void TraceReader::State::read_chunk(Step first, Step end, Wanted wanted, std::vector<Record>& out) {
    const size_t base = out.size();
    const size_t n = end - first;
    out.resize(base + n);
    std::vector<char> there(n);
    std::atomic<size_t> n_there = 0;
    const auto read = [&](TraceConnection& connection, Step from, Step to) {
        const auto at = static_cast<size_t>(from - first), count = static_cast<size_t>(to - from);
        n_there +=
            connection.rows.read(from, to, wanted, std::span(out).subspan(base + at, count), std::span(there).subspan(at, count));
    };
    connections.in_halves(first, end, steps_worth_halving, read);
    if (wanted.kinds == every_fact && n_there != n) {
        const Step hole = std::find(there.begin(), there.end(), 0) - there.begin();
        throw Damage("record " + std::to_string(first + hole) + " is missing");
    }
    if (n_there != n) {
        size_t to = base;
        for (size_t i = 0; i < n; ++i) {
            if (there[i] != 0) {
                out[to++] = out[base + i];
            }
        }
        out.resize(to);
    }
    check(out, base, wanted.names_only);
}

/// Of kinds that there are few of: no place is kept for each step.
void TraceReader::State::read_few(Step first, Step end, Wanted wanted, std::vector<Record>& out) {
    const size_t base = out.size();
    connections.first().rows.append(first, end, wanted, out);
    const auto begin = out.begin() + base;
    std::sort(begin, out.end(), [](const Record& a, const Record& b) { return a.step < b.step; });
    const auto twice = std::adjacent_find(begin, out.end(), [](const Record& a, const Record& b) { return a.step == b.step; });
    if (twice != out.end()) {
        throw Damage("record " + std::to_string(twice->step) + " is there twice");
    }
    check(out, base, wanted.names_only);
}

void TraceReader::State::check(std::vector<Record>& records, size_t from, bool names_only) {
    const auto known = names_only ? std::function<bool(StringId)>() : [this](StringId id) { return is_text(id); };
    Bounds bounds;
    EvaluationId evaluation = -1;
    Step until = -1; // both hold up to here
    for (size_t i = from; i < records.size(); ++i) {
        const Record& r = records[i];
        try {
            if (r.step >= until) {
                bounds = bounds_at(r.step);
                evaluation = index.evaluation_of(r.step);
                until = std::min(index.evaluation_end(evaluation), index.next_plan(r.step));
            }
            if (!names_only && r.evaluation != evaluation) { // which its step says as well
                throw Damage("evaluation is " + std::to_string(r.evaluation) + " and not " + std::to_string(evaluation));
            }
            check_record(r, bounds, known);
            if (!names_only) {
                check_kernels(r, bounds, known);
            }
        } catch (const Damage& damage) {
            throw Damage("record " + std::to_string(r.step) + " (" + std::string(fact_name(r.fact)) + "): " + damage.what());
        }
    }
}

/// The kernels that a split ran without a time of their own, as if each had a record.
void TraceReader::State::check_kernels(const Record& r, const Bounds& bounds, const std::function<bool(StringId)>& known) {
    const auto* run = std::get_if<record::SplitRun>(&r.fact);
    if (run == nullptr || run->kernels == 0) {
        return;
    }
    const std::pair<KernelListId, int> checked{run->kernels, plan_at(r.step)};
    if (checked == checked_list) {
        return;
    }
    const KernelList& list = kernels(run->kernels);
    if (std::ssize(list) > bounds.n_nodes) {
        throw Damage("it has " + std::to_string(list.size()) + " kernels");
    }
    for (const KernelInfo& k : list) {
        record::Execute kernel;
        kernel.first = k.first;
        kernel.last = k.last;
        kernel.kernel = k.kernel;
        check_record({r.step, 0, r.evaluation, kernel}, bounds, known);
    }
    checked_list = checked;
}

const KernelList& TraceReader::State::kernels(KernelListId id) {
    static const KernelList none;
    if (id == 0) {
        return none;
    }
    std::shared_ptr<const KernelList>& list = lists[id];
    if (list == nullptr) {
        list = connections.first().rows.splits().list(id);
    }
    return *list;
}

/// The plan that a record speaks of: the last one begun before it in its evaluation, else the last one of the evaluation whose
/// plan is run.
int TraceReader::State::plan_at(Step step) {
    const EvaluationId evaluation = index.evaluation_of(step);
    const Step first = index.evaluations[evaluation];
    if (const int own = index.last_plan(first, step + 1); own >= 0) {
        return own;
    }
    const EvaluationId planned = span(evaluation).begin.planned_in;
    return planned == evaluation ? -1 : index.last_plan(index.evaluations[planned], index.evaluation_end(planned));
}

Bounds TraceReader::State::bounds_at(Step step) {
    Bounds b;
    b.n_backends = index.session.backends.size();
    b.n_buffer_types = index.session.buffer_types.size();
    b.n_graphs = index.graphs.size();
    b.n_evaluations = index.evaluations.size();
    if (const int plan = plan_at(step); plan >= 0) {
        b.of_plan(index.graphs[index.plans[plan].graph], n_ids(plan));
    }
    return b;
}

/// Tensors of the graph and room for the copies: a group of stages has one number for the original too.
int64_t TraceReader::State::n_ids(int number) {
    TraceIndex::IndexedPlan& plan = index.plans[number];
    if (!plan.n_ids) {
        const auto n_tensors = static_cast<int64_t>(graphs.graph(plan.graph).tensors.size()); // whose number was so checked
        const auto following = static_cast<size_t>(number) + 1;
        const Step evaluation_end = index.evaluation_end(index.evaluation_of(plan.step));
        const Step end = following < index.plans.size() ? std::min(index.plans[following].step, evaluation_end) : evaluation_end;
        sqlite::ready(count_copies, file.database, [] { return "SELECT count(step) FROM copy WHERE step >= ? AND step < ?"; });
        count_copies.bind(0, plan.step);
        count_copies.bind(1, end);
        const int64_t copies = count_copies.step() ? count_copies.integer(0) : 0;
        count_copies.reset();
        plan.n_ids = n_tensors + copies * plan.n_stages;
    }
    return *plan.n_ids;
}

EvaluationSpan TraceReader::State::span(EvaluationId id) {
    if (!is_index(id, index.evaluations)) {
        throw Error(ErrorKind::usage,
                    "evaluation " + std::to_string(id) + ": there are " + std::to_string(index.evaluations.size()));
    }
    if (const auto known = spans.find(id); known != spans.end()) {
        return known->second;
    }
    EvaluationSpan s;
    s.id = id;
    s.first = index.evaluations[id];
    s.end = index.evaluation_end(id);
    s.begin.planned_in = id;
    constexpr size_t begin_kind = 0;
    static_assert(std::is_same_v<std::variant_alternative_t<begin_kind, Fact>, record::EvaluationBegin>);
    sqlite::Statement& rows = connections.first().rows.rows_of(begin_kind);
    rows.bind(0, s.first);
    rows.bind(1, s.end);
    for (int n = 0; rows.step(); ++n) {
        if (n > 0) { // a plan that is run again could else lead to itself
            throw Damage("evaluation " + std::to_string(id) + " begins twice");
        }
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
    sqlite::ready(select_text, file.database, [] { return "SELECT value FROM text WHERE id = ?"; });
    select_text.bind(0, int64_t{id});
    if (!select_text.step()) {
        select_text.reset();
        return nullptr;
    }
    std::string value = kept.text(select_text, 0, "a text");
    select_text.reset();
    return &texts.emplace(id, std::move(value)).first->second;
}

bool TraceReader::State::is_text(StringId id) {
    if (id < 0) {
        return false;
    }
    StringId& recent = recent_texts[id % recent_texts.size()];
    if (recent != id) {
        if (find_text(id) == nullptr) {
            return false;
        }
        recent = id;
    }
    return true;
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
        Step found = no_step;
        if ((SplitRows::kinds >> kind & 1) != 0) {
            found = connections.first().rows.splits().extreme(from, FactSet{1} << kind == fact_bit<record::Execute>(), forward);
        } else {
            sqlite::Statement& row = sqlite::ready((forward ? next : previous)[kind], file.database, [&] {
                return "SELECT " + std::string(forward ? "min" : "max") + "(step) FROM " + std::string(schema::table_of(kind)) +
                       " WHERE step " + (forward ? "> ?" : "< ?");
            });
            row.bind(0, from);
            if (row.step() && row.as_integer(0)) {
                found = take(row, 0, 0, index.n_steps - 1, "a record's step");
            }
            row.reset();
        }
        if (found != no_step) {
            best = best == no_step ? found : forward ? std::min(best, found) : std::max(best, found);
        }
    }
    return best;
}

TraceReader::TraceReader(const std::string& path, Options options) : state_(std::make_unique<State>(path, std::move(options))) {}
TraceReader::~TraceReader() = default;

SessionInfo TraceReader::session() const { return state_->index.session; }
Step TraceReader::n_steps() const { return state_->index.n_steps; }
int TraceReader::n_evaluations() const { return n_of(state_->index.evaluations); }
int TraceReader::n_graphs() const { return n_of(state_->index.graphs); }
const std::vector<std::string>& TraceReader::notes() const noexcept { return state_->file.notes; }

std::string TraceReader::changed() const {
    const FileVersion then = state_->file.files->version();
    const std::optional<FileVersion> now = FileVersion::of(state_->path);
    if (now == then) {
        return {};
    }
    if (!now) {
        return "was removed: what is shown is what it held";
    }
    const bool same_file = now->file == then.file;
    return same_file ? "was written to: open it again to see that"
                     : "was replaced: what is shown is what it held when it was opened";
}

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
            const Step to = std::min(first + largest_read, end);
            state_->locked([&] {
                (wanted.kinds & frequent) != 0 ? state_->read_chunk(first, to, wanted, out)
                                               : state_->read_few(first, to, wanted, out);
            });
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

const KernelList& TraceReader::kernels(KernelListId id) const {
    return *state_->locked([&] { return &state_->kernels(id); });
}

Step TraceReader::next_of(Step from, FactSet kinds) const {
    return state_->locked([&] { return state_->extreme(from, kinds, true); });
}

int64_t TraceReader::count(FactSet kinds) const {
    return state_->locked([&] {
        int64_t n = 0;
        for (size_t kind = 0; kind < n_kinds; ++kind) {
            if ((kinds & SplitRows::kinds) >> kind & 1) {
                n += state_->connections.first().rows.splits().count(FactSet{1} << kind == fact_bit<record::Execute>());
            } else if ((kinds >> kind & 1) != 0) {
                n += state_->number("SELECT count(step) FROM " + std::string(schema::table_of(kind)));
            }
        }
        return n;
    });
}

int64_t TraceReader::count_failed() const {
    return state_->locked([&] { return state_->number("SELECT count(step) FROM evaluation_end WHERE failed <> 0"); });
}

int64_t TraceReader::pages_read() const {
    const std::lock_guard lock(state_->mutex);
    return state_->connections.pages_read();
}

Step TraceReader::previous_of(Step from, FactSet kinds) const {
    return state_->locked([&] { return state_->extreme(from, kinds, false); });
}

} // namespace schedscope
