// What the runtime sees of the writer: facts go into the queue, or wait for room in it.

#include "traces/store/writer.h"

#include "runtime/error.h"
#include "traces/store/writer_state.h"

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
        s.queued.sessions.push_back(info);
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

void TraceWriter::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    State& s = *state_;
    if (s.failed.load(std::memory_order_relaxed)) {
        return;
    }
    GraphToWrite item{id, OwnedGraph::copy_of(graph), KeptAnswers(answers)};
    const SessionInfo* session = answers.session;
    const bool grown = session != nullptr && session->buffer_types.size() > s.session.buffer_types.size();

    std::unique_lock lock(s.mutex);
    record::Wait wait;
    const bool waited = s.wait_for_room(lock, wait);
    if (s.failed) {
        return;
    }
    if (grown) { // buffer types are numbered when they are first met
        s.session.buffer_types = session->buffer_types;
        s.session.backends = session->backends;
        s.queued.sessions.push_back(s.session);
    }
    s.queued.cost += 1 + item.graph.tensors.size() * records_per_tensor;
    s.queued.graphs.push_back(std::move(item));
    const bool enough = s.queued.cost >= s.batch_records;
    lock.unlock();
    if (enough) {
        s.work.notify_one();
    }
    if (waited) {
        s.adding_wait = true;
        s.root->add(wait);
        s.adding_wait = false;
    }
}

StringId TraceWriter::intern(std::string_view text) {
    const std::lock_guard lock(state_->mutex);
    return state_->texts.intern(text);
}

void TraceWriter::keep(const Record& record) {
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
    const bool first = s.queued.empty();
    s.queued.records.push_back(record);
    ++s.queued.cost;
    const bool enough = s.queued.cost == s.batch_records;
    lock.unlock();
    if (first || enough) {
        s.work.notify_one();
    }
    if (waited) { // the wait is a fact as well; it goes past the queue's limit, or it would wait for itself
        s.adding_wait = true;
        s.root->add(wait);
        s.adding_wait = false;
    }
}

void TraceWriter::flush() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->flush = true;
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
    ++s.waiting_for_commit;
    s.work.notify_one();
    s.progress.wait(lock, [&] { return s.committed >= target || s.failed || s.stop; });
    --s.waiting_for_commit;
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
        throw Error(ErrorKind::device, *s.error);
    }
}

std::optional<std::string> TraceWriter::error() const {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
}

} // namespace schedscope
