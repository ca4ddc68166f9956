#include "traces/store/output.h"

#include "runtime/error.h"
#include "traces/format/schema.h"

#include <algorithm>
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
    return id == schema::application_id;
}

namespace {

/// Nothing, or what SQLite itself leaves beside a file: a journal, a log, the log's index. They begin with these bytes, or with
/// zeros where none were written yet.
bool is_sqlites(const std::string& path) noexcept {
    constexpr std::array<std::array<unsigned char, 4>, 5> beginnings{
        {{0xd9, 0xd5, 0x05, 0xf9}, {0x37, 0x7f, 0x06, 0x82}, {0x37, 0x7f, 0x06, 0x83}, {0x18, 0xe2, 0x2d, 0x00}, {}}};
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || (S_ISREG(status.st_mode) && status.st_size == 0)) {
        return true;
    }
    std::array<unsigned char, 4> found{};
    const int file = S_ISREG(status.st_mode) ? open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0) {
        return false;
    }
    const ssize_t n = read(file, found.data(), found.size());
    close(file);
    return n == static_cast<ssize_t>(found.size()) && std::find(beginnings.begin(), beginnings.end(), found) != beginnings.end();
}

} // namespace

void check_output(const std::string& path, bool force) {
    for (const char* suffix : {"-journal", "-wal", "-shm"}) {
        if (const std::string beside = path + suffix; !force && !is_sqlites(beside)) {
            throw Error(ErrorKind::usage,
                        beside + ": belongs to no trace and would be removed; choose another name or add --force");
        }
    }
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
