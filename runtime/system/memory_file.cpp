#include "runtime/system/memory_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

MemoryFile::MemoryFile(const char* what) : file_(memfd_create(what, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {}

bool MemoryFile::append(std::span<const std::byte> bytes) { return write_all(file_.get(), bytes); }

bool MemoryFile::finish() {
    return fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0 &&
           lseek(file_.get(), 0, SEEK_SET) == 0;
}

int64_t MemoryFile::size() const noexcept {
    struct stat facts {};
    return fstat(file_.get(), &facts) == 0 ? facts.st_size : 0;
}

bool MemoryFile::read(int64_t at, std::span<std::byte> into) const {
    while (!into.empty()) {
        const ssize_t n = pread(file_.get(), into.data(), into.size(), at);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        const ssize_t came = n > 0 ? n : 0;
        into = into.subspan(came);
        at += came;
    }
    return true;
}

} // namespace schedscope
