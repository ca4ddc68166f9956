#pragma once

#include "tests/inspector/cli/harness/program.h"

#include <chrono>
#include <string>
#include <string_view>

namespace schedscope::test {

/// A terminal as a program's standard output, so that it prints as it goes. What is printed arrives as it was written.
class TypedOut {
public:
    TypedOut();
    ~TypedOut();
    TypedOut(const TypedOut&) = delete;
    TypedOut& operator=(const TypedOut&) = delete;

    int end_of_program() const noexcept { return slave_; }
    const std::string& text() const noexcept { return text_; } ///< what was read so far

    bool read_until(std::string_view wanted); ///< false after a deadline, which only bounds a failure
    void read_rest();                         ///< what is there
    /// Reads until the program has ended.
    Outcome wait_for(Program& program);

private:
    bool read_some(std::chrono::milliseconds timeout);

    int master_ = -1, slave_ = -1;
    std::string text_;
};

} // namespace schedscope::test
