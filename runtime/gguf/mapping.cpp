#include "runtime/gguf/mapping.h"

#include "runtime/error.h"
#include "runtime/system/files.h"
#include "runtime/system/large_pages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace schedscope::gguf {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); }

constexpr const char* cut_short = "was cut short while it was read";

size_t page_size() noexcept {
    static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

std::string system_reason() { return std::generic_category().message(errno); }

/// New memory of so many bytes that begins as far behind a large page's begin as the address; null: there is none.
std::byte* like(const std::byte* address, size_t bytes) noexcept {
    void* const all = ::mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        return nullptr;
    }
    auto* const begin = static_cast<std::byte*>(all);
    const size_t before = (reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin)) % large_page;
    if (before > 0) {
        ::munmap(begin, before);
    }
    ::munmap(begin + before + bytes, large_page - before);
    ::madvise(begin + before, bytes, MADV_HUGEPAGE); // where there are none nothing changes
    return begin + before;
}

} // namespace

struct Mapping::Moved {
    std::mutex guard;
    std::vector<std::pair<size_t, size_t>> pages; ///< begins and ends, as offsets

    bool overlaps(size_t first, size_t end) {
        const std::scoped_lock lock(guard);
        return std::any_of(pages.begin(), pages.end(), [&](const auto& p) { return p.first < end && first < p.second; });
    }
    void add(size_t first, size_t end) {
        const std::scoped_lock lock(guard);
        pages.emplace_back(first, end);
    }
};

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
    m.moved_ = std::make_unique<Moved>();
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
      file_(std::move(other.file_)), range_(std::move(other.range_)), moved_(std::move(other.moved_)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        release();
        bytes_ = std::exchange(other.bytes_, {});
        owned_ = std::move(other.owned_);
        path_ = std::move(other.path_);
        file_ = std::move(other.file_);
        range_ = std::move(other.range_);
        moved_ = std::move(other.moved_);
    }
    return *this;
}

Mapping::~Mapping() { release(); }

void Mapping::check_whole() const {
    // A page that the new end lies in stays, with zeros behind the end, and raises no signal: the size says so.
    struct stat facts {};
    const bool shorter = file_ && ::fstat(file_.get(), &facts) == 0 && std::cmp_less(facts.st_size, bytes_.size());
    if (shorter || range_.lost_pages()) {
        fail(path_, cut_short);
    }
}

void Mapping::read_ahead(size_t offset, size_t bytes) const noexcept {
    if (!file_) {
        return;
    }
#ifndef MADV_POPULATE_READ
    constexpr int MADV_POPULATE_READ = 22; // Linux 5.14
#endif
    const size_t first = offset - offset % page_size();
    const size_t end = std::min(offset + bytes, bytes_.size());
    const size_t end_of_next = std::min(end + bytes, bytes_.size());
    auto* const begin = const_cast<std::byte*>(bytes_.data()) + first;
    ::madvise(begin, end_of_next - first, MADV_WILLNEED);
    if (::madvise(begin, end - first, MADV_POPULATE_READ) != 0 && errno == EINVAL) { // an older Linux: each page is touched
        for (const volatile std::byte* at = begin; at < bytes_.data() + end; at += page_size()) {
            [[maybe_unused]] const std::byte touched = *at;
        }
    }
}

void Mapping::let_go(size_t offset, size_t bytes) const noexcept {
    const size_t first = (offset + page_size() - 1) / page_size() * page_size(); // what lies beside may be needed
    const size_t end = (offset + bytes) / page_size() * page_size();
    if (file_ && first < end && !moved_->overlaps(first, end)) {
        auto* const begin = const_cast<std::byte*>(bytes_.data()) + first;
        ::madvise(begin, end - first, MADV_NOHUGEPAGE); // else a neighbour that is read brings two MiB of this back
        ::madvise(begin, end - first, MADV_DONTNEED);
    }
}

void Mapping::move_to_large_pages(size_t offset, size_t bytes) const noexcept {
    const size_t first = offset - offset % page_size(), end = (offset + bytes + page_size() - 1) / page_size() * page_size();
    if (!file_ || bytes == 0 || moved_->overlaps(first, end)) {
        return;
    }
    auto* const mapped = const_cast<std::byte*>(bytes_.data()) + first;
    const size_t size = end - first;
    std::byte* const copy = like(mapped, size);
    if (copy == nullptr) {
        return;
    }
    read_ahead(offset, bytes);
    std::memcpy(copy, mapped, std::min(end, bytes_.size()) - first);
    if (::mprotect(copy, size, PROT_READ) != 0 ||
        ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, mapped) == MAP_FAILED) {
        ::munmap(copy, size);
        return;
    }
    moved_->add(first, end);
}

void Mapping::read(size_t offset, std::span<std::byte> into) const {
    if (!file_) {
        std::memcpy(into.data(), bytes_.data() + offset, into.size());
        return;
    }
    while (!into.empty()) {
        const ssize_t n = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
        if (n == 0) {
            fail(path_, cut_short);
        }
        if (n < 0 && errno != EINTR) {
            fail(path_, "can't be read: " + system_reason());
        }
        offset += n > 0 ? n : 0;
        into = into.subspan(n > 0 ? n : 0);
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
