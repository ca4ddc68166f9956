// Reading a log: a file or a pipe, in UTF-8 or as PowerShell redirects it, with colours and control characters.

#include "traces/import/log_file.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/files.h"
#include "runtime/system/number_words.h"
#include "runtime/system/utf8.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

namespace schedscope::import {

namespace {

constexpr size_t block = 1 << 18;
constexpr size_t longest_line = budget::log_line_bytes;
constexpr char escape = '\x1b', bell = '\x07';

/// Code units of two bytes, low byte first. Pairs for characters beyond 16 bits become question marks: no scheduler writes them.
std::string from_utf16(std::string_view bytes) {
    std::string out;
    for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
        const unsigned code = static_cast<unsigned char>(bytes[i]) | (static_cast<unsigned char>(bytes[i + 1])) << 8;
        if (code != 0xFEFF) {
            append_utf8(code >= 0xD800 && code < 0xE000 ? U'?' : char32_t{code}, out);
        }
    }
    return out;
}

} // namespace

LogFile::LogFile(OpenedInput input, const Limits& limits) : input_(std::move(input)), limits_(limits), buffer_(block) {
    if (is_to_stop()) {
        return;
    }
    const int64_t bytes = input_.regular_bytes();
    if (bytes > limits_.bytes) {
        refuse_size();
    }
    wide_ = input_.head().starts_with("\xFF\xFE");
    if (bytes < 0 || wide_ || input_.path() == "-") {
        keep();
    }
    rewind();
}

bool LogFile::is_to_stop() noexcept {
    stopped_ = stopped_ || input_.stopped();
    return stopped_;
}

/// The next bytes of the file; 0: its end, or the user asked to stop.
size_t LogFile::read_block() {
    const size_t n = is_to_stop() ? 0 : input_.read(buffer_.data(), buffer_.size());
    note_read(n);
    return n;
}

void LogFile::refuse_size() const {
    input_.fail("is longer than " + words::limit(limits_.bytes) + ", which is the most that is read of a log");
}

/// A pipe may have no end, and no end of a line.
void LogFile::note_read(size_t n) {
    if (kept_) {
        return;
    }
    const void* const newline = memrchr(buffer_.data(), '\n', n);
    const auto behind = newline == nullptr ? n : n - 1 - (static_cast<const char*>(newline) - buffer_.data());
    line_bytes_ = behind + (newline == nullptr ? line_bytes_ : 0);
    read_ += n;
    if (line_bytes_ > limits_.line_bytes) {
        input_.fail("has a line of more than " + words::limit(limits_.line_bytes) + ": it is no log");
    }
    if (read_ > limits_.bytes) {
        refuse_size();
    }
}

/// Copies the log to a file without a name.
void LogFile::keep() {
    Descriptor unnamed = temporary_file();
    const auto check = [](bool done) {
        if (!done) {
            throw Error(ErrorKind::device, std::string("a temporary file for the log: ") + std::strerror(errno));
        }
    };
    check(bool{unnamed});
    while (const size_t n = read_block()) { // blocks are even, so no code unit is torn but the last
        const std::string_view read(buffer_.data(), n);
        const std::string text = wide_ ? from_utf16(read) : std::string(read);
        check(write_all(unnamed.get(), std::as_bytes(std::span(text))));
    }
    input_.replace(std::move(unnamed));
    kept_ = true;
}

void LogFile::rewind() {
    if (is_to_stop()) {
        return;
    }
    input_.rewind();
    at_ = end_ = 0;
    read_ = line_bytes_ = 0;
    open_end_ = false;
}

bool LogFile::fill() {
    at_ = 0;
    end_ = read_block();
    return end_ > 0;
}

/// Leaves out escape sequences (ESC [ … letter, ESC ] … BEL or ESC \); other control characters become blanks.
void LogFile::clean(std::string_view raw) {
    line_.clear();
    for (size_t i = 0; i < raw.size(); ++i) {
        const char c = raw[i];
        if (c == escape && i + 1 < raw.size()) {
            const char kind = raw[++i];
            if (kind == '[') {
                while (i + 1 < raw.size() && static_cast<unsigned char>(raw[i + 1]) < 0x40) {
                    ++i;
                }
                ++i;
            } else if (kind == ']') {
                while (i + 1 < raw.size() && raw[i + 1] != bell && raw[i + 1] != escape) {
                    ++i;
                }
                i += i + 1 < raw.size() && raw[i + 1] == escape ? 2 : 1;
            }
        } else {
            line_ += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
        }
    }
}

bool LogFile::next(std::string_view& line) {
    if (is_to_stop()) {
        return false;
    }
    std::string raw;
    bool any = false, done = false;
    std::string_view whole;
    while (!done) {
        if (at_ == end_ && !fill()) {
            if (!any) {
                return false;
            }
            open_end_ = true;
            break;
        }
        any = true;
        open_end_ = false;
        const char* begin = buffer_.data() + at_;
        const void* newline = std::memchr(begin, '\n', end_ - at_);
        const size_t n = newline == nullptr ? end_ - at_ : (static_cast<const char*>(newline) - begin);
        at_ += n + (newline == nullptr ? 0 : 1);
        if (newline != nullptr && raw.empty()) {
            whole = {begin, n};
            break;
        }
        raw.append(begin, n);
        done = newline != nullptr || raw.size() >= longest_line;
    }
    if (!raw.empty()) {
        whole = raw;
    }
    while (!whole.empty() && whole.back() == '\r') {
        whole.remove_suffix(1);
    }
    const bool plain =
        std::none_of(whole.begin(), whole.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (plain) {
        line_ = whole;
    } else {
        clean(whole);
    }
    line = line_;
    return true;
}

} // namespace schedscope::import
