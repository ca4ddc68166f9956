#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

namespace schedscope::bench {

/// A pseudo-terminal with a program in it, and a clock: how long from a key to the end of the frame that answers it. The program
/// marks its frames as synchronised output; what it writes is not interpreted. Milliseconds of a steady clock.
class TimedTerminal {
public:
    using Clock = std::chrono::steady_clock;

    struct Answer {
        double first_ms = 0; ///< to the end of the first frame
        double last_ms = 0;  ///< to the end of the last one, after which the program waits for input
        double cpu_ms = 0;   ///< of its main thread until then, however busy the machine is with other things
        int n_frames = 0;
    };

    TimedTerminal(int rows, int cols, const std::vector<std::string>& arguments) {
        winsize size{};
        size.ws_row = static_cast<unsigned short>(rows);
        size.ws_col = static_cast<unsigned short>(cols);
        if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) {
            throw std::runtime_error("no pseudo-terminal");
        }
        started_ = Clock::now();
        child_ = fork();
        if (child_ == 0) {
            close(master_);
            setenv("TERM", "xterm-256color", 1);
            setenv("LC_ALL", "C.UTF-8", 1);
            login_tty(slave_);
            std::vector<char*> argv;
            for (const std::string& argument : arguments) {
                argv.push_back(const_cast<char*>(argument.c_str()));
            }
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
    }
    ~TimedTerminal() {
        if (child_ > 0) {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
        close(master_);
        close(slave_);
    }
    TimedTerminal(const TimedTerminal&) = delete;
    TimedTerminal& operator=(const TimedTerminal&) = delete;

    /// From the start of the process.
    Answer first_frame() { return wait_for_frames(started_, 0); }

    Answer press(std::string_view keys) {
        const double cpu = cpu_ms();
        const auto now = Clock::now();
        if (write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
            throw std::runtime_error("the program takes no keys");
        }
        return wait_for_frames(now, cpu);
    }

    /// As the system has seen it so far: the most memory that the program has held.
    int64_t peak_kib() const {
        std::ifstream status("/proc/" + std::to_string(child_) + "/status");
        for (std::string word; status >> word;) {
            int64_t kib = 0;
            if (word == "VmHWM:" && status >> kib) {
                return kib;
            }
        }
        return -1;
    }

private:
    double cpu_ms() const {
        std::ifstream schedstat("/proc/" + std::to_string(child_) + "/schedstat");
        double ns = 0;
        schedstat >> ns;
        return ns / 1e6;
    }

    Answer wait_for_frames(Clock::time_point from, double cpu_before) {
        constexpr std::string_view frame_end = "\x1b[?2026l";
        constexpr int longest_ms = 60'000;
        Answer answer;
        for (std::string tail;;) {
            pollfd fd{master_, POLLIN, 0};
            if (poll(&fd, 1, answer.n_frames == 0 ? longest_ms : 1) == 0) {
                if (answer.n_frames == 0) {
                    throw std::runtime_error("no frame within a minute");
                }
                if (is_waiting()) {
                    answer.cpu_ms = cpu_ms() - cpu_before;
                    return answer;
                }
                continue;
            }
            std::array<char, 65536> bytes{};
            const ssize_t n = read(master_, bytes.data(), bytes.size());
            if (n <= 0) {
                throw std::runtime_error("the program ended");
            }
            tail.append(bytes.data(), static_cast<size_t>(n));
            for (size_t at = 0; (at = tail.find(frame_end, at)) != std::string::npos; at += frame_end.size()) {
                answer.last_ms = std::chrono::duration<double, std::milli>(Clock::now() - from).count();
                answer.first_ms = answer.n_frames++ == 0 ? answer.last_ms : answer.first_ms;
            }
            tail.erase(0, tail.size() - std::min(tail.size(), frame_end.size() - 1));
        }
    }

    /// Is its main thread asleep, with nothing written and nothing left to read?
    bool is_waiting() const {
        int unread = 0;
        pollfd fd{master_, POLLIN, 0};
        if (ioctl(slave_, FIONREAD, &unread) != 0 || unread > 0 || poll(&fd, 1, 0) > 0) {
            return false;
        }
        std::ifstream stat("/proc/" + std::to_string(child_) + "/stat");
        std::string text;
        std::getline(stat, text);
        const size_t name_end = text.rfind(')');
        return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
    }

    int master_ = -1, slave_ = -1;
    pid_t child_ = -1;
    Clock::time_point started_;
};

} // namespace schedscope::bench
