#include "runtime/gguf/output_file.h"

#include "runtime/error.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace schedscope::gguf {

namespace {

constexpr size_t buffer_bytes = size_t{1} << 20U;
constexpr mode_t everyones = 0666; // less what the user's mask takes away

std::string temporary_name(const std::string& path) {
    static std::atomic<unsigned> counter{0};
    return path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

} // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    struct stat facts {};
    const bool exists = ::stat(path_.c_str(), &facts) == 0;
    if (exists && !S_ISREG(facts.st_mode)) {
        fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        temporary_ = temporary_name(path_);
        fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everyones);
    }
    if (fd_ < 0) {
        temporary_.clear();
        fail();
    }
    buffer_.reserve(buffer_bytes);
}

OutputFile::~OutputFile() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
    }
}

void OutputFile::fail() const { throw Error(ErrorKind::device, path_ + ": " + std::generic_category().message(errno)); }

void OutputFile::append(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) {
        flush();
    }
    if (bytes.size() >= buffer_bytes) {
        write_all(bytes);
    } else {
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    }
}

void OutputFile::flush() {
    write_all(buffer_);
    buffer_.clear();
}

void OutputFile::write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR) {
            fail();
        }
        bytes = bytes.subspan(n > 0 ? static_cast<size_t>(n) : 0);
    }
}

void OutputFile::extend(uint64_t bytes) {
    flush();
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    if (end < 0 || ::ftruncate(fd_, end + static_cast<off_t>(bytes)) != 0) {
        fail();
    }
}

void OutputFile::finish() {
    flush();
    if (::close(std::exchange(fd_, -1)) != 0) {
        fail();
    }
    if (!temporary_.empty()) {
        if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
            fail();
        }
        temporary_.clear();
    }
}

} // namespace schedscope::gguf
