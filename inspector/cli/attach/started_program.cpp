#include "inspector/cli/attach/started_program.h"

#include "runtime/error.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope {

namespace {

constexpr std::array passed_on = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr int n_signals = 65;
std::array<bool, n_signals> ignored = {};
volatile std::sig_atomic_t receiver = 0; ///< the process that signals are passed on to; 0: none
volatile std::sig_atomic_t is_apart = 0; ///< no terminal reaches it

/// A terminal sends to the whole group; what one process sent to this one alone, the program would not see.
void pass_on(int number, siginfo_t* info, void* /*context*/) {
    const int kept = errno;
    if (receiver != 0 && (is_apart != 0 || (info->si_code <= 0 && info->si_pid != receiver))) {
        kill(receiver, number);
    }
    errno = kept;
}

void take_signals() {
    struct sigaction action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int number : passed_on) {
        if (!ignored[number]) {
            sigaction(number, &action, nullptr);
        }
    }
}

/// In the child, before the program begins: all as whoever started us had it.
void give_signals_back(const sigset_t& mask) {
    for (int number = 1; number < n_signals; ++number) {
        struct sigaction action = {};
        action.sa_handler = ignored[number] ? SIG_IGN : SIG_DFL;
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, nullptr); // fails for those that can't be handled
    }
    sigprocmask(SIG_SETMASK, &mask, nullptr);
}

std::string with_process(std::string value) {
    if (const size_t at = value.find("%d"); at != std::string::npos) {
        value.replace(at, 2, std::to_string(getpid()));
    }
    return value;
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<StartedProgram::Variable>& environment,
                         const StartedProgram::Place& place, const sigset_t& mask, int failure) {
    if (place.output >= 0) {
        setsid();
        const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(place.output, STDOUT_FILENO);
        dup2(place.output, STDERR_FILENO);
    }
    for (const StartedProgram::Variable& variable : environment) {
        setenv(variable.name.c_str(), with_process(variable.value).c_str(), 1);
    }
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str())); // NOLINT: execvp's signature; it doesn't write
    }
    arguments.push_back(nullptr);
    give_signals_back(mask);
    execvp(arguments[0], arguments.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure, &why, sizeof why);
    _exit(127);
}

} // namespace

void note_inherited_signals() noexcept {
    for (int number = 1; number < n_signals; ++number) {
        struct sigaction action = {};
        ignored[number] = sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    }
}

StartedProgram::StartedProgram(const std::vector<std::string>& command, const std::vector<Variable>& environment,
                               const Place& place)
    : apart_(place.output >= 0) {
    std::array<int, 2> ends = {-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw Error(ErrorKind::device, "a pipe: " + std::string(std::strerror(errno)));
    }
    const Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    sigset_t all{}, before{};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    id_ = fork();
    if (id_ == 0) {
        become(command, environment, place, before, to.get());
    }
    const int no_fork = id_ < 0 ? errno : 0;
    receiver = std::max(id_, 0);
    is_apart = apart_ ? 1 : 0;
    take_signals();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    to.close();
    int why = no_fork;
    while (no_fork == 0 && ::read(from.get(), &why, sizeof why) < 0 && errno == EINTR) {}
    if (why != 0) {
        if (id_ > 0) {
            wait(-1);
        }
        throw Error(ErrorKind::device, visible(command.front()) + ": can't be started: " + std::strerror(why));
    }
    process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id_, 0)));
}

StartedProgram::~StartedProgram() { receiver = 0; }

bool StartedProgram::wait(int timeout_ms) {
    if (!ended_ && timeout_ms > 0) {
        pollfd watched{process_.get(), POLLIN, 0}; // of no descriptor it waits for the time alone
        poll(&watched, 1, timeout_ms);
    }
    int status = 0;
    if (!ended_ && waitpid(id_, &status, timeout_ms < 0 ? 0 : WNOHANG) == id_) {
        receiver = 0;
        killed_ = WIFSIGNALED(status);
        code_ = killed_ ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        ended_ = true;
    }
    return ended_;
}

bool StartedProgram::end() { return !ended_ && kill(apart_ ? -id_ : id_, SIGTERM) == 0; }

std::string found_program(const std::string& command) {
    if (command.find('/') != std::string::npos) {
        return access(command.c_str(), F_OK) == 0 ? command : "";
    }
    const char* const list = std::getenv("PATH");
    std::string rest = list == nullptr ? "/bin:/usr/bin" : list;
    for (bool more = true; more;) {
        const size_t end = rest.find(':');
        more = end != std::string::npos;
        const std::string folder = rest.substr(0, end);
        std::string path = (folder.empty() ? "." : folder) + "/" + command;
        if (access(path.c_str(), X_OK) == 0) {
            return path;
        }
        rest = more ? rest.substr(end + 1) : "";
    }
    return "";
}

} // namespace schedscope
