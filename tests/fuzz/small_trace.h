#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {
class Recorder;
}

namespace schedscope::fuzz {

/// Gives SQLite the C library's memory instead of the sanitizer's, whose bookkeeping took most of the time: SQLite itself is not
/// what is tested. Called before anything opens a database.
void give_sqlite_plain_memory();

/// A run with every kind of record, of few blocks and one token.
void record_small_run(Recorder& to);
/// The same as a trace, of some ten kilobytes: in pages of 512 bytes. As its file's bytes.
std::string small_trace();

/// A folder in memory that goes away at the end of the program, which is ended when it makes a larger file than traces are here.
const std::string& scratch_folder();

/// A file without a name in memory that is opened by its path again and again.
class NamedMemoryFile {
public:
    NamedMemoryFile();
    void put(const std::string& bytes) const;
    const std::string& path() const noexcept { return path_; }

private:
    int file_;
    std::string path_;
};

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);
void extend_with_nothing(const std::string& path, int64_t bytes); ///< to so many, of which it takes no more room
std::vector<std::string> names_in(const std::string& folder);     ///< sorted

} // namespace schedscope::fuzz
