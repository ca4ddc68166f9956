#include "tests/inspector/cli/attach/joining/running.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope::test {

namespace {

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

} // namespace

Running::Running(const std::vector<std::string>& command, const std::string& out_to) {
    std::array<int, 2> ends = {-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("a pipe");
    }
    std::vector<char*> words;
    for (const std::string& word : command) {
        words.push_back(const_cast<char*>(word.c_str())); // NOLINT: execvp's signature
    }
    words.push_back(nullptr);
    id_ = fork();
    if (id_ == 0) {
        const int out = open(out_to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(ends[0], 0);
        dup2(out, 1);
        dup2(out, 2);
        execvp(words[0], words.data());
        _exit(127);
    }
    close(ends[0]);
    in_ = ends[1];
}

Running::~Running() {
    if (code_ < 0) {
        kill(id_, SIGKILL);
        wait();
    }
    if (in_ >= 0) {
        close(in_);
    }
}

bool Running::has_ended() {
    int status = 0;
    if (code_ < 0 && waitpid(id_, &status, WNOHANG) == id_) {
        code_ = code_of(status);
    }
    return code_ >= 0;
}

int Running::wait() {
    int status = 0;
    if (code_ < 0 && waitpid(id_, &status, 0) == id_) {
        code_ = code_of(status);
    }
    return code_;
}

int Running::close_input_and_wait() {
    close(in_);
    in_ = -1;
    return wait();
}

std::vector<pid_t> children_of(const std::string& process) {
    std::vector<pid_t> found;
    std::error_code failed;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task", failed)) {
        std::ifstream list(task.path() / "children");
        for (pid_t child = 0; list >> child;) {
            found.push_back(child);
        }
    }
    return found;
}

bool may_join() {
    const pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    const pid_t tracer = fork();
    if (tracer == 0) {
        _exit(ptrace(PTRACE_SEIZE, other, nullptr, nullptr) == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(tracer, &status, 0);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace schedscope::test
