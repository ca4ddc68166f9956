#pragma once

#include "runtime/system/descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace schedscope {

/// Which file it is, whatever paths lead to it.
struct FileIdentity {
    dev_t device = 0;
    ino_t number = 0;

    static FileIdentity of(const struct stat& facts) noexcept { return {facts.st_dev, facts.st_ino}; }
    static FileIdentity of(int descriptor) noexcept;
    static std::optional<FileIdentity> of(const std::string& path) noexcept; ///< nothing: no file is there
    bool operator==(const FileIdentity&) const = default;
};

/// Which file it is and what it holds, as far as its size and the time of its last change tell.
struct FileVersion {
    FileIdentity file;
    int64_t bytes = 0;
    int64_t changed_s = 0, changed_ns = 0;

    static FileVersion of(const struct stat& facts) noexcept;
    static FileVersion of(int descriptor) noexcept;
    static std::optional<FileVersion> of(const std::string& path) noexcept; ///< nothing: no file is there
    bool operator==(const FileVersion&) const = default;
};

struct RegularFile {
    Descriptor descriptor;
    struct stat facts {};
};

/// Opens a regular file to read; a pipe without a writer is not waited for. Throws Error(input), "PATH: why", where there is
/// none. `what` it should be: "an image".
RegularFile open_regular_file(const std::string& path, const char* what);

/// The names in a folder, but "." and "..", in no order; none where it can't be read. (The library's iterator ends the program
/// where memory is short.)
std::vector<std::string> names_in(const std::string& folder);

/// A file without a name in the folder for temporary files (TMPDIR), which goes away when it is closed. None: errno says why.
Descriptor temporary_file();

} // namespace schedscope
