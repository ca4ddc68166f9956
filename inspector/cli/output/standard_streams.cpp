#include "inspector/cli/output/standard_streams.h"

#include "runtime/system/descriptor.h"

#include <iostream>

#include <unistd.h>

namespace schedscope {

StreamBuffer::StreamBuffer(std::ostream& stream) : stream_(stream), below_(*stream.rdbuf(this)) {}

StreamBuffer::~StreamBuffer() {
    const std::ios_base::iostate state = stream_.rdstate();
    stream_.rdbuf(&below_); // forgets that a write failed
    stream_.clear(state);
}

StreamBuffer::int_type StreamBuffer::overflow(int_type byte) {
    if (traits_type::eq_int_type(byte, traits_type::eof())) {
        return traits_type::not_eof(byte);
    }
    const char c = traits_type::to_char_type(byte);
    return xsputn(&c, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize StreamBuffer::xsputn(const char* bytes, std::streamsize n) {
    const std::lock_guard lock(mutex_);
    return put({bytes, static_cast<size_t>(n)}) ? n : 0;
}

int StreamBuffer::sync() {
    const std::lock_guard lock(mutex_);
    return flush() ? 0 : -1;
}

DescriptorBuffer::DescriptorBuffer(std::ostream& stream, int descriptor)
    : StreamBuffer(stream), descriptor_(descriptor), is_terminal_(isatty(descriptor) != 0) {}

DescriptorBuffer::~DescriptorBuffer() { DescriptorBuffer::flush(); }

bool DescriptorBuffer::put(std::string_view text) {
    constexpr size_t much = 16384;
    held_ += text;
    const bool is_due = held_.size() >= much || (is_terminal_ && text.find('\n') != std::string_view::npos);
    return !is_due || flush();
}

bool DescriptorBuffer::flush() {
    const bool written = write_all(descriptor_, std::as_bytes(std::span(held_)));
    held_.clear(); // what could not be written is not tried again
    return written;
}

VisibleBuffer::~VisibleBuffer() {
    const std::string last = pieces_.finish();
    below().sputn(last.data(), last.size());
    below().pubsync();
}

bool VisibleBuffer::put(std::string_view text) {
    const std::string shown = pieces_.add(text);
    const std::streamsize size = shown.size();
    return below().sputn(shown.data(), size) == size;
}

bool VisibleBuffer::flush() { return below().pubsync() == 0; }

StandardStreams::StandardStreams() : out_(std::cout, STDOUT_FILENO), error_(std::cerr, STDERR_FILENO) {
    if (out_.is_terminal()) {
        shown_out_.emplace(std::cout);
    }
    if (error_.is_terminal()) {
        shown_error_.emplace(std::cerr);
    }
}

void erase_terminal_line() {
    constexpr std::string_view sequence = "\r\x1b[K";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sequence.data(), sequence.size());
}

} // namespace schedscope
