#include "viz/output_file.h"

#include "runtime/error.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
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
        if (fstat(output, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino) {
            return true;
        }
    }
    return false;
}

bool can_be_replaced(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == geteuid() && !is_output_of_this_program(status);
}

/// A new file in this folder; −1 with errno where that can't be.
int make_hidden(const fs::path& folder, fs::path& name) {
    constexpr int most_tries = 1000;
    int file = -1;
    for (int i = 0; i < most_tries; ++i) {
        name = folder / (".schedscope-" + std::to_string(getpid()) + "-" + std::to_string(i));
        file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) {
            break;
        }
    }
    return file;
}

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
        made_ = folder_of(place_);
        mode_ = there ? earlier.st_mode & 07777U : 0;
        return;
    }
    if (!there) {
        fail();
    }
    file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) {
        fail();
    }
}

OutputFile::~OutputFile() {
    if (file_ >= 0) {
        close(file_);
        if (!made_.empty()) {
            unlink(made_.c_str());
        }
    }
}

void OutputFile::fail() const { throw Error(ErrorKind::device, path_ + ": " + std::strerror(errno)); }

void OutputFile::begin() {
    begun_ = true;
    if (made_.empty()) {
        struct stat status {};
        if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode) && ftruncate(file_, 0) != 0) {
            fail();
        }
        return;
    }
    const fs::path folder = made_;
    file_ = make_hidden(folder, made_);
    if (file_ < 0 || (mode_ != 0 && fchmod(file_, mode_) != 0)) {
        fail();
    }
}

void OutputFile::write(std::string_view bytes) {
    if (!begun_) {
        begin();
    }
    while (!bytes.empty()) {
        const ssize_t n = ::write(file_, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR) {
            fail();
        }
        bytes.remove_prefix(n > 0 ? static_cast<size_t>(n) : 0);
    }
}

void OutputFile::finish() {
    write({}); // it may be empty
    const int closed = close(file_);
    file_ = -1;
    if (!made_.empty()) {
        if (closed != 0 || rename(made_.c_str(), place_.c_str()) != 0) {
            const int why = errno;
            unlink(made_.c_str());
            errno = why;
            fail();
        }
    } else if (closed != 0) {
        fail();
    }
}

void write_output_file(const std::string& path, std::string_view bytes) {
    OutputFile file(path);
    file.write(bytes);
    file.finish();
}

} // namespace schedscope
