#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace schedscope {

/// What went wrong, in the terms a user's script can act on. The values are the program's exit codes.
enum class ErrorKind {
    usage = 2,  ///< the request makes no sense: a wrong option, an unknown tensor, an evaluation out of range
    input = 3,  ///< a file is missing, unreadable, broken or of an unknown kind
    device = 4, ///< a device, memory or output failed
};
constexpr int exit_code(ErrorKind kind) noexcept { return static_cast<int>(kind); }
constexpr int exit_interrupted = 130; ///< the program's, when it was asked to stop: as shells count SIGINT

/// The one exception type. `what()` is one sentence a user understands: "WHAT: WHY", without the program's name.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; }
    int exit_code() const noexcept { return schedscope::exit_code(kind_); }

private:
    ErrorKind kind_;
};

/// The user asked to stop what was being done: no error, and nothing is said about it.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

} // namespace schedscope
