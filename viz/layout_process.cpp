#include "viz/layout_process.h"

#include "runtime/clock.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ; // NOLINT: posix_spawn wants it

namespace schedscope {

namespace {

class File {
public:
    explicit File(int descriptor = -1) : descriptor_(descriptor) {}
    ~File() { close(); }
    File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    void close() {
        if (descriptor_ >= 0) {
            ::close(std::exchange(descriptor_, -1));
        }
    }
    int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

std::string system_says() { return std::strerror(errno); }

/// The text and the picture pass through memory files and not through pipes: nothing to keep flowing while waiting, and no signal when the child is gone.
File memory_file(const char* what) { return File(memfd_create(what, MFD_CLOEXEC)); }

bool fill(int file, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const ssize_t n = write(file, text.data() + at, text.size() - at);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? static_cast<size_t>(n) : 0;
    }
    return lseek(file, 0, SEEK_SET) == 0;
}

std::string content(int file) {
    const off_t size = lseek(file, 0, SEEK_END);
    std::string bytes(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t n = pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (n == 0 || (n < 0 && errno != EINTR)) {
            break;
        }
        at += n > 0 ? static_cast<size_t>(n) : 0;
    }
    bytes.resize(at);
    return bytes;
}

/// The running child; ended and waited for when it goes out of scope.
class Child {
public:
    explicit Child(pid_t id) : id_(id) {}
    ~Child() {
        if (id_ > 0) {
            end();
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// The wait status.
    int wait() {
        int status = 0;
        while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {}
        id_ = -1;
        return status;
    }
    void end() {
        kill(id_, SIGKILL);
        wait();
    }

private:
    pid_t id_;
};

pid_t start(const std::vector<std::string>& command, int in, int out, int errors) {
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    // The child stays in the terminal's group with every signal at its default: Ctrl-C ends it, whatever this program does with it.
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t none{}, all{};
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str())); // NOLINT: posix_spawn's signature; it doesn't write
    }
    arguments.push_back(nullptr);
    pid_t id = -1;
    const int failed = posix_spawn(&id, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    errno = failed;
    return failed == 0 ? id : -1;
}

enum class Ending { done, too_late, cancelled };

/// Until the child closes its stderr (it ended), time is up, or somebody wants it to stop.
Ending follow(int errors, int64_t deadline_ns, const PictureOptions& options, std::string& said) {
    constexpr int64_t look_up_ms = 100; // a signal that arrived just before poll would be noticed only at its end
    constexpr size_t most_said = 4096;
    for (;;) {
        if (options.cancelled && options.cancelled()) {
            return Ending::cancelled;
        }
        const int64_t left_ms = (deadline_ns - now_ns() + 999'999) / 1'000'000;
        if (left_ms <= 0) {
            return Ending::too_late;
        }
        pollfd watched{errors, POLLIN, 0};
        if (poll(&watched, 1,
                 static_cast<int>(options.cancelled ? std::min(left_ms, look_up_ms) : std::min<int64_t>(left_ms, 60'000))) <= 0) {
            continue;
        }
        std::array<char, 4096> part{};
        const ssize_t n = read(errors, part.data(), part.size());
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return Ending::done;
        }
        if (n > 0 && said.size() < most_said) {
            said.append(part.data(), static_cast<size_t>(n));
        }
    }
}

std::string first_line(const std::string& text) {
    const size_t first = text.find_first_not_of('\n');
    return first == std::string::npos ? "" : text.substr(first, text.find('\n', first) - first);
}

} // namespace

std::string run_layout(const std::string& dot, const std::string& renderer, const PictureOptions& options,
                       const std::string& name) {
    const std::string way_out =
        options.view == PictureView::layers ? "write .dot and lay it out with another tool" : "use --view layers, or write .dot";
    const auto fail = [&](const std::string& why) { return Error(ErrorKind::device, name + ": " + why); };

    File in = memory_file("dot"), out = memory_file("picture");
    std::array<int, 2> ends{-1, -1};
    if (in.get() < 0 || out.get() < 0 || pipe2(ends.data(), O_CLOEXEC) != 0 || !fill(in.get(), dot)) {
        throw fail("the layout can't be started: " + system_says());
    }
    File errors(ends[0]), child_errors(ends[1]);
    std::vector<std::string> command = options.layout_command;
    command.push_back(renderer);
    const pid_t id = start(command, in.get(), out.get(), child_errors.get());
    if (id < 0) {
        throw fail("the layout can't be started: " + system_says());
    }
    Child child(id);
    child_errors.close();

    std::string said;
    switch (follow(errors.get(), now_ns() + int64_t{options.layout_seconds} * 1'000'000'000, options, said)) {
    case Ending::too_late:
        throw fail("the layout took more than " + std::to_string(options.layout_seconds) + " s and was ended; " + way_out);
    case Ending::cancelled: throw fail("the layout was interrupted");
    case Ending::done: break;
    }
    const int status = child.wait();
    if (WIFSIGNALED(status)) {
        if (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGHUP) {
            throw fail("the layout was interrupted");
        }
        throw fail("Graphviz crashed while laying out (" + std::string(strsignal(WTERMSIG(status))) + "); " + way_out);
    }
    if (WEXITSTATUS(status) != 0) {
        throw fail("Graphviz could not lay it out" + (said.empty() ? "" : " (" + first_line(said) + ")") + "; " + way_out);
    }
    std::string picture = content(out.get());
    if (picture.empty()) {
        throw fail("Graphviz made an empty picture; " + way_out);
    }
    return picture;
}

} // namespace schedscope
