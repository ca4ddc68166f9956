#include "inspector/cli/attach/joining/joined_program.h"

#include "inspector/cli/attach/joining/other_process.h"
#include "inspector/cli/attach/live_stream.h"
#include "inspector/cli/attach/program_stream.h"
#include "inspector/cli/attach/record_program.h"
#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/tui/inspector.h"
#include "runtime/error.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace schedscope {

namespace {

std::string name_of(pid_t id) {
    std::error_code failed;
    return std::filesystem::read_symlink(proc_path(id, "exe"), failed).filename().string();
}

} // namespace

JoinedProgram::JoinedProgram(pid_t id, const ProgramRecording& recording)
    : id_(id), no_text_(recording.no_text), name_(name_of(id)), process_(id, {recording.sync, false}), looked_(Clock::now()) {
    if (const std::optional<int64_t> time_ns = parse_bounds(recording.bounds).for_ns) {
        constexpr std::chrono::hours longest(24 * 365); // the clock has room for it
        until_ = looked_ + std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(*time_ns), longest);
    }
}

JoinedProgram::~JoinedProgram() { leave_it(); }

std::vector<std::pair<std::string, std::string>> JoinedProgram::facts() const { return facts_of_process(id_, no_text_); }

void JoinedProgram::leave_it() {
    if (!is_over_) {
        is_over_ = true;
        not_left_ = process_.leave();
    }
}

void JoinedProgram::leave() {
    if (!leaves_.exchange(true)) {
        tell(visible(name_) + " goes on without schedscope");
    }
}

bool JoinedProgram::wait(int timeout_ms) {
    constexpr std::chrono::seconds often_enough(1); // that it has become another program is seen in its list of memory
    if (is_over_) {
        return true;
    }
    if (leaves_ || interrupted() || (until_ && Clock::now() >= *until_)) {
        leave_it();
        return true;
    }
    has_ended_ = process_.wait_for_end(timeout_ms);
    if (!has_ended_ && Clock::now() - looked_ > often_enough) {
        looked_ = Clock::now();
        has_ended_ = !process_.is_there();
    }
    is_over_ = has_ended_;
    return is_over_;
}

std::vector<std::string> JoinedProgram::notes() const {
    std::vector<std::string> notes;
    const attach::Control& control = pages().control();
    if (control.unverified > 0) {
        notes.push_back(words::counted(control.unverified, "plan") +
                        " with memory that was planned before schedscope joined: where tensors lie is not verified there");
    }
    if (!not_left_.empty()) {
        notes.push_back(visible(name_) + " is left as it was when it calls ggml next: " + not_left_);
    }
    return notes;
}

std::string JoinedProgram::why_nothing_yet() const {
    const bool has_earlier_plan = __atomic_load_n(&pages().control().unplanned, __ATOMIC_RELAXED) > 0; // it counts meanwhile
    return has_earlier_plan ? "it runs by a plan made before schedscope joined; a new prompt makes another" : "";
}

int JoinedProgram::code_after(const ProgramStream& stream) const {
    const attach::Control& control = pages().control();
    if (stream.n_evaluations() > 0) {
        return stream.damaged() ? exit_code(ErrorKind::device) : 0;
    }
    std::string why = "it called no scheduler of ggml meanwhile";
    if (control.reason[0] != 0) {
        why = visible(std::string(control.reason, strnlen(control.reason, sizeof control.reason - 1)));
    } else if (control.unplanned > 0) {
        why = "it ran " + words::counted(control.unplanned, "time") +
              " by a plan that it made before schedscope joined, and made no other; a new prompt makes one";
    } else if (control.schedulers > 0 || control.adopted > 0) {
        why = "its schedulers planned nothing meanwhile";
    }
    throw Error(ErrorKind::device, "process " + std::to_string(id_) + ": nothing was recorded: " + why);
}

int attach_program(pid_t id, const ProgramRecording& recording) {
    if (recording.trace.empty()) {
        check_terminal(); // before the program is touched
    } else {
        check_trace(recording);
        catch_interrupts();
    }
    JoinedProgram program(id, recording);
    if (recording.trace.empty()) {
        return inspect_stream(program, {"", recording.no_text, nullptr});
    }
    const std::string& time = recording.bounds.duration;
    tell("joined process " + std::to_string(id) + " (" + visible(program.name()) + "); Ctrl-C leaves it as it was" +
         (time.empty() ? "" : ", and so does the end of " + time));
    return record_stream(program, recording);
}

} // namespace schedscope
