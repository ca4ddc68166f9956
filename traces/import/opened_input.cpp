#include "traces/import/opened_input.h"

#include "runtime/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace schedscope::import {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

void OpenedInput::fail(const std::string& why) const { throw Error(ErrorKind::input, input_name(path_) + ": " + why); }

OpenedInput::OpenedInput(const std::string& path, const std::atomic<bool>* stop) : path_(path), stop_(stop) {
    do { // a pipe that is not open for writing makes it wait
        descriptor_ =
            Descriptor(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
    } while (!descriptor_ && errno == EINTR && !stopped());
    if (stopped()) {
        return;
    }
    if (!descriptor_) {
        fail(errno == ENOENT ? "there is no such file" : std::strerror(errno));
    }
    struct stat status {};
    if (fstat(descriptor_.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
        fail("is a directory");
    }
    head_.resize(head_bytes);
    head_.resize(read(head_.data(), head_bytes));
    head_left_ = head_.size();
}

size_t OpenedInput::read(void* into, size_t bytes) {
    size_t n = std::min(head_left_, bytes);
    head_.copy(static_cast<char*>(into), n, head_.size() - head_left_);
    head_left_ -= n;
    while (n < bytes && !stopped()) {
        const ssize_t more = ::read(descriptor_.get(), static_cast<char*>(into) + n, bytes - n);
        if (more == 0) {
            break;
        }
        if (more < 0 && errno != EINTR) { // a signal only wakes it: what that one asked for is seen above
            fail(std::strerror(errno));
        }
        n += std::max<ssize_t>(more, 0);
    }
    return n;
}

int64_t OpenedInput::regular_bytes() const noexcept {
    struct stat status {};
    const bool again = fstat(descriptor_.get(), &status) == 0 && S_ISREG(status.st_mode);
    return again ? status.st_size : -1;
}

void OpenedInput::rewind() {
    head_left_ = 0;
    if (lseek(descriptor_.get(), 0, SEEK_SET) != 0) {
        fail(std::strerror(errno));
    }
}

void OpenedInput::replace(Descriptor copy) {
    descriptor_ = std::move(copy);
    rewind();
}

} // namespace schedscope::import
