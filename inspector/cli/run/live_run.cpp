#include "inspector/cli/run/live_run.h"
#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/run/deferred_session.h"
#include "inspector/cli/run/recording.h"
#include "inspector/cli/run/run_model.h"
#include "inspector/tui/inspector.h"
#include "runtime/error.h"
#include "runtime/gguf/split.h"
#include "traces/history/live_gate.h"
#include "traces/store/live_store.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope {

namespace {

/// The run on its thread. Destroying it cancels the run and waits for its end.
class RunningProgram {
public:
    RunningProgram(const RunArguments& arguments, LiveGate& gate) : gate_(gate), ended_(eventfd(0, EFD_CLOEXEC)) {
        if (ended_ < 0) {
            throw Error(ErrorKind::device, "eventfd: no more file descriptors");
        }
        thread_ = std::thread([this, &arguments] {
            try {
                text_ = run_model(arguments, &gate_, {.quiet = true, .stop = &stop_});
            } catch (const Cancelled&) {
                // The user quit.
            } catch (...) {
                failure_ = std::current_exception();
            }
            const uint64_t one = 1;
            [[maybe_unused]] const auto written = write(ended_, &one, sizeof one);
        });
    }
    ~RunningProgram() {
        finish();
        close(ended_);
    }
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    int ended_descriptor() const noexcept { return ended_; }
    /// Returns when the first record is held or the run has ended without one.
    void wait_for_something() const {
        pollfd either[2] = {{gate_.descriptor(), POLLIN, 0}, {ended_, POLLIN, 0}};
        while (poll(either, 2, -1) < 0) {}
    }
    bool has_ended() const {
        pollfd one = {ended_, POLLIN, 0};
        return poll(&one, 1, 0) > 0;
    }
    void finish() {
        if (thread_.joinable()) {
            stop_ = true;
            gate_.cancel();
            thread_.join();
        }
    }
    const std::string& text() const noexcept { return text_; }
    void rethrow() const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

private:
    LiveGate& gate_;
    int ended_;
    std::atomic<bool> stop_ = false;
    std::string text_;
    std::exception_ptr failure_;
    std::thread thread_;
};

} // namespace

int run_live(const RunArguments& arguments) {
    const auto store = std::make_shared<LiveStore>();
    const std::unique_ptr<TraceWriter> writer = make_writer(arguments);
    std::optional<DeferredSession> deferred;
    std::optional<TeeRecorder> tee;
    if (writer) {
        deferred.emplace(*writer);
        tee.emplace(std::initializer_list<Recorder*>{store.get(), &*deferred});
    }
    LiveGate gate(tee ? static_cast<Recorder&>(*tee) : *store, true);
    RunningProgram program(arguments, gate);
    program.wait_for_something();
    int code = 0;
    if (!(program.has_ended() && store->n_steps() == 0)) {
        InspectorOptions options;
        options.title = std::filesystem::path(arguments.run.model).filename().string();
        options.backends = backend_knowledge();
        options.gate = &gate;
        options.ended_fd = program.ended_descriptor();
        options.keeps_texts = !arguments.no_text;
        options.files_in_use = gguf::parts_by_name(arguments.run.model);
        for (const std::string& file : {arguments.run.mmproj, arguments.record}) {
            options.files_in_use.push_back(file);
        }
        code = run_inspector(store, options);
    }
    program.finish();
    if (writer) {
        writer->close();
    }
    program.rethrow();
    std::cout << program.text();
    return code;
}

} // namespace schedscope
