#include "runtime/gguf/mapping.h"

#include "runtime/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace schedscope::gguf {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); }

std::string system_reason() { return std::generic_category().message(errno); }

class Descriptor {
public:
    explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    int get() const noexcept { return fd_; }

private:
    int fd_;
};

} // namespace

Mapping Mapping::of_file(const std::string& path) {
    const Descriptor file(path); // does not wait for a writer where PATH is a pipe
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
        fail(path, system_reason());
    }
    if (S_ISDIR(facts.st_mode)) {
        fail(path, "is a directory, not a GGUF file");
    }
    if (!S_ISREG(facts.st_mode)) {
        fail(path, "is not a regular file");
    }
    if (facts.st_size == 0) {
        fail(path, "is empty");
    }
    const auto size = static_cast<size_t>(facts.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) {
        fail(path, "can't be mapped: " + system_reason());
    }
    Mapping m;
    m.bytes_ = {static_cast<const std::byte*>(address), size};
    return m;
}

Mapping Mapping::of_bytes(std::vector<std::byte> bytes) noexcept {
    Mapping m;
    m.owned_ = std::move(bytes);
    m.bytes_ = m.owned_;
    return m;
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})), owned_(std::move(other.owned_)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        release();
        bytes_ = std::exchange(other.bytes_, {});
        owned_ = std::move(other.owned_);
    }
    return *this;
}

Mapping::~Mapping() { release(); }

void Mapping::release() noexcept {
    if (owned_.empty() && !bytes_.empty()) {
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    bytes_ = {};
}

} // namespace schedscope::gguf
