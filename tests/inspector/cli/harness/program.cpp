#include "tests/inspector/cli/harness/program.h"
#include "tests/support/paths.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace schedscope::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe");
        }
        read = ends[0];
        write = ends[1];
    }
};

void close_once(int& descriptor) {
    if (descriptor >= 0) {
        close(descriptor);
        descriptor = -1;
    }
}

std::vector<std::string> environment_of(const Start& start) {
    std::map<std::string, std::string> values;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const size_t equals = text.find('=');
        if (equals != std::string::npos) {
            values[text.substr(0, equals)] = text.substr(equals + 1);
        }
    }
    for (const auto& [name, value] : start.environment) {
        values[name] = value;
    }
    std::vector<std::string> entries;
    for (const auto& [name, value] : values) {
        entries.push_back(name + "=" + value);
    }
    return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> all;
    for (std::string& s : strings) {
        all.push_back(s.data());
    }
    all.push_back(nullptr);
    return all;
}

/// The largest file that this process, and what it starts, may write; as before at the end of the scope.
class FileSizeLimit {
public:
    explicit FileSizeLimit(long long bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        if (bytes >= 0) {
            limit.rlim_cur = static_cast<rlim_t>(bytes);
        }
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit before_{};
};

/// Reads what is there; closes the descriptor at its end.
void read_into(std::string& text, int& descriptor) {
    std::array<char, 65536> bytes{};
    const ssize_t n = read(descriptor, bytes.data(), bytes.size());
    if (n > 0) {
        text.append(bytes.data(), static_cast<size_t>(n));
    } else {
        close_once(descriptor);
    }
}

void write_from(std::string& text, int& descriptor) {
    const ssize_t n = text.empty() ? 0 : write(descriptor, text.data(), text.size());
    if (n <= 0) {
        close_once(descriptor);
    } else {
        text.erase(0, static_cast<size_t>(n));
    }
}

} // namespace

void breathe() { poll(nullptr, 0, 1); }

void obey_permissions() {
    for (const unsigned long right : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) {
        if (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0 && geteuid() == 0) {
            std::fprintf(stderr, "root's rights can't be given up: %s\n", std::strerror(errno));
            std::abort();
        }
    }
}

std::string program_path() { return paths::program("schedscope"); }

Program::Program(const std::vector<std::string>& arguments, const Start& start) : input_(start.in) {
    std::signal(SIGPIPE, SIG_IGN); // a program need not read its input
    Pipe in, out, err;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
    if (!start.out_to.empty()) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, start.out_to.c_str(), O_WRONLY | O_CREAT, 0644);
    } else {
        posix_spawn_file_actions_adddup2(&actions, start.out_descriptor >= 0 ? start.out_descriptor : out.write, STDOUT_FILENO);
    }
    posix_spawn_file_actions_adddup2(&actions, start.err_descriptor >= 0 ? start.err_descriptor : err.write, STDERR_FILENO);
    if (!start.folder.empty()) {
        posix_spawn_file_actions_addchdir_np(&actions, start.folder.c_str());
    }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t as_a_shell_starts_it;
    sigemptyset(&as_a_shell_starts_it);
    sigaddset(&as_a_shell_starts_it, SIGPIPE);
    sigaddset(&as_a_shell_starts_it, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &as_a_shell_starts_it);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

    const std::string path = program_path();
    std::vector<std::string> argument_texts = {path}, entries = environment_of(start);
    argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
    int error = 0;
    const auto spawn = [&] {
        const FileSizeLimit limit(start.largest_file);
        error =
            posix_spawn(&pid_, path.c_str(), &actions, &attributes, pointers(argument_texts).data(), pointers(entries).data());
    };
    if (start.obeys_permissions) {
        std::thread([&] { // the thread's loss, not the tests'
            obey_permissions();
            spawn();
        })
            .join();
    } else {
        spawn();
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(in.read);
    close(out.write);
    close(err.write);
    in_ = in.write;
    out_ = out.read;
    err_ = err.read;
    if (error != 0) {
        pid_ = -1;
        throw std::runtime_error(path + ": " + std::strerror(error));
    }
    fcntl(in_, F_SETFL, O_NONBLOCK);
    descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Program::~Program() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        reap();
    }
    for (int* descriptor : {&in_, &out_, &err_, &descriptor_}) {
        close_once(*descriptor);
    }
}

void Program::signal(int number) const { kill(pid_, number); }

bool Program::has_open_in(const std::string& folder) const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd", none)) {
        if (std::filesystem::read_symlink(entry.path(), none).string().starts_with(folder + "/")) {
            return true;
        }
    }
    return false;
}

bool Program::waits_to_write() const {
    std::ifstream call("/proc/" + std::to_string(pid_) + "/syscall"); // "running", or the number and its arguments
    long number = -1;
    std::string descriptor;
    return call >> number >> descriptor && number == SYS_write && descriptor == "0x1";
}

bool Program::has_ended() const {
    pollfd fd{descriptor_, POLLIN, 0};
    return pid_ < 0 || poll(&fd, 1, 0) > 0;
}

void Program::reap() {
    int status = 0;
    rusage used{};
    wait4(pid_, &status, 0, &used);
    outcome_.peak_bytes = 1024LL * used.ru_maxrss;
    outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    pid_ = -1;
}

void Program::collect(Clock::time_point end) {
    while (pid_ > 0 || out_ >= 0 || err_ >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        std::array<pollfd, 4> fds{
            {{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}, {pid_ > 0 ? descriptor_ : -1, POLLIN, 0}}};
        if (left <= 0 || (poll(fds.data(), fds.size(), static_cast<int>(left)) <= 0 && errno != EINTR)) {
            return;
        }
        if (fds[0].revents != 0) {
            write_from(input_, in_);
        }
        if (fds[1].revents != 0) {
            read_into(outcome_.out, out_);
        }
        if (fds[2].revents != 0) {
            read_into(outcome_.err, err_);
        }
        if (fds[3].revents != 0) {
            reap();
        }
    }
}

Outcome Program::wait(std::chrono::seconds deadline) {
    collect(Clock::now() + deadline);
    return outcome_;
}

Outcome run(const std::vector<std::string>& arguments, const Start& start) { return Program(arguments, start).wait(); }

std::string beside_wrote(const Outcome& outcome) {
    const size_t at = outcome.err.rfind("wrote ");
    return at == 0 || (at != std::string::npos && outcome.err[at - 1] == '\n') ? outcome.err.substr(0, at) : outcome.err;
}

} // namespace schedscope::test
