#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace schedscope {

/// A file that is written whole or not at all. It is made beside its place, as a hidden file, and takes it at the end: what was there before stays until then, and for
/// good when `finish` is not reached. A symbolic link goes on leading to the file, whose permissions stay.
///
/// Only what can't be replaced by another file is written in place, and is incomplete when that fails: a device, a pipe, what standard output goes to, a file of several
/// names or of somebody else, and one in a folder where nothing can be made.
class OutputFile {
public:
    /// Touches nothing yet. Throws Error(device) when nothing can be written there.
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes); ///< throws Error(device)
    void finish();                      ///< the file is complete; throws Error(device)

private:
    void begin();
    [[noreturn]] void fail() const; ///< with what errno says

    std::string path_;                   ///< as it was named
    std::filesystem::path place_, made_; ///< where it belongs; where it is until it is complete, empty: there
    unsigned mode_ = 0;                  ///< permissions of the earlier file; 0: there is none
    int file_ = -1;
    bool begun_ = false;
};

/// The same in one go.
void write_output_file(const std::string& path, std::string_view bytes);

/// Where a path leads that may be a symbolic link, also one whose target is not there yet.
std::filesystem::path without_links(std::filesystem::path path);

} // namespace schedscope
