#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace schedscope::test {

/// How a program is started; what is not said is as in the tests' own process.
struct Start {
    std::string in = {};                                               ///< standard input, whole
    std::vector<std::pair<std::string, std::string>> environment = {}; ///< variables to set
    std::string folder = {};                                           ///< current folder
    std::string out_to = {};        ///< file or device that takes standard output; empty: it is read
    int out_descriptor = -1;        ///< descriptor that takes it; -1: it is read
    int err_descriptor = -1;        ///< the same of its standard error
    long long largest_file = -1;    ///< bytes that a file it writes may have; -1: as here
    bool obeys_permissions = false; ///< of files, even when the tests run as root
};

/// What a program left.
struct Outcome {
    int code = -1; ///< exit code; 256 + n when signal n ended it; -1: it did not end before the deadline
    std::string out, err;
    long long peak_bytes = 0; ///< of memory that it had at once
};

/// What is on standard error beside the last line of a recording, "wrote TRACE: …".
std::string beside_wrote(const Outcome& outcome);

/// A program that runs, started without a shell. Its output is collected while it is waited for; a deadline only bounds a
/// failure.
///
///     Program program({"run", "-m", model});
///     program.signal(SIGINT);
///     EXPECT_EQ(program.wait().code, 130);
class Program {
public:
    /// The program under test with these arguments. Throws std::runtime_error when it can't be started.
    explicit Program(const std::vector<std::string>& arguments, const Start& start = {});
    ~Program(); ///< kills it when it was not waited for
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void signal(int number) const;
    bool has_ended() const; ///< without waiting
    /// Has it a file of this folder open, with a name or without?
    bool has_open_in(const std::string& folder) const;
    bool waits_to_write() const; ///< to a standard output that nobody reads
    Outcome wait(std::chrono::seconds deadline = std::chrono::seconds(300));

private:
    void collect(std::chrono::steady_clock::time_point end);
    void reap();

    pid_t pid_ = -1;
    int descriptor_ = -1; ///< of the process: readable when it has ended
    int in_ = -1, out_ = -1, err_ = -1;
    std::string input_;
    Outcome outcome_;
};

/// Runs `schedscope ARGUMENTS` to its end.
Outcome run(const std::vector<std::string>& arguments, const Start& start = {});

/// Leaves the core to others for a millisecond, in a loop that waits for what nothing announces.
void breathe();

/// What the calling thread starts from here on has to obey the permissions of files, even as root.
void obey_permissions();

/// Path of the program under test.
std::string program_path();

} // namespace schedscope::test
