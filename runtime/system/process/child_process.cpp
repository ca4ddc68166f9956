#include "runtime/system/process/child_process.h"

#include "runtime/clock.h"
#include "runtime/numbers.h"
#include "runtime/system/process/program_role.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: posix_spawn wants it

namespace schedscope {

namespace {

/// The running child; ended and waited for when it goes out of scope.
class Child {
public:
    Child(pid_t id, bool as_group) : id_(id), as_group_(as_group) {}
    ~Child() {
        if (id_ > 0) {
            kill(as_group_ ? -id_ : id_, SIGKILL);
            collect(0);
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// The wait status; options: WNOHANG returns nothing while it runs.
    std::optional<int> collect(int options) {
        int status = 0;
        pid_t ended = -1;
        do {
            ended = wait4(id_, &status, options, &used_);
        } while (ended < 0 && errno == EINTR);
        if (ended == 0) {
            return std::nullopt;
        }
        id_ = -1;
        constexpr int unknown = 127 << 8; // it "exited with 127", as a shell says of what it can't run
        return ended < 0 ? unknown : status;
    }

    /// Once it has ended.
    double processor_s() const noexcept {
        const auto seconds = [](const timeval& time) { return to_double(time.tv_sec) + 1e-6 * to_double(time.tv_usec); };
        return seconds(used_.ru_utime) + seconds(used_.ru_stime);
    }

private:
    pid_t id_;
    bool as_group_;
    rusage used_{};
};

/// This program's environment with these "NAME=value" in it, ended by a null; valid as long as both.
std::vector<char*> environment_with(const std::vector<std::string>& variables) {
    std::vector<char*> all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view there = *variable;
        const std::string_view name = there.substr(0, there.find('=') + 1);
        if (std::none_of(variables.begin(), variables.end(), [&](const std::string& own) { return own.starts_with(name); })) {
            all.push_back(*variable);
        }
    }
    for (const std::string& own : variables) {
        all.push_back(const_cast<char*>(own.c_str())); // NOLINT: posix_spawn's signature; it doesn't write
    }
    all.push_back(nullptr);
    return all;
}

pid_t start(const ChildCommand& child, int in, int out, int errors) {
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    // Every signal is at its default, and but for a group of its own the child stays in the terminal's: Ctrl-C ends it, whatever
    // this program does with it.
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t none{}, all{};
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    const int group = child.as_group ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));

    std::vector<char*> arguments;
    for (const std::string& argument : child.command) {
        arguments.push_back(const_cast<char*>(argument.c_str())); // NOLINT: posix_spawn's signature; it doesn't write
    }
    arguments.push_back(nullptr);
    pid_t id = -1;
    const int failed =
        posix_spawn(&id, arguments[0], &files, &attributes, arguments.data(), environment_with(child.environment).data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = failed;
    return failed == 0 ? id : -1;
}

/// Waits until the child has ended, time is up, or it is to stop. It is not enough that it closed its stderr: what was taken over
/// by its input may do that and stay.
class ChildWatch {
public:
    ChildWatch(const ChildCommand& command, Child& child, int errors)
        : command_(command), child_(child), errors_(errors), deadline_ns_(now_ns() + command.seconds * 1'000'000'000) {}

    /// Nothing: it has ended, as `status` says.
    std::optional<ChildEnd::How> wait(std::string& said, int& status) {
        for (bool listening = true;;) {
            if (command_.cancelled && command_.cancelled()) {
                return ChildEnd::How::cancelled;
            }
            const int64_t left_ms = (deadline_ns_ - now_ns() + 999'999) / 1'000'000;
            if (left_ms <= 0) {
                return ChildEnd::How::too_late;
            }
            if (listening) {
                listening = listen(int_of(std::min(left_ms, look_up_ms)), said);
                continue;
            }
            if (const std::optional<int> ended = child_.collect(WNOHANG)) {
                status = *ended;
                return std::nullopt;
            }
            poll(nullptr, 0, 1); // it closed its stderr a moment before it ends
        }
    }

private:
    static constexpr int64_t look_up_ms = 100; // a signal that arrived just before poll would be noticed only at its end
    static constexpr size_t most_said = 4096;

    /// False: there is nothing more to hear.
    bool listen(int wait_ms, std::string& said) const {
        pollfd watched{errors_, POLLIN, 0};
        if (poll(&watched, 1, wait_ms) <= 0) {
            return true;
        }
        std::array<char, most_said> part{};
        const ssize_t n = read(errors_, part.data(), part.size());
        if (n > 0 && said.size() < most_said) {
            said.append(part.data(), n);
        }
        return n > 0 || (n < 0 && errno == EINTR);
    }

    const ChildCommand& command_;
    Child& child_;
    int errors_;
    int64_t deadline_ns_;
};

std::string first_line(const std::string& text) {
    const size_t first = text.find_first_not_of('\n');
    return first == std::string::npos ? "" : visible(std::string_view(text).substr(first, text.find('\n', first) - first));
}

ChildEnd not_started(int why) { return {ChildEnd::How::not_started, 0, std::strerror(why)}; }

} // namespace

bool ChildEnd::interrupted() const noexcept {
    return how == How::cancelled || (how == How::killed && (code == SIGINT || code == SIGTERM || code == SIGHUP));
}

std::string ChildEnd::signal_name() const { return how == How::killed ? strsignal(code) : ""; }

ChildEnd run_child(const ChildCommand& command, const MemoryFile& in, const MemoryFile& out) {
    if (!can_be_played(command.command)) {
        return {ChildEnd::How::not_started, 0, "this program plays no roles"};
    }
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return not_started(errno);
    }
    const Descriptor errors(ends[0]);
    Descriptor child_errors(ends[1]);
    const pid_t id = start(command, in.descriptor(), out.descriptor(), child_errors.get());
    if (id < 0) {
        return not_started(errno);
    }
    Child child(id, command.as_group);
    child_errors.close();
    std::string said;
    int status = 0;
    if (const auto stopped = ChildWatch(command, child, errors.get()).wait(said, status)) {
        return {*stopped, 0, first_line(said)};
    }
    if (WIFSIGNALED(status)) {
        return {ChildEnd::How::killed, WTERMSIG(status), first_line(said)};
    }
    return {ChildEnd::How::exited, WEXITSTATUS(status), first_line(said), child.processor_s()};
}

} // namespace schedscope
