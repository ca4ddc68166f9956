#include "traces/export/export_perfetto.h"

#include "runtime/numbers.h"
#include "traces/export/perfetto_events.h"
#include "traces/export/perfetto_writer.h"
#include "traces/history/lanes.h"
#include "traces/history/memory_use.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <optional>

namespace schedscope {

namespace {

/// Tracks of one kind, made when they are needed.
struct LaneTracks {
    std::string name;
    Lanes lanes;
    std::vector<PerfettoWriter::Track> tracks;
};

/// A value over time; only changes are written.
struct CounterTrack {
    PerfettoWriter::Track track = 0;
    int64_t value = 0, time_ns = 0;
};

class PerfettoExporter {
public:
    PerfettoExporter(std::shared_ptr<const RecordSource> source, std::ostream& out) : history_(std::move(source)), writer_(out) {
        writer_.process("schedscope " + words::model_of(history_.session()));
        scheduler_.name = "scheduler";
        add_lane(scheduler_);
        for (const BackendInfo& backend : history_.session().backends) {
            backends_.push_back({backend.name, {}, {}});
            add_lane(backends_.back());
        }
        copies_.name = "copies";
        if (backends_.size() > 1) {
            add_lane(copies_);
        }
        notes_ = writer_.thread("memory");
        tokens_ = writer_.thread("tokens");
    }

    void evaluation(EvaluationId id) {
        const EvaluationSpan span = history_.evaluation(id);
        if (span.first >= span.end) {
            return;
        }
        const PlanState& state = history_.plan(id);
        PerfettoEvents events(history_, state, span);
        lay(events.scheduler, scheduler_);
        for (size_t i = 0; i < backends_.size(); ++i) {
            lay(events.on_backend(narrow<BackendId>(i)), backends_[i]);
        }
        lay(events.copies, copies_);
        for (const PerfettoEvents::Instant& instant : events.notes) {
            add_instant(notes_, instant, last_note_ns_);
        }
        for (const PerfettoEvents::Instant& instant : events.tokens) {
            add_instant(tokens_, instant, last_token_ns_);
        }
        for (const PerfettoEvents::Instant& instant : events.differences) {
            if (differences_ == 0) { // few traces are a verification's
                differences_ = writer_.thread("verification");
            }
            add_instant(differences_, instant, last_difference_ns_);
        }
        count_memory(state, events);
        count_copied(events.transfers);
        write();
    }

private:
    struct Pending {
        int64_t time_ns;
        PerfettoWriter::Track track;
        enum class Kind : uint8_t { begin, end, instant, count } kind;
        const PerfettoEvent* event;
        int64_t value;
    };

    void add_lane(LaneTracks& tracks) {
        const size_t n = tracks.tracks.size() + 1;
        tracks.tracks.push_back(writer_.thread(n == 1 ? tracks.name : tracks.name + " (" + std::to_string(n) + ")"));
    }

    void lay(const std::vector<PerfettoEvents::Slice>& slices, LaneTracks& tracks) {
        std::vector<TimeSlice> times;
        for (size_t i = 0; i < slices.size(); ++i) {
            times.push_back({slices[i].start_ns, slices[i].end_ns, slices[i].level, i});
        }
        std::vector<Lanes::Edge> edges;
        tracks.lanes.lay(times, edges);
        while (tracks.tracks.size() < tracks.lanes.n_lanes()) {
            add_lane(tracks);
        }
        for (const Lanes::Edge& edge : edges) {
            pending_.push_back({edge.time_ns, tracks.tracks[edge.lane], edge.begins ? Pending::Kind::begin : Pending::Kind::end,
                                &slices[edge.index].event, 0});
        }
    }

    void add_instant(PerfettoWriter::Track track, const PerfettoEvents::Instant& instant, int64_t& last_ns) {
        last_ns = std::max(last_ns, instant.time_ns);
        pending_.push_back({last_ns, track, Pending::Kind::instant, &instant.event, 0});
    }

    void count(CounterTrack& counter, int64_t time_ns, int64_t value) {
        if (counter.value != value) {
            counter.time_ns = std::max(counter.time_ns, time_ns);
            counter.value = value;
            pending_.push_back({counter.time_ns, counter.track, Pending::Kind::count, nullptr, value});
        }
    }

    CounterTrack& counter(std::map<std::string, CounterTrack>& counters, const std::string& name) {
        const auto [found, is_new] = counters.try_emplace(name);
        if (is_new) {
            found->second.track = writer_.counter_of_bytes(name);
        }
        return found->second;
    }

    void count_memory(const PlanState& state, const PerfettoEvents& events) {
        for (const PerfettoEvents::BufferGrowth& buffer : events.buffers) {
            auto& chunks = chunks_[buffer.size.buffer_type];
            chunks[buffer.size.chunk] = buffer.size.size;
            int64_t sum = 0;
            for (const auto& [chunk, bytes] : chunks) {
                sum += bytes;
            }
            count(counter(buffers_, history_.buffer_type_name(buffer.size.buffer_type) + " compute buffers"), buffer.time_ns,
                  sum);
        }
        if (events.kernels.empty()) {
            return;
        }
        if (!use_ || use_of_ != state.planned_in) { // many evaluations run one plan
            use_.emplace(state);
            use_of_ = state.planned_in;
        }
        std::vector<record::Execute> kernels = events.kernels;
        std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
        int64_t end_ns = 0;
        for (const record::Execute& kernel : kernels) {
            end_ns = std::max(end_ns, kernel.end_ns);
            for (const auto& [type, n] : use_->at(kernel.last)) {
                count(in_use(type), kernel.start_ns, n);
            }
        }
        for (const BufferTypeId type : use_->buffer_types()) {
            count(in_use(type), end_ns, 0);
        }
    }
    CounterTrack& in_use(BufferTypeId type) { return counter(used_, history_.buffer_type_name(type) + " in use"); }

    void count_copied(std::vector<record::Transfer> transfers) {
        std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
        for (const record::Transfer& t : transfers) {
            CounterTrack& c = counter(copied_, "copied " + history_.backend_name(t.from) + " → " + history_.backend_name(t.to));
            count(c, t.end_ns, c.value + t.bytes);
        }
    }

    /// In the order of time; what belongs to one track stays in its order.
    void write() {
        std::stable_sort(pending_.begin(), pending_.end(),
                         [](const Pending& a, const Pending& b) { return a.time_ns < b.time_ns; });
        for (const Pending& p : pending_) {
            switch (p.kind) {
            case Pending::Kind::begin: writer_.begin(p.track, p.time_ns, *p.event); break;
            case Pending::Kind::end: writer_.end(p.track, p.time_ns); break;
            case Pending::Kind::instant: writer_.instant(p.track, p.time_ns, *p.event); break;
            case Pending::Kind::count: writer_.count(p.track, p.time_ns, p.value); break;
            }
        }
        pending_.clear();
    }

    History history_;
    PerfettoWriter writer_;
    LaneTracks scheduler_, copies_;
    std::vector<LaneTracks> backends_;
    PerfettoWriter::Track notes_ = 0, tokens_ = 0,
                          differences_ = 0; ///< of instants, so that no time of a slice can stand in their way; 0: not made yet
    int64_t last_note_ns_ = 0, last_token_ns_ = 0, last_difference_ns_ = 0;
    std::map<std::string, CounterTrack> buffers_, used_, copied_;
    std::map<BufferTypeId, std::map<int32_t, int64_t>> chunks_;
    std::optional<MemoryUse> use_;
    EvaluationId use_of_ = -1;
    std::vector<Pending> pending_;
};

} // namespace

void export_perfetto(std::shared_ptr<const RecordSource> source, std::ostream& out) {
    const int n = source->n_evaluations();
    PerfettoExporter exporter(std::move(source), out);
    for (EvaluationId id = 0; id < n && out.good(); ++id) {
        exporter.evaluation(id);
    }
}

} // namespace schedscope
