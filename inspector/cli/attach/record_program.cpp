#include "inspector/cli/attach/record_program.h"

#include "inspector/cli/attach/masked_command.h"
#include "inspector/cli/attach/started_program.h"
#include "inspector/cli/attach/why_nothing.h"
#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/words.h"
#include "traces/import/stream/stream_reader.h"
#include "traces/import/stream/stream_ring.h"
#include "traces/store/output.h"
#include "traces/store/reading/trace_rows.h"
#include "traces/store/writer.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace schedscope {

namespace {

using attach::Control;

std::string own_folder() {
    std::error_code failed;
    return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
}

/// Beside the program, as it is built and as it is installed.
std::string library_path() {
    const std::string path =
        (std::filesystem::path(own_folder()) / ".." / "lib" / "schedscope" / attach::library_name).lexically_normal().string();
    if (access(path.c_str(), R_OK) != 0) {
        throw Error(ErrorKind::device, visible(path) + ": " + std::strerror(errno) + ": install schedscope as a whole");
    }
    if (path.find_first_of(": ") != std::string::npos) {
        throw Error(ErrorKind::device, visible(path) + ": the loader takes no library whose path has a blank or a colon");
    }
    return path;
}

/// Memory without a name, which the program opens through this process: nothing of it is left when both are gone.
class SharedPages {
public:
    SharedPages() : file_(memfd_create("schedscope", MFD_CLOEXEC)) {
        if (!file_ || ftruncate(file_.get(), bytes) != 0) {
            fail();
        }
        at_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        if (at_ == MAP_FAILED) {
            fail();
        }
        control().mark = attach::control_mark;
    }
    ~SharedPages() { munmap(at_, bytes); }
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;

    Control& control() const { return *static_cast<Control*>(at_); }
    void* ring() const { return static_cast<char*>(at_) + attach::control_bytes; }
    static size_t ring_bytes() { return bytes - attach::control_bytes; }
    std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_.get()); }

private:
    [[noreturn]] static void fail() {
        throw Error(ErrorKind::device, "memory to share with the program: " + std::string(std::strerror(errno)));
    }
    static constexpr size_t bytes = size_t{256} << 20; ///< pages that nobody wrote to take none
    Descriptor file_;
    void* at_ = nullptr;
};

/// Takes what the program sends, and writes it.
class ProgramTrace {
public:
    ProgramTrace(const ProgramRecording& recording, const SharedPages& pages)
        : ring_(pages.ring(), SharedPages::ring_bytes()), writer_(recording.trace, options(recording)),
          reader_(writer_, {}, {{"program", recording.command.front()}, {"command", masked_command(recording.command)}}) {}

    /// False: there was nothing.
    bool take() {
        bool any = false;
        try {
            while (!reader_.ended() && !damaged()) {
                const std::optional<import::StreamBlock> block = ring_.next();
                if (!block) {
                    break;
                }
                any = true;
                if (block->evaluation) {
                    evaluations_.insert(*block->evaluation);
                }
                reader_.take(*block);
                has_records_ = true;
            }
        } catch (const Damage& damage) {
            damage_ = damage.what();
        }
        return any;
    }
    void writer_is_gone() { ring_.writer_is_gone(); }
    /// The file is complete. Notes and errors are told, and whether it could be written.
    bool finish(const ProgramRecording& recording, bool killed) {
        if (!has_records_) {
            return true;
        }
        std::vector<std::string> notes;
        if (killed && !reader_.ended()) {
            notes.emplace_back("the program was killed; what was complete is here");
        }
        if (ring_.lost() > 0) {
            notes.push_back(words::counted(ring_.lost(), "block") + " lost that the program had begun when it ended");
        }
        if (damaged()) {
            notes.push_back("the recording ends early: " + damage_);
        }
        const ImportResult result = reader_.finish(std::move(notes), damaged());
        for (const std::string& note : result.notes) {
            tell(note);
        }
        writer_.close();
        OutputLine(std::cerr) << "wrote " << recording.trace << ": "
                              << words::counted(static_cast<int64_t>(evaluations_.size()), "evaluation")
                              << "; next: schedscope inspect " << recording.trace;
        return !damaged();
    }
    bool has_evaluations() const { return !evaluations_.empty(); }

private:
    static TraceWriter::Options options(const ProgramRecording& recording) {
        TraceWriter::Options options;
        options.texts = !recording.no_text;
        return options;
    }
    bool damaged() const { return !damage_.empty(); }

    import::StreamRing ring_;
    TraceWriter writer_;
    import::StreamReader reader_;
    std::set<int64_t> evaluations_;
    std::string damage_;
    bool has_records_ = false;
};

std::vector<StartedProgram::Variable> environment(const ProgramRecording& recording, const SharedPages& pages) {
    const char* const others = std::getenv("LD_PRELOAD");
    std::string value = pages.path() + ":%d:";
    value += recording.sync ? std::string(1, attach::option_sync) : "";
    value += recording.children ? std::string(1, attach::option_children) : "";
    return {{"LD_PRELOAD", library_path() + (others != nullptr && *others != 0 ? ":" + std::string(others) : "")},
            {attach::environment_name, value}};
}

/// With --children the recorded process need not be the one that was started.
bool is_recorded_still(const Control& control) {
    const auto owner = static_cast<pid_t>(__atomic_load_n(&control.owner, __ATOMIC_RELAXED));
    return owner > 0 && kill(owner, 0) == 0;
}

} // namespace

int record_program(const ProgramRecording& recording) {
    NamedFiles files;
    files.writes("-o", recording.trace);
    files.check();
    check_output(recording.trace, recording.force);
    constexpr int look_up_ms = 10;
    const std::string path = found_program(recording.command.front());
    const SharedPages pages;
    ProgramTrace trace(recording, pages);
    StartedProgram program(recording.command, environment(recording, pages));
    for (bool any = false; !program.wait(any ? 0 : look_up_ms);) {
        any = trace.take();
    }
    while (recording.children && is_recorded_still(pages.control())) {
        if (!trace.take()) {
            usleep(look_up_ms * 1000);
        }
    }
    trace.take();
    trace.writer_is_gone();
    trace.take();
    const bool complete = trace.finish(recording, program.killed());
    if (!trace.has_evaluations() && program.code() == 0) {
        throw Error(ErrorKind::device, visible(recording.command.front()) +
                                           ": nothing was recorded: " + why_nothing(path, pages.control(), recording.children));
    }
    return complete || program.code() != 0 ? program.code() : exit_code(ErrorKind::device);
}

} // namespace schedscope
