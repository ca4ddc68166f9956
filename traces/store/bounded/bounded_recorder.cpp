#include "traces/store/bounded/bounded_recorder.h"

#include "runtime/numbers.h"
#include "traces/format/fields.h"
#include "traces/store/kept_answers.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace schedscope {

namespace {

/// Bytes in a file, somewhat more than they are: of a trace without evaluations, a record, a kernel's time, a graph's tensor.
constexpr int64_t least_trace_bytes = 400 << 10, held_record_bytes = 72, held_time_bytes = 24, held_tensor_bytes = 160;
constexpr size_t most_waiting_plans = 256;               ///< that may be run again, though nothing that is wanted runs them now
constexpr size_t most_waiting_tensors = size_t{1} << 20; ///< of graphs that may be planned again

struct HeldGraph {
    OwnedGraph graph;
    KeptAnswers answers;
    GraphId given = -1; ///< its number behind; −1: it was not given on
};

struct HeldPart {
    PartRecord record;
    std::vector<KernelSpan> times;
};
using HeldRecord = std::variant<Record, HeldPart>;

/// Calls f with the graph that a fact names.
template <typename F> void with_graph(Fact& fact, const F& f) {
    std::visit(
        [&](auto& any) {
            if constexpr (requires { any.graph; }) {
                f(any.graph);
            }
        },
        fact);
}

/// Gives each text of a fact another number.
using TextNumber = std::function<StringId(StringId)>;
void number_texts(Fact& fact, const TextNumber& number) {
    std::visit(
        [&]<typename Kept>(Kept& any) {
            const auto take = [&](const auto& f) {
                using Member = typename std::remove_cvref_t<decltype(f)>::Member;
                if constexpr (std::is_same_v<Member, StringId> || std::is_same_v<Member, std::optional<StringId>>) {
                    if (f.meaning == Meaning::text && known(any.*f.member) != nullptr) {
                        any.*f.member = number(*known(any.*f.member));
                    }
                }
            };
            std::apply([&](const auto&... f) { (take(f), ...); }, Kind<Kept>::fields);
        },
        fact);
}
std::shared_ptr<const KernelList> with_texts(const std::shared_ptr<const KernelList>& list, const TextNumber& number) {
    if (list == nullptr) {
        return nullptr;
    }
    auto own = std::make_shared<KernelList>(*list);
    for (KernelInfo& kernel : *own) {
        kernel.kernel = number(kernel.kernel);
    }
    return own;
}

struct HeldEvaluation {
    EvaluationId id = 0, planned_in = 0;
    std::vector<HeldRecord> records;
    std::map<GraphId, std::shared_ptr<HeldGraph>> graphs; ///< that it names, by the number in front
    bool plans = false, plans_memory = false, lacks_graph = false;
    int64_t bytes = 0;

    void take(HeldRecord record) {
        bytes += held_record_bytes;
        if (const auto* part = std::get_if<HeldPart>(&record)) {
            bytes += held_time_bytes * std::ssize(part->times);
        }
        records.push_back(std::move(record));
    }
};
using Held = std::shared_ptr<HeldEvaluation>;

/// Numbers what is given on. What who is behind adds of its own is left out: it is about a file, and not about the run.
class GivenOn final : public Recorder {
public:
    explicit GivenOn(Recorder& behind, TextNumber number = {}) : behind_(behind), number_(std::move(number)) {
        behind.attach_to(*this);
    }

    /// `planned_in`: the number behind of the evaluation whose plan it runs; −1: itself. Returns its own.
    EvaluationId give(const HeldEvaluation& e, EvaluationId planned_in) {
        const EvaluationId id = n_evaluations_++;
        for (auto& [id, graph] : e.graphs) {
            if (graph->given < 0) {
                graph->given = n_graphs_++;
                behind_.graph(graph->given, graph->graph.view(), graph->answers.table);
            }
        }
        for (const HeldRecord& held : e.records) {
            if (const auto* part = std::get_if<HeldPart>(&held)) {
                PartRecord r = part->record;
                r.part.times = part->times;
                r.step = next_;
                r.evaluation = id;
                if (number_) {
                    r.part.kernels = with_texts(r.part.kernels, number_);
                }
                next_ += r.n_records();
                behind_.keep_part(r);
                continue;
            }
            Record r = std::get<Record>(held);
            r.step = next_++;
            r.evaluation = id;
            if (auto* begin = std::get_if<record::EvaluationBegin>(&r.fact)) {
                begin->planned_in = planned_in < 0 ? id : planned_in;
            }
            with_graph(r.fact, [&](GraphId& graph) { graph = e.graphs.at(graph)->given; });
            if (number_) {
                number_texts(r.fact, number_);
            }
            behind_.keep(r);
        }
        behind_.flush();
        return id;
    }

    void session(const SessionInfo& info) override { behind_.session(info); }
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override { return behind_.intern(text); }
    void keep(const Record&) override {}

private:
    Recorder& behind_;
    TextNumber number_; ///< empty: as they are
    Step next_ = 0;
    EvaluationId n_evaluations_ = 0;
    GraphId n_graphs_ = 0;
};

} // namespace

struct BoundedRecorder::State {
    State(Recorder& behind, RecordingBounds b) : bounds(std::move(b)), given(behind) {}

    RecordingBounds bounds;
    GivenOn given;
    SessionInfo session;
    std::unordered_map<StringId, std::string> texts;      ///< where somebody looks at records
    std::map<GraphId, std::shared_ptr<HeldGraph>> graphs; ///< by the number in front
    size_t n_tensors = 0;
    std::map<EvaluationId, Held> plans;             ///< evaluations that planned lately
    std::map<EvaluationId, EvaluationId> given_ids; ///< numbers behind, of all that were given on
    Held open, last_plan;
    std::deque<Held> window;  ///< that are wanted, until it is known whether they are among the last
    std::vector<Held> always; ///< that are given on whatever is wanted, until then
    std::optional<int64_t> first_ns;
    bool over = false;
    int64_t n_evaluations = 0, n_wanted = 0;

    Held planner_of(const HeldEvaluation& e) const {
        const auto found = plans.find(e.planned_in);
        return e.planned_in == e.id || found == plans.end() ? nullptr : found->second;
    }

    /// With the one whose plan it runs before it. One whose plan or graph was forgotten is left out.
    void give(const Held& e) {
        if (given_ids.contains(e->id) || e->lacks_graph) {
            return;
        }
        EvaluationId planned_in = -1;
        if (e->planned_in != e->id && !e->plans) {
            if (const Held planner = planner_of(*e); planner != nullptr) {
                give(planner);
            }
            const auto found = given_ids.find(e->planned_in);
            if (found == given_ids.end()) {
                return;
            }
            planned_in = found->second;
        }
        given_ids.emplace(e->id, given.give(*e, planned_in));
        if (!bounds.when || !e->plans) {
            e->records = {}; // only its number is needed now
            e->graphs.clear();
        }
    }

    bool is_wanted(const HeldEvaluation& e) {
        if (!bounds.when) {
            return true;
        }
        const Held planner = planner_of(e);
        const auto write = [&](Recorder& trace) {
            trace.session(session);
            GivenOn alone(trace, [&](StringId id) { return id == 0 ? 0 : trace.intern(texts.at(id)); });
            const auto give_copy = [&](HeldEvaluation copy, EvaluationId planned_in) {
                for (auto& held : copy.graphs) { // which have other numbers there
                    std::shared_ptr<HeldGraph>& graph = held.second;
                    const auto own = std::make_shared<HeldGraph>();
                    own->graph = OwnedGraph::copy_of(graph->graph.view());
                    own->answers = KeptAnswers(graph->answers.table);
                    own->answers.table.session = &session;
                    graph = own;
                }
                return alone.give(copy, planned_in);
            };
            give_copy(e, planner == nullptr ? -1 : give_copy(*planner, -1));
        };
        return bounds.when(e.id, write);
    }

    void begin(const Record& r) {
        close();
        const auto& begin = std::get<record::EvaluationBegin>(r.fact);
        open = std::make_shared<HeldEvaluation>();
        open->id = r.evaluation;
        open->planned_in = begin.planned_in;
        ++n_evaluations;
        if (r.time_ns) {
            first_ns = first_ns ? first_ns : std::optional(*r.time_ns);
            over = over || (bounds.for_ns && *r.time_ns - *first_ns >= *bounds.for_ns);
        }
    }

    void take(const Record& r) {
        if (over) {
            return;
        }
        Fact fact = r.fact;
        with_graph(fact, [&](GraphId id) {
            const auto found = graphs.find(id);
            if (found == graphs.end()) {
                open->lacks_graph = true;
            } else if (open->graphs.emplace(id, found->second).second) {
                open->bytes += held_tensor_bytes * std::ssize(found->second->graph.tensors);
            }
        });
        open->plans |= std::holds_alternative<record::PlanBegin>(fact);
        open->plans_memory |= std::holds_alternative<record::Reserve>(fact) || std::holds_alternative<record::BufferSize>(fact) ||
                              std::holds_alternative<record::Reallocation>(fact);
        open->take(r);
    }

    /// The open evaluation is complete.
    void close() {
        const Held e = std::exchange(open, nullptr);
        if (e == nullptr || over) {
            return;
        }
        if (e->plans) {
            plans.insert_or_assign(e->id, e);
        }
        if (e->plans && e->plans_memory) {
            for (const Held& needed : {last_plan, e}) {
                if (needed != nullptr) {
                    always.push_back(needed);
                }
            }
        }
        last_plan = e->plans ? e : last_plan;
        if (is_wanted(*e)) {
            window.push_back(e);
        }
        if (!bounds.last()) {
            give_all();
        } else {
            trim();
        }
        forget_plans();
    }

    int64_t size_of_all() const {
        std::set<const HeldEvaluation*> all;
        int64_t bytes = least_trace_bytes;
        const auto add = [&](const Held& e) { bytes += e != nullptr && all.insert(e.get()).second ? e->bytes : 0; };
        std::for_each(always.begin(), always.end(), add);
        for (const Held& e : window) {
            add(e);
            add(planner_of(*e));
        }
        return bytes;
    }

    void trim() {
        while (bounds.last_evaluations && std::ssize(window) > *bounds.last_evaluations) {
            window.pop_front();
        }
        if (bounds.last_bytes && ++since_sized_ * sized_every() >= std::ssize(window)) {
            since_sized_ = 0;
            for (int64_t size = size_of_all(); size > *bounds.last_bytes && window.size() > 1; size = size_of_all()) {
                const auto n = std::max<std::ptrdiff_t>(std::ssize(window) / 16, 1);
                window.erase(window.begin(), window.begin() + n);
            }
        }
    }
    /// All that is held is added up again each time that it grew by so much of itself.
    static constexpr std::ptrdiff_t sized_every() { return 16; }
    std::ptrdiff_t since_sized_ = 0;

    void give_all() {
        std::vector<Held> all(always.begin(), always.end());
        all.insert(all.end(), window.begin(), window.end());
        std::stable_sort(all.begin(), all.end(), [](const Held& a, const Held& b) { return a->id < b->id; });
        std::for_each(all.begin(), all.end(), [this](const Held& e) { give(e); });
        n_wanted += std::count_if(window.begin(), window.end(), [this](const Held& e) { return given_ids.contains(e->id); });
        always.clear();
        window.clear();
    }

    /// Of plans that nothing runs that waits, the newest may be run again.
    void forget_plans() {
        if (plans.size() <= most_waiting_plans) {
            return;
        }
        std::set<EvaluationId> in_use;
        for (const Held& e : window) {
            in_use.insert(e->planned_in);
        }
        for (auto at = plans.begin(); at != plans.end() && plans.size() > most_waiting_plans / 2;) {
            at = in_use.contains(at->first) || at->second == last_plan ? std::next(at) : plans.erase(at);
        }
    }

    void forget_graphs() {
        for (auto at = graphs.begin(); at != graphs.end() && n_tensors > most_waiting_tensors && graphs.size() > 1;) {
            n_tensors -= at->second->graph.tensors.size();
            at = graphs.erase(at);
        }
    }
};

BoundedRecorder::BoundedRecorder(Recorder& behind, RecordingBounds bounds)
    : behind_(behind), state_(std::make_unique<State>(behind, std::move(bounds))) {}
BoundedRecorder::~BoundedRecorder() = default;

void BoundedRecorder::session(const SessionInfo& info) {
    state_->session = info;
    behind_.session(info);
}

StringId BoundedRecorder::intern(std::string_view text) {
    const StringId id = behind_.intern(text);
    if (state_->bounds.when) {
        state_->texts.try_emplace(id, text);
    }
    return id;
}

void BoundedRecorder::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    const auto held = std::make_shared<HeldGraph>();
    held->graph = OwnedGraph::copy_of(graph);
    held->answers = KeptAnswers(answers);
    held->answers.table.session = nullptr;
    state_->n_tensors += graph.tensors.size();
    state_->graphs.insert_or_assign(id, held);
    state_->forget_graphs();
}

void BoundedRecorder::keep(const Record& record) {
    if (std::holds_alternative<record::EvaluationBegin>(record.fact)) {
        state_->begin(record);
    }
    if (state_->open != nullptr) { // nothing stands before the first
        state_->take(record);
    }
}

void BoundedRecorder::keep_part(const PartRecord& record) {
    if (state_->open != nullptr && !state_->over) {
        HeldPart part{record, {record.part.times.begin(), record.part.times.end()}};
        part.record.part.times = {};
        state_->open->take(std::move(part));
    }
}

/// An evaluation's end: without a bound that looks at the end, it is safe with who reads from then on.
void BoundedRecorder::flush() {
    if (state_->open != nullptr && !state_->open->records.empty() && !state_->bounds.tokens_follow) {
        const auto* last = std::get_if<Record>(&state_->open->records.back());
        if (last != nullptr && std::holds_alternative<record::EvaluationEnd>(last->fact)) {
            state_->close();
        }
    }
}

void BoundedRecorder::finish() {
    state_->close();
    state_->give_all();
    behind_.flush();
}

int64_t BoundedRecorder::n_left_out() const noexcept { return state_->n_evaluations - std::ssize(state_->given_ids); }
int64_t BoundedRecorder::n_wanted() const noexcept { return state_->n_wanted; }

} // namespace schedscope
