#include "tests/corpus/text_lines.h"

#include "runtime/error.h"

#include <fstream>
#include <zlib.h>

namespace schedscope::corpus {

namespace {

constexpr size_t longest_line = size_t{256} << 20;

bool starts_as_gzip(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return in.get() == 0x1f && in.get() == 0x8b;
}

} // namespace

TextLines::TextLines(const std::filesystem::path& file) : name_(file.string()) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
        fail(std::filesystem::exists(file, ignored) ? "is not a file" : "there is no such file");
    }
    if (file.extension() == ".gz" && !starts_as_gzip(file)) {
        fail("is not a gzip file");
    }
    file_ = gzopen(name_.c_str(), "rb");
    if (file_ == nullptr) {
        fail("can't be opened");
    }
    gzbuffer(file_, 1 << 18);
}

TextLines::~TextLines() {
    if (file_ != nullptr) {
        gzclose_r(file_);
    }
}

bool TextLines::next(std::string& line) {
    line.clear();
    while (true) {
        const size_t end = buffer_.find('\n', used_);
        if (end != std::string::npos) {
            line.append(buffer_, used_, end - used_);
            used_ = end + 1;
            return true;
        }
        line.append(buffer_, used_);
        if (line.size() > longest_line) {
            fail("a line is longer than 256 MiB");
        }
        if (!fill()) {
            return !line.empty();
        }
    }
}

bool TextLines::fill() {
    buffer_.resize(1 << 18);
    used_ = 0;
    const int n = gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
    int code = Z_OK;
    gzerror(file_, &code);
    if (n < 0 || (n == 0 && code == Z_BUF_ERROR)) {
        fail(code == Z_BUF_ERROR ? "is cut off" : "is broken: its compressed data is damaged");
    }
    buffer_.resize(static_cast<size_t>(n));
    return n > 0;
}

void TextLines::fail(const std::string& why) const { throw Error(ErrorKind::input, name_ + ": " + why); }

} // namespace schedscope::corpus
