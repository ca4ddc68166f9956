#include "tests/inspector/cli/harness/typed_out.h"

#include <array>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

namespace schedscope::test {

using std::chrono::milliseconds;

TypedOut::TypedOut() {
    termios raw{};
    cfmakeraw(&raw); // a newline stays one
    if (openpty(&master_, &slave_, nullptr, &raw, nullptr) != 0) {
        throw std::runtime_error("no pseudo-terminal");
    }
    fcntl(master_, F_SETFD, FD_CLOEXEC);
    fcntl(slave_, F_SETFD, FD_CLOEXEC);
}

TypedOut::~TypedOut() {
    close(master_);
    close(slave_);
}

bool TypedOut::read_some(milliseconds timeout) {
    pollfd fd{master_, POLLIN, 0};
    if (poll(&fd, 1, static_cast<int>(timeout.count())) <= 0) {
        return false;
    }
    std::array<char, 65536> bytes{};
    const ssize_t n = read(master_, bytes.data(), bytes.size());
    if (n > 0) {
        text_.append(bytes.data(), static_cast<size_t>(n));
    }
    return n > 0;
}

bool TypedOut::read_until(std::string_view wanted) {
    while (text_.find(wanted) == std::string::npos) {
        if (!read_some(std::chrono::seconds(60))) {
            return false;
        }
    }
    return true;
}

void TypedOut::read_rest() {
    while (read_some(milliseconds(0))) {}
}

Outcome TypedOut::wait_for(Program& program) {
    while (!program.has_ended()) {
        read_some(milliseconds(1));
    }
    read_rest();
    return program.wait();
}

} // namespace schedscope::test
