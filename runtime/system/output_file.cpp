#include "runtime/system/output_file.h"

#include "runtime/error.h"
#include "runtime/system/files.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

bool is_output_of_this_program(const struct stat& status) {
    const std::array<int, 2> outputs{STDOUT_FILENO, STDERR_FILENO};
    for (const int output : outputs) { // "/dev/stdout", or the name of the file that it goes to
        struct stat own {};
        if (fstat(output, &own) == 0 && FileIdentity::of(own) == FileIdentity::of(status)) {
            return true;
        }
    }
    return false;
}

bool can_be_replaced(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == geteuid() && !is_output_of_this_program(status);
}

constexpr std::string_view hidden_prefix = ".schedscope-";

/// A name of this program's for a file in the folder, the nth one that was tried.
fs::path hidden_name(const fs::path& folder, int n) {
    return folder / (std::string(hidden_prefix) + std::to_string(getpid()) + "-" + std::to_string(n));
}

/// Its program is gone: no process has the number in its name, nor does any hold its lock (one in another container has a number
/// that means nothing here).
bool is_left_over(const fs::path& file) {
    const std::string name = file.filename();
    const pid_t owner = std::atoi(name.c_str() + hidden_prefix.size());
    if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH) {
        return false;
    }
    const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    return opened && flock(opened.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_left_overs(const fs::path& folder) {
    for (const std::string& name : names_in(folder)) {
        if (name.starts_with(hidden_prefix) && is_left_over(folder / name)) {
            unlink((folder / name).c_str());
        }
    }
}

constexpr int most_tries = 1000;

/// A new file in this folder; none with errno where that can't be. `name`: empty when it needs none.
Descriptor make_file(const fs::path& folder, fs::path& name) {
    name.clear();
    if (access("/proc/self/fd", X_OK) == 0) { // by which it gets its name at the end
        if (Descriptor file(open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)); file) {
            return file;
        }
    }
    Descriptor file;
    for (int i = 0; !file && i < most_tries; ++i) {
        name = hidden_name(folder, i);
        file = Descriptor(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (!file && errno != EEXIST) {
            break;
        }
    }
    return file;
}

/// Gives a file without a name one in the folder; false with errno where that can't be.
bool give_name(int file, const fs::path& folder, fs::path& name) {
    const std::string itself = "/proc/self/fd/" + std::to_string(file);
    for (int i = 0; i < most_tries; ++i) {
        name = hidden_name(folder, i);
        if (linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            return true;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    name.clear();
    return false;
}

constexpr size_t buffer_bytes = size_t{1} << 20U;

} // namespace

fs::path without_links(fs::path path) {
    constexpr int longest_chain = 40; // as the kernel's
    std::error_code none;
    for (int i = 0; i < longest_chain && fs::is_symlink(fs::symlink_status(path, none)); ++i) {
        path = path.parent_path() / fs::read_symlink(path, none); // an absolute target replaces what is in front of it
    }
    return path;
}

OutputFile::OutputFile(const std::string& path) : path_(path), place_(without_links(path)) {
    struct stat earlier {};
    const bool there = stat(path.c_str(), &earlier) == 0;
    if (!there && errno != ENOENT) {
        fail();
    }
    const bool replace = !there || can_be_replaced(earlier);
    if (replace && there && faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
        fail(); // it is protected: that its folder isn't says nothing
    }
    if (replace && faccessat(AT_FDCWD, folder_of(place_).c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
        folder_ = folder_of(place_);
        mode_ = there ? earlier.st_mode & 07777U : 0;
        return;
    }
    if (!there) {
        fail();
    }
    file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) {
        fail();
    }
}

OutputFile::~OutputFile() {
    if (!hidden_.empty()) {
        unlink(hidden_.c_str());
    }
}

void OutputFile::fail() const { throw Error(ErrorKind::device, path_ + ": " + std::strerror(errno)); }

void OutputFile::begin() {
    begun_ = true;
    if (folder_.empty()) {
        struct stat status {};
        if (fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) && ftruncate(file_.get(), 0) != 0) {
            fail();
        }
        return;
    }
    remove_left_overs(folder_);
    file_ = make_file(folder_, hidden_);
    if (!file_ || (mode_ != 0 && fchmod(file_.get(), mode_) != 0)) {
        fail();
    }
    flock(file_.get(), LOCK_EX | LOCK_NB); // for others to see that it is being written; where locks can't be had, its name tells
}

void OutputFile::write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) {
        flush();
    }
    if (bytes.size() >= buffer_bytes) {
        put(bytes);
    } else {
        buffer_.append(bytes);
    }
}

void OutputFile::flush() {
    if (!begun_) {
        begin();
    }
    put(buffer_);
    buffer_.clear();
}

void OutputFile::put(std::string_view bytes) {
    if (!write_all(file_.get(), std::as_bytes(std::span(bytes)))) {
        fail();
    }
}

void OutputFile::extend(uint64_t bytes) {
    flush();
    const off_t end = lseek(file_.get(), 0, SEEK_END);
    if (end < 0 || ftruncate(file_.get(), end + static_cast<off_t>(bytes)) != 0 || lseek(file_.get(), 0, SEEK_END) < 0) {
        fail();
    }
}

void OutputFile::finish() {
    flush(); // it may be empty
    if (!folder_.empty() && hidden_.empty() && !give_name(file_.get(), folder_, hidden_)) {
        fail();
    }
    if (::close(file_.release()) != 0) {
        fail();
    }
    if (!hidden_.empty()) {
        if (rename(hidden_.c_str(), place_.c_str()) != 0) {
            fail();
        }
        hidden_.clear();
    }
}

void write_output_file(const std::string& path, std::string_view bytes) {
    OutputFile file(path);
    file.write(bytes);
    file.finish();
}

} // namespace schedscope
