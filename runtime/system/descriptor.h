#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <unistd.h>
#include <utility>

namespace schedscope {

/// A file descriptor, closed when this goes.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    int get() const noexcept { return number_; } ///< −1: none
    explicit operator bool() const noexcept { return number_ >= 0; }
    int release() noexcept { return std::exchange(number_, -1); } ///< the caller closes it
    void close() noexcept {
        if (number_ >= 0) {
            ::close(std::exchange(number_, -1));
        }
    }

private:
    int number_ = -1;
};

/// Writes all of it, however many calls that takes. False with errno.
inline bool write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes = bytes.subspan(n > 0 ? n : 0);
    }
    return true;
}

} // namespace schedscope
