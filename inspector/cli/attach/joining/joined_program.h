#pragma once

#include "inspector/cli/attach/joining/join_process.h"
#include "inspector/cli/attach/launched_program.h"

#include <atomic>
#include <chrono>
#include <optional>

namespace schedscope {

/// A program that ran before schedscope did, and goes on without it: when the user interrupts, leaves the inspector, the time
/// that it is recorded for is over, or what it sends can't be written, it is left as it was.
class JoinedProgram final : public StreamSource {
public:
    /// Throws Error(device): what stands against it.
    JoinedProgram(pid_t id, const ProgramRecording& recording);
    ~JoinedProgram() override;

    const SharedPages& pages() const override { return process_.pages(); }
    std::string name() const override { return name_; }
    std::vector<std::pair<std::string, std::string>> facts() const override;
    bool wait(int timeout_ms) override;
    bool killed() const override { return has_ended_; }
    std::string why_nothing_yet() const override;
    void leave() override;
    bool goes_on_unread() const override { return false; }
    std::vector<std::string> notes() const override;
    int code_after(const ProgramStream& stream) const override;

private:
    using Clock = std::chrono::steady_clock;
    void leave_it();

    pid_t id_;
    bool no_text_;
    std::string name_;
    JoinedProcess process_;
    std::atomic<bool> leaves_ = false;
    bool has_ended_ = false, is_over_ = false;
    std::string not_left_; ///< why it is not as it was
    Clock::time_point looked_;
    std::optional<Clock::time_point> until_; ///< its time is over then, whether it sends something or not
};

/// Joins a process and records it, or shows it in the inspector where there is no trace to write.
int attach_program(pid_t id, const ProgramRecording& recording);

} // namespace schedscope
