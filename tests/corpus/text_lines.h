#pragma once

#include <filesystem>
#include <string>

struct gzFile_s;

namespace schedscope::corpus {

/// The lines of a text file, gzipped (.gz) or plain.
class TextLines {
public:
    /// Throws Error(input) when it can't be opened, or is named .gz and isn't gzip.
    explicit TextLines(const std::filesystem::path& file);
    ~TextLines();
    TextLines(const TextLines&) = delete;
    TextLines& operator=(const TextLines&) = delete;

    /// False at the end. Throws Error(input) when the file is cut off, broken, or a line is longer than 256 MiB.
    bool next(std::string& line);

private:
    bool fill();
    [[noreturn]] void fail(const std::string& why) const;

    std::string name_;
    gzFile_s* file_ = nullptr;
    std::string buffer_;
    size_t used_ = 0; ///< bytes of buffer_ already given out
};

} // namespace schedscope::corpus
