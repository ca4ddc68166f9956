#include "runtime/gguf/mapping.h"

#include "runtime/error.h"
#include "runtime/system/files.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace schedscope::gguf {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); }

std::string system_reason() { return std::generic_category().message(errno); }

} // namespace

Mapping Mapping::of_file(const std::string& path) {
    auto [file, facts] = open_regular_file(path, "a GGUF file");
    if (facts.st_size == 0) {
        fail(path, "is empty");
    }
    const size_t size = facts.st_size;
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) {
        fail(path, "can't be mapped: " + system_reason());
    }
    Mapping m;
    m.bytes_ = {static_cast<const std::byte*>(address), size};
    m.path_ = path;
    m.file_ = std::move(file);
    m.range_ = MappedRange(m.bytes_);
    return m;
}

Mapping Mapping::of_bytes(std::vector<std::byte> bytes) noexcept {
    Mapping m;
    m.owned_ = std::move(bytes);
    m.bytes_ = m.owned_;
    return m;
}

Mapping::Mapping(Mapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), owned_(std::move(other.owned_)), path_(std::move(other.path_)),
      file_(std::move(other.file_)), range_(std::move(other.range_)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        release();
        bytes_ = std::exchange(other.bytes_, {});
        owned_ = std::move(other.owned_);
        path_ = std::move(other.path_);
        file_ = std::move(other.file_);
        range_ = std::move(other.range_);
    }
    return *this;
}

Mapping::~Mapping() { release(); }

void Mapping::check_whole() const {
    // A page that the new end lies in stays, with zeros behind the end, and raises no signal: the size says so.
    struct stat facts {};
    const bool shorter = file_ && ::fstat(file_.get(), &facts) == 0 && std::cmp_less(facts.st_size, bytes_.size());
    if (shorter || range_.lost_pages()) {
        fail(path_, "was cut short while it was read");
    }
}

void Mapping::release() noexcept {
    range_ = {};
    if (owned_.empty() && !bytes_.empty()) {
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    bytes_ = {};
}

} // namespace schedscope::gguf
