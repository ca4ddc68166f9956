// What may be written over.

#include "runtime/error.h"
#include "traces/schema.h"
#include "traces/writer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

bool is_trace(const std::string& path) noexcept {
    // An SQLite file begins with these 16 bytes, the end included; at 68 lies the application id, most significant byte first.
    constexpr char magic[] = "SQLite format 3";
    std::array<unsigned char, 100> header{};
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) { // what is read from a pipe is gone
        return false;
    }
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return false;
    }
    const ssize_t n = read(file, header.data(), header.size());
    close(file);
    if (n != static_cast<ssize_t>(header.size()) || std::memcmp(header.data(), magic, sizeof magic) != 0) {
        return false;
    }
    uint32_t id = 0;
    for (size_t i = 68; i < 72; ++i) {
        id = id << 8 | header[i];
    }
    return id == static_cast<uint32_t>(schema::application_id);
}

void check_output(const std::string& path, bool force) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) {
            throw Error(ErrorKind::device, path + ": " + std::strerror(errno));
        }
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        throw Error(ErrorKind::usage, path + ": is a directory; a trace is a file");
    }
    if (!S_ISREG(status.st_mode)) {
        throw Error(ErrorKind::usage, path + ": is not a regular file; a trace can't be written there");
    }
    if (!force && status.st_size > 0 && !is_trace(path)) {
        throw Error(ErrorKind::usage, path + ": is not a trace and would be overwritten; choose another name or add --force");
    }
}

} // namespace schedscope
