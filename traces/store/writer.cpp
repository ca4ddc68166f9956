// What the runtime sees of the writer: facts go into the queue, or wait for room in it.

#include "traces/store/writer.h"

#include "runtime/error.h"
#include "traces/store/writer_state.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace schedscope {

namespace {

constexpr size_t records_per_tensor = 4; ///< what a tensor of a graph takes in the queue, in records

} // namespace

TraceWriter::TraceWriter(const std::string& path, const Options& options) : state_(std::make_unique<State>(path, options)) {
    state_->root = this;
}

void TraceWriter::open() {
    State& s = *state_;
    if (s.thread.joinable() || s.stop) {
        return;
    }
    s.thread = std::thread([&s] { s.run(); });
    std::unique_lock lock(s.mutex);
    s.progress.wait(lock, [&] { return s.opened || s.error; });
    if (s.error) {
        const std::string sentence = *s.error;
        lock.unlock();
        s.thread.join();
        throw Error(ErrorKind::device, sentence);
    }
}

TraceWriter::~TraceWriter() {
    try {
        close();
    } catch (const std::exception&) { // whoever wants to know calls close
    }
}

void TraceWriter::attach_to(Recorder& root) { state_->root = &root; }

void TraceWriter::session(const SessionInfo& info) {
    open();
    State& s = *state_;
    s.session = info;
    const std::lock_guard lock(s.mutex);
    if (!s.failed) {
        s.queued.session = info;
        ++s.queued.cost;
    }
}

/// True when the runtime had to wait.
bool TraceWriter::State::wait_for_room(std::unique_lock<std::mutex>& lock, record::Wait& wait) {
    const auto has_room = [&] { return queued.cost < std::max(options.queue_records, batch_records) || failed || stop; };
    if (adding_wait || has_room()) {
        return false;
    }
    wait.start_ns = now_ns();
    work.notify_one();
    progress.wait(lock, has_room);
    wait.end_ns = now_ns();
    return true;
}

/// What `put` puts into the queue costs as much as so many records.
template <typename Put> void TraceWriter::queue(size_t cost, const Put& put) {
    State& s = *state_;
    if (s.failed.load(std::memory_order_relaxed)) {
        return;
    }
    std::unique_lock lock(s.mutex);
    record::Wait wait;
    const bool waited = s.wait_for_room(lock, wait);
    if (s.failed || s.stop) {
        return;
    }
    const size_t before = s.queued.cost;
    put(s.queued);
    s.is_whole = false;
    s.queued.cost += cost;
    const bool enough = before < s.batch_records && s.queued.cost >= s.batch_records;
    lock.unlock();
    if (before == 0 || enough) {
        s.work.notify_one();
    }
    if (waited) { // the wait is a fact as well; it goes past the queue's limit, or it would wait for itself
        s.adding_wait = true;
        s.root->add(wait);
        s.adding_wait = false;
    }
}

void TraceWriter::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    State& s = *state_;
    if (s.failed.load(std::memory_order_relaxed)) {
        return;
    }
    GraphToWrite item{id, OwnedGraph::copy_of(graph), KeptAnswers(answers)};
    const SessionInfo* session = answers.session;
    const bool grown = session != nullptr && session->buffer_types.size() > s.session.buffer_types.size();

    queue(1 + item.graph.tensors.size() * records_per_tensor, [&](TraceBatch& batch) {
        if (grown) { // buffer types are numbered when they are first met
            s.session.buffer_types = session->buffer_types;
            s.session.backends = session->backends;
            batch.session = s.session;
        }
        batch.graphs.push_back(std::move(item));
    });
}

StringId TraceWriter::intern(std::string_view text) {
    const std::lock_guard lock(state_->mutex);
    return state_->texts.intern(text);
}

void TraceWriter::keep(const Record& record) {
    SplitPart part;
    if (const auto* kernel = std::get_if<record::Execute>(&record.fact)) {
        const KernelSpan time{kernel->start_ns, kernel->end_ns};
        const KernelInfo info{kernel->first, kernel->last, kernel->count, kernel->kernel, kernel->bytes, kernel->flops};
        part.split = kernel->split;
        part.backend = kernel->backend;
        part.device_time = kernel->device_time;
        part.last = false;
        part.start_ns = time.start_ns;
        part.end_ns = time.end_ns;
        part.kernels = std::make_shared<const KernelList>(1, info);
        part.count = 1;
        part.times = {&time, 1};
        keep_part({record.step, record.time_ns, record.evaluation, part});
    } else if (const auto* run = std::get_if<record::SplitRun>(&record.fact)) {
        part.split = run->split;
        part.backend = run->backend;
        part.start_ns = run->start_ns;
        part.end_ns = run->end_ns;
        keep_part({record.step, record.time_ns, record.evaluation, part});
    } else {
        queue(1, [&](TraceBatch& batch) {
            batch.records.push_back(record);
            state_->n_evaluations = std::max<int64_t>(state_->n_evaluations, record.evaluation + 1);
        });
    }
}

void TraceWriter::keep_part(const PartRecord& record) {
    constexpr size_t times_per_record = sizeof(Record) / sizeof(KernelSpan);
    constexpr size_t kernels_per_record = 64; // parts share their lists: only long ones count
    const size_t n_kernels = record.part.kernels != nullptr ? record.part.kernels->size() : 0;
    queue(1 + record.part.times.size() / times_per_record + n_kernels / kernels_per_record, [&](TraceBatch& batch) {
        batch.parts.push_back({record, record.part.times.size()});
        batch.times.insert(batch.times.end(), record.part.times.begin(), record.part.times.end());
    });
}

void TraceWriter::flush() {
    {
        const std::lock_guard lock(state_->mutex);
        const bool was_whole = std::exchange(state_->is_whole, true);
        if (std::exchange(state_->flush, true) && (was_whole || !state_->options.whole)) {
            return; // the writer knows when to commit
        }
    }
    state_->work.notify_one();
}

void TraceWriter::sync() {
    State& s = *state_;
    if (!s.thread.joinable()) {
        return;
    }
    std::unique_lock lock(s.mutex);
    const uint64_t target = s.taken + 1; // the batch that will hold what is queued now
    s.wanted = target;
    s.work.notify_one();
    s.progress.wait(lock, [&] { return s.committed >= target || s.failed || s.stop; });
}

void TraceWriter::close() {
    State& s = *state_;
    if (!s.thread.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(s.mutex);
        s.stop = true;
    }
    s.work.notify_all();
    s.progress.notify_all();
    s.thread.join();
    if (s.error) {
        std::error_code none;
        const std::string log = s.path + "-wal";
        const bool log_stays = s.opened && std::filesystem::exists(log, none);
        throw Error(ErrorKind::device, *s.error + (log_stays ? "; " + log + " beside it belongs to it" : ""));
    }
}

int64_t TraceWriter::n_evaluations() const {
    const std::lock_guard lock(state_->mutex);
    return state_->n_evaluations;
}

std::optional<std::string> TraceWriter::error() const {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
}

} // namespace schedscope
