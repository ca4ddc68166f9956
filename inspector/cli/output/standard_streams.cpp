#include "inspector/cli/output/standard_streams.h"

#include <iostream>

#include <unistd.h>

namespace schedscope {

VisibleBuffer::VisibleBuffer(std::ostream& stream) : stream_(stream), terminal_(*stream.rdbuf(this)) {}

VisibleBuffer::~VisibleBuffer() {
    const std::string last = pieces_.finish();
    terminal_.sputn(last.data(), last.size());
    terminal_.pubsync();
    const std::ios_base::iostate state = stream_.rdstate();
    stream_.rdbuf(&terminal_); // forgets that a write failed
    stream_.clear(state);
}

VisibleBuffer::int_type VisibleBuffer::overflow(int_type byte) {
    if (traits_type::eq_int_type(byte, traits_type::eof())) {
        return traits_type::not_eof(byte);
    }
    const char c = traits_type::to_char_type(byte);
    return xsputn(&c, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize VisibleBuffer::xsputn(const char* bytes, std::streamsize n) {
    const std::lock_guard lock(mutex_);
    const std::string shown = pieces_.add({bytes, static_cast<size_t>(n)});
    const std::streamsize size = shown.size();
    return terminal_.sputn(shown.data(), size) == size ? n : 0;
}

int VisibleBuffer::sync() {
    const std::lock_guard lock(mutex_);
    return terminal_.pubsync();
}

StandardStreams::StandardStreams() {
    if (isatty(STDOUT_FILENO) != 0) {
        out_.emplace(std::cout);
    }
    if (isatty(STDERR_FILENO) != 0) {
        error_.emplace(std::cerr);
    }
}

void erase_terminal_line() {
    constexpr std::string_view sequence = "\r\x1b[K";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sequence.data(), sequence.size());
}

} // namespace schedscope
