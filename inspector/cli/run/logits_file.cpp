#include "inspector/cli/run/logits_file.h"

#include "runtime/error.h"

#include <bit>
#include <cerrno>
#include <cstring>

namespace schedscope {

static_assert(std::endian::native == std::endian::little, "rows are written as they lie in memory");

LogitsFile::LogitsFile(const std::string& path, bool one_sequence)
    : path_(path), one_sequence_(one_sequence), out_(path, std::ios::binary | std::ios::trunc) {
    check();
}

void LogitsFile::row(int32_t sequence, std::span<const float> logits) {
    if (one_sequence_) {
        out_.write(reinterpret_cast<const char*>(logits.data()), logits.size_bytes());
        check();
    } else {
        auto& rows = rows_[sequence];
        rows.insert(rows.end(), logits.begin(), logits.end());
    }
}

void LogitsFile::close() {
    for (const auto& [sequence, rows] : rows_) {
        out_.write(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float));
    }
    out_.close();
    check();
}

void LogitsFile::check() const {
    if (!out_) {
        throw Error(ErrorKind::device, path_ + ": " + (errno != 0 ? std::strerror(errno) : "write failed"));
    }
}

} // namespace schedscope
