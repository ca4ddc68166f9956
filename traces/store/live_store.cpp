#include "traces/store/live_store.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "traces/store/kept_answers.h"

#include <algorithm>
#include <bit>
#include <new>

namespace schedscope {

struct LiveStore::GraphEntry {
    OwnedGraph graph;
    KeptAnswers answers;
};

LiveStore::LiveStore() { sessions_.push_back(std::make_unique<SessionInfo>()); }

LiveStore::~LiveStore() {
    for (const auto& segment : segments_) {
        ::operator delete(static_cast<void*>(segment.load()));
    }
}

void LiveStore::session(const SessionInfo& info) {
    const std::lock_guard lock(mutex_);
    sessions_.push_back(std::make_unique<SessionInfo>(info));
}

void LiveStore::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    auto entry = std::make_unique<GraphEntry>();
    entry->graph = OwnedGraph::copy_of(graph);
    entry->answers = KeptAnswers(answers);

    const std::lock_guard lock(mutex_);
    if (id != n_of(graphs_)) {
        throw Error(ErrorKind::device, "recording: graph " + std::to_string(id) + " came where graph " +
                                           std::to_string(graphs_.size()) + " was expected");
    }
    // Buffer types are numbered when they are first met, which may be after the session began.
    const SessionInfo* now = answers.session;
    if (now != nullptr &&
        (now->buffer_types.size() > sessions_.back()->buffer_types.size() || sessions_.back()->backends.empty())) {
        auto grown = std::make_unique<SessionInfo>(*now);
        grown->facts = sessions_.back()->facts;
        sessions_.push_back(std::move(grown));
    }
    entry->answers.table.session = sessions_.back().get();
    graphs_.push_back(std::move(entry));
}

StringId LiveStore::intern(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return texts_.intern(text);
}

namespace {

/// Segments double in size: segment i begins behind 2^i − 1 first segments.
int segment_of(Step step, Step first_segment) noexcept {
    return int_of(std::bit_width(static_cast<uint64_t>(step / first_segment) + 1)) - 1;
}

} // namespace

Record* LiveStore::slot(Step step) const noexcept {
    const int segment = segment_of(step, first_segment);
    const Step start = first_segment * ((Step{1} << segment) - 1);
    Record* base = segments_[segment].load(std::memory_order_acquire);
    return base == nullptr ? nullptr : base + (step - start);
}

void LiveStore::keep(const Record& record) {
    const Step step = size_.load(std::memory_order_relaxed);
    Record* place = slot(step);
    if (place == nullptr) {
        const int segment = segment_of(step, first_segment);
        const size_t bytes = sizeof(Record) * (first_segment << segment);
        segments_[segment].store(static_cast<Record*>(::operator new(bytes)), std::memory_order_release);
        place = slot(step);
    }
    new (place) Record(record);
    place->step = step;
    note_evaluation(*place);
    note_sparse(*place);
    size_.store(step + 1, std::memory_order_release);
}

void LiveStore::keep_part(const PartRecord& record) {
    for (int32_t i = 0; i < std::ssize(record.part.times); ++i) {
        keep(record.kernel(i));
    }
    if (!record.part.last) {
        return;
    }
    KernelListId id = 0;
    if (record.part.times.empty() && record.part.kernels != nullptr) {
        const std::lock_guard lock(mutex_);
        const auto [known, is_new] = list_ids_.try_emplace(record.part.kernels.get(), n_of(lists_) + 1);
        if (is_new) {
            lists_.push_back(record.part.kernels);
        }
        id = known->second;
    }
    keep(record.split_run(id));
}

void LiveStore::note_evaluation(const Record& record) {
    constexpr FactSet noted = fact_set<record::EvaluationBegin, record::EvaluationEnd>();
    const bool bounds = (fact_bit(record.fact) & noted) != 0;
    // Only this thread changes the number of evaluations.
    if (!bounds && record.evaluation < n_of(evaluations_)) {
        return;
    }
    const std::lock_guard lock(mutex_);
    while (n_of(evaluations_) <= record.evaluation) {
        EvaluationSpan span;
        span.id = n_of(evaluations_);
        span.first = size_.load(std::memory_order_relaxed);
        span.begin.planned_in = span.id;
        evaluations_.push_back(span);
    }
    if (evaluations_.empty()) {
        return;
    }
    if (const auto* begin = std::get_if<record::EvaluationBegin>(&record.fact)) {
        evaluations_.back().begin = *begin;
    } else if (std::holds_alternative<record::EvaluationEnd>(record.fact)) {
        evaluations_.back().complete = true;
    }
}

void LiveStore::note_sparse(const Record& record) {
    if ((fact_bit(record.fact) & sparse_kinds) != 0) {
        const std::lock_guard lock(mutex_);
        sparse_[record.fact.index()].push_back(record.step);
    }
}

int64_t LiveStore::count(FactSet kinds) const {
    if ((kinds & ~sparse_kinds) != 0) {
        return RecordSource::count(kinds);
    }
    const Step n = n_steps(); // what is not published yet is not there
    int64_t count = 0;
    const std::lock_guard lock(mutex_);
    for (size_t kind = 0; kind < sparse_.size(); ++kind) {
        if ((kinds >> kind & 1) != 0) {
            count += std::lower_bound(sparse_[kind].begin(), sparse_[kind].end(), n) - sparse_[kind].begin();
        }
    }
    return count;
}

Step LiveStore::next_of(Step from, FactSet kinds) const {
    if ((kinds & ~sparse_kinds) != 0) {
        return RecordSource::next_of(from, kinds);
    }
    const Step n = n_steps();
    Step next = n;
    const std::lock_guard lock(mutex_);
    for (size_t kind = 0; kind < sparse_.size(); ++kind) {
        if ((kinds >> kind & 1) != 0) {
            const auto after = std::upper_bound(sparse_[kind].begin(), sparse_[kind].end(), from);
            next = after == sparse_[kind].end() ? next : std::min(next, *after);
        }
    }
    return next < n ? next : no_step; // what is not published yet is not there
}

Step LiveStore::previous_of(Step from, FactSet kinds) const {
    if ((kinds & ~sparse_kinds) != 0) {
        return RecordSource::previous_of(from, kinds);
    }
    from = std::min(from, n_steps());
    Step previous = no_step;
    const std::lock_guard lock(mutex_);
    for (size_t kind = 0; kind < sparse_.size(); ++kind) {
        if ((kinds >> kind & 1) != 0) {
            const auto at = std::lower_bound(sparse_[kind].begin(), sparse_[kind].end(), from);
            previous = at == sparse_[kind].begin() ? previous : std::max(previous, *std::prev(at));
        }
    }
    return previous;
}

SessionInfo LiveStore::session() const {
    const std::lock_guard lock(mutex_);
    return *sessions_.back();
}

int LiveStore::n_evaluations() const {
    const std::lock_guard lock(mutex_);
    return n_of(evaluations_);
}

EvaluationSpan LiveStore::evaluation(EvaluationId id) const {
    const std::lock_guard lock(mutex_);
    if (!is_index(id, evaluations_)) {
        throw Error(ErrorKind::usage, "evaluation " + std::to_string(id) + ": there are " + std::to_string(evaluations_.size()));
    }
    EvaluationSpan span = evaluations_[id];
    const bool last = static_cast<size_t>(id) + 1 == evaluations_.size();
    span.end = last ? std::max(n_steps(), span.first) : evaluations_[id + 1].first;
    return span;
}

void LiveStore::read(Step first, Step end, std::vector<Record>& out) const {
    first = std::max<Step>(first, 0);
    end = std::min(end, n_steps());
    while (first < end) {
        const int segment = segment_of(first, first_segment);
        const Step segment_end = first_segment * ((Step{1} << (segment + 1)) - 1);
        const Step until = std::min(end, segment_end);
        const Record* from = slot(first);
        out.insert(out.end(), from, from + (until - first));
        first = until;
    }
}

int LiveStore::n_graphs() const {
    const std::lock_guard lock(mutex_);
    return n_of(graphs_);
}

LiveStore::GraphEntry& LiveStore::entry(GraphId id) const {
    const std::lock_guard lock(mutex_);
    if (!is_index(id, graphs_)) {
        throw Error(ErrorKind::usage, "graph " + std::to_string(id) + ": there are " + std::to_string(graphs_.size()));
    }
    return *graphs_[id];
}

const OwnedGraph& LiveStore::graph(GraphId id) const { return entry(id).graph; }
const CapabilityTable& LiveStore::answers(GraphId id) const { return entry(id).answers.table; }

std::string_view LiveStore::text(StringId id) const {
    const std::lock_guard lock(mutex_);
    if (!texts_.contains(id)) {
        throw Error(ErrorKind::usage, "text " + std::to_string(id) + ": there are " + std::to_string(texts_.size()));
    }
    return texts_.text(id);
}

const KernelList& LiveStore::kernels(KernelListId id) const {
    static const KernelList none;
    const std::lock_guard lock(mutex_);
    if (id != 0 && !is_index(id - 1, lists_)) {
        throw Error(ErrorKind::usage, "list " + std::to_string(id) + " of kernels: there are " + std::to_string(lists_.size()));
    }
    return id == 0 ? none : *lists_[id - 1];
}

} // namespace schedscope
