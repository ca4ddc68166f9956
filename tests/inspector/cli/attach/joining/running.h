#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace schedscope::test {

/// Some program that runs beside a test, for others to join. It ends when its standard input does, or by a signal.
class Running {
public:
    Running(const std::vector<std::string>& command, const std::string& out_to);
    ~Running(); ///< kills it
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    pid_t id() const noexcept { return id_; }
    bool has_ended(); ///< without waiting
    /// As a shell says it: 128 + n after signal n.
    int wait();
    int close_input_and_wait();

private:
    pid_t id_ = -1;
    int in_ = -1, code_ = -1;
};

std::vector<pid_t> children_of(const std::string& process); ///< the processes that it started; "self": this one

/// May a process here trace another one that it did not start?
bool may_join();

} // namespace schedscope::test

/// Skips a test that joins a process, where that is forbidden to all.
#define NEEDS_JOINING()                                                                                                          \
    if (!::schedscope::test::may_join()) {                                                                                       \
        GTEST_SKIP() << "this machine lets no process trace another one (ptrace)";                                               \
    }                                                                                                                            \
    static_assert(true)
