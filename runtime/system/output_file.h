#pragma once

#include "runtime/system/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace schedscope {

/// A file that is written whole or not at all. It is made in the folder of its place, without a name where the file system can do
/// that and else as a hidden file, and takes its place at the end: what was there before stays until then, and for good when
/// `finish` is not reached. A symbolic link goes on leading to the file, whose permissions stay. However the program ends,
/// nothing of it remains but a hidden file at worst, which the next one that is made in the folder removes.
///
/// Only what can't be replaced by another file is written in place, and is incomplete when that fails: a device, a pipe, what
/// standard output goes to, a file of several names or of somebody else, and one in a folder where nothing can be made.
class OutputFile {
public:
    /// Touches nothing yet. Throws Error(device) when nothing can be written there.
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // All of these throw Error(device).
    void write(std::string_view bytes);
    void write(std::span<const std::byte> bytes) { write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }
    /// Zeros that take no room on the disk: the file is that much longer. Of regular files alone.
    void extend(uint64_t bytes);
    void finish(); ///< the file is complete

private:
    void begin();
    void flush();
    void put(std::string_view bytes);
    [[noreturn]] void fail() const; ///< with what errno says

    std::string path_;                     ///< as it was named
    std::filesystem::path place_, folder_; ///< where it belongs; where it is made, empty: it is written in place
    std::filesystem::path hidden_;         ///< its name until it is complete; empty: it has none
    unsigned mode_ = 0;                    ///< permissions of the earlier file; 0: there is none
    Descriptor file_;
    bool begun_ = false;
    std::string buffer_;
};

/// The same in one go.
void write_output_file(const std::string& path, std::string_view bytes);

/// Where a path leads that may be a symbolic link, also one whose target is not there yet.
std::filesystem::path without_links(std::filesystem::path path);

} // namespace schedscope
