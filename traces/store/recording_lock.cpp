#include "traces/store/recording_lock.h"

#include "runtime/system/files.h"
#include "traces/store/sqlite.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace schedscope {

namespace {

// SQLite's file format: 512 bytes from 2^30 on are its locks; the page that they lie in is never used.
constexpr off_t sqlite_locks = off_t{1} << 30, n_sqlite_locks = 512;
constexpr off_t our_lock = sqlite_locks + n_sqlite_locks;

struct flock lock_of(off_t first, off_t n) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = n;
    return lock;
}

[[noreturn]] void fail() { throw sqlite::Failure(0, std::strerror(errno)); }

enum class Taken { yes, no, moved };

/// moved: by the time that it was locked another file had taken its place.
Taken take(const std::string& path, int file) {
    struct flock lock = lock_of(our_lock, 1);
    if (fcntl(file, F_OFD_SETLK, &lock) != 0) {
        if (errno == EACCES || errno == EAGAIN) {
            return Taken::no;
        }
        fail();
    }
    return FileIdentity::of(path) == FileIdentity::of(file) ? Taken::yes : Taken::moved;
}

[[noreturn]] void refuse_second() { throw sqlite::Failure(0, "another program is recording to it"); }

Descriptor open_to_write(const std::string& path, int more) {
    return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | more, 0666));
}

/// The file at the path, locked; made where there was none.
Descriptor lock_what_is_there(const std::string& path, bool& is_new) {
    for (;;) {
        Descriptor file = open_to_write(path, O_CREAT | O_EXCL);
        is_new = static_cast<bool>(file);
        if (!file && errno == EEXIST) {
            file = open_to_write(path, 0);
            if (!file && errno == ENOENT) {
                continue; // it went away meanwhile
            }
        }
        if (!file) {
            fail();
        }
        switch (take(path, file.get())) {
        case Taken::yes: return file;
        case Taken::no: refuse_second();
        case Taken::moved: break; // once more, with the one that is there now
        }
    }
}

void write_whole(int file, std::span<const std::byte> bytes) {
    if (!write_all(file, bytes)) {
        fail();
    }
}

/// A locked file of these bytes in the folder of the path, without a name. None: the file system has no such files.
Descriptor nameless_file(const std::string& path, std::span<const std::byte> bytes) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    Descriptor file = open_to_write(folder.empty() ? "." : folder.string(), O_TMPFILE);
    struct flock lock = lock_of(our_lock, 1);
    if (file && fcntl(file.get(), F_OFD_SETLK, &lock) == 0) {
        write_whole(file.get(), bytes);
        return file;
    }
    return {};
}

/// False: something has that name.
bool give_name(int file, const std::string& path) {
    const std::string nameless = "/proc/self/fd/" + std::to_string(file);
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        return true;
    }
    return errno == EEXIST ? false : throw sqlite::Failure(0, std::strerror(errno));
}

/// While the older one is locked. Whoever waited for its place is refused by one of the two locks, or has the place.
void put_there(Descriptor& file, const std::string& path, std::span<const std::byte> bytes) {
    if (unlink(path.c_str()) != 0) {
        fail();
    }
    if (file) {
        if (!give_name(file.get(), path)) {
            refuse_second();
        }
        return;
    }
    file = open_to_write(path, O_CREAT | O_EXCL);
    if (!file) {
        errno == EEXIST ? refuse_second() : fail();
    }
    if (take(path, file.get()) != Taken::yes) {
        refuse_second();
    }
    write_whole(file.get(), bytes);
}

} // namespace

RecordingLock::RecordingLock(const std::string& path, std::span<const std::byte> bytes) {
    const std::array journals{path + "-wal", path + "-shm", path + "-journal"}; // which need memory: before anything is touched
    file_ = nameless_file(path, bytes);
    if (!file_ || !give_name(file_.get(), path)) {
        bool is_new = false;
        Descriptor there = lock_what_is_there(path, is_new);
        if (!is_new || file_) {
            put_there(file_, path, bytes);
        } else {
            write_whole(there.get(), bytes);
            file_ = std::move(there);
        }
    }
    for (const std::string& journal : journals) {
        if (unlink(journal.c_str()) != 0 && errno != ENOENT) {
            fail();
        }
    }
}

namespace {

bool is_locked(int file, struct flock lock) noexcept { return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK; }

} // namespace

bool is_in_use(int file) noexcept { return is_locked(file, lock_of(sqlite_locks, n_sqlite_locks + 1)); }
bool is_being_recorded(int file) noexcept { return is_locked(file, lock_of(our_lock, 1)); }

} // namespace schedscope
