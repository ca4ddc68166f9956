#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace schedscope::gguf {

/// Writes a file so that PATH is never half written: into a new file beside it, renamed by `finish`. Without `finish` nothing
/// remains. A PATH that exists and is no regular file (a device, a pipe) is written directly.
/// All functions throw Error(device) "PATH: why".
class OutputFile {
public:
    explicit OutputFile(std::string path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    void append(std::span<const std::byte> bytes);
    /// Zeros that take no room on the disk: the file is that much longer. Only at the end of a regular file.
    void extend(uint64_t bytes);
    void finish();

private:
    [[noreturn]] void fail() const; ///< with the system's reason
    void flush();
    void write_all(std::span<const std::byte> bytes);

    std::string path_;
    std::string temporary_; ///< empty when PATH itself is written
    int fd_ = -1;
    std::vector<std::byte> buffer_;
};

} // namespace schedscope::gguf
