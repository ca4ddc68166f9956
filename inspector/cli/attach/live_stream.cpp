#include "inspector/cli/attach/live_stream.h"
#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/attach/program_hold.h"
#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/attach/record_program.h"
#include "inspector/cli/output/lines.h"
#include "inspector/tui/background/program_output.h"
#include "inspector/tui/inspector.h"
#include "traces/history/live_gate.h"
#include "traces/store/live_store.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>

namespace schedscope {

namespace {

using Clock = std::chrono::steady_clock;

/// Takes the stream on a thread of its own, through a gate. The program is held where the gate may hold what comes: it goes on
/// to its next stop when all that it sent before has passed.
class StreamThread {
public:
    StreamThread(StreamSource& source, ProgramStream& stream, LiveGate& gate)
        : source_(source), stream_(stream), gate_(gate), hold_(source.pages().control()),
          ended_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!ended_) {
            throw Error(ErrorKind::device, "eventfd: no more file descriptors");
        }
        gate_.on_asked([this] { hold_.set(gate_.may_hold()); });
        hold_.set(gate_.may_hold());
        thread_ = std::thread([this] {
            try {
                take();
                notes_ = stream_.finish(source_.killed());
            } catch (...) {
                failure_ = std::current_exception();
            }
            const uint64_t one = 1;
            [[maybe_unused]] const ssize_t written = write(ended_.get(), &one, sizeof one);
        });
    }
    ~StreamThread() {
        leave();
        thread_.join();
    }
    StreamThread(const StreamThread&) = delete;
    StreamThread& operator=(const StreamThread&) = delete;

    int ended_descriptor() const noexcept { return ended_.get(); }
    /// Until there is something to look at, its end, or so many ms have passed.
    void wait_for_something(int timeout_ms) const {
        pollfd either[2] = {{gate_.descriptor(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
        poll(either, 2, timeout_ms);
    }
    bool has_ended(int timeout_ms = 0) const {
        pollfd one = {ended_.get(), POLLIN, 0};
        return poll(&one, 1, timeout_ms) > 0;
    }
    /// Its user leaves it: it is told while it may be held, since one that is asked to end does nothing more before, and let go
    /// then. False: it has ended already.
    bool leave() {
        const bool is_there = !has_ended();
        if (is_there) {
            source_.leave();
        }
        gate_.set_breakpoint({});
        gate_.run();
        return is_there;
    }
    /// Once it has ended: what there is to say. Throws what went wrong.
    const std::vector<std::string>& notes() {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        return notes_;
    }

private:
    void take() {
        bool is_over = false;
        while (!is_over) {
            const uint32_t stops = hold_.n_stops();
            is_over = source_.wait(0); // what it sent before is there
            while (stream_.take()) {
                is_new_ = true;
                tell_progress(false);
            }
            tell_why_nothing();
            tell_progress(true);
            hold_.pass(stops);
            if (!is_over) {
                hold_.wait_for_stop(stops, look_up_ms);
            }
        }
    }
    /// Once: where the program runs, and there is a reason why none of it comes.
    void tell_why_nothing() {
        if (!told_why_nothing_ && !source_.why_nothing_yet().empty()) {
            told_why_nothing_ = is_new_ = true;
        }
    }
    /// So often that a screen follows, and always what came last.
    void tell_progress(bool all_is_taken) {
        constexpr std::chrono::milliseconds interval(100);
        if (is_new_ && (all_is_taken || Clock::now() - told_ > interval)) {
            is_new_ = false;
            told_ = Clock::now();
            gate_.tell_progress();
        }
    }

    StreamSource& source_;
    ProgramStream& stream_;
    LiveGate& gate_;
    ProgramHold hold_;
    Descriptor ended_;
    bool is_new_ = false, told_why_nothing_ = false;
    Clock::time_point told_;
    std::vector<std::string> notes_;
    std::exception_ptr failure_;
    std::thread thread_;
};

/// It was asked to end, and may take its time.
void wait_for_end(const StreamSource& source, const StreamThread& thread) {
    constexpr int patience_ms = 2000;
    if (!thread.has_ended(patience_ms)) {
        tell(source.name() + " has not ended yet: Ctrl-C interrupts it");
        while (!thread.has_ended(-1)) {}
    }
}

} // namespace

int inspect_stream(StreamSource& source, const LiveStream& options) {
    const auto store = std::make_shared<LiveStore>();
    std::optional<TraceWriter> writer;
    std::optional<TeeRecorder> tee;
    if (!options.trace.empty()) {
        TraceWriter::Options written;
        written.texts = !options.no_text;
        written.whole = true;
        writer.emplace(options.trace, written);
        tee.emplace(std::initializer_list<Recorder*>{store.get(), &*writer});
    }
    LiveGate gate(tee ? static_cast<Recorder&>(*tee) : *store, true);
    ProgramStream stream(source.pages(), gate, source.facts());
    StreamThread thread(source, stream, gate);
    constexpr int a_moment_ms = 500; // a program that ends at once leaves its lines alone
    thread.wait_for_something(a_moment_ms);
    int left_with = 0;
    if (!thread.has_ended() || store->n_steps() > 0) {
        InspectorOptions inspector;
        inspector.title = source.name();
        inspector.backends = backend_knowledge();
        inspector.gate = &gate;
        inspector.ended_fd = thread.ended_descriptor();
        inspector.files_in_use = {options.trace};
        inspector.output = options.output;
        inspector.how_ended = [&source] { return source.how_ended(); };
        inspector.why_nothing_yet = [&source] { return source.why_nothing_yet(); };
        inspector.keeps_texts = !options.no_text;
        left_with = run_inspector(store, inspector);
    }
    if (thread.leave()) {
        wait_for_end(source, thread);
    }
    if (options.output) {
        options.output->look();
        for (const std::string& line : options.output->lines()) {
            OutputLine(std::cout) << line;
        }
    }
    const std::vector<std::string>& notes = thread.notes();
    if (writer && stream.has_records()) {
        writer->close();
        for (const std::string& note : notes) {
            tell(note);
        }
        tell_of_trace(options.trace, writer->n_evaluations());
    }
    const int code = source.code_after(stream);
    return code != 0 ? code : left_with;
}

} // namespace schedscope
