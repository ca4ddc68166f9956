#include "inspector/tui/background/program_output.h"

#include "runtime/error.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace schedscope::tui {

namespace {

constexpr off_t most_behind = off_t{16} << 20; ///< bytes; of more, only the end is read
constexpr off_t kept_pages = off_t{1} << 20;   ///< given back together

/// The length of the sequence of control characters that a text begins with; 0: it is none.
size_t sequence_length(std::string_view text) {
    if (text.size() < 2 || text[0] != '\x1b') {
        return 0;
    }
    if (text[1] == ']') { // a title, a link: up to BEL or ESC \ .
        for (size_t i = 2; i < text.size(); ++i) {
            if (text[i] == '\a' || (text[i] == '\\' && text[i - 1] == '\x1b')) {
                return i + 1;
            }
        }
        return text.size();
    }
    if (text[1] != '[') {
        return 2;
    }
    for (size_t i = 2; i < text.size(); ++i) {
        if (text[i] >= '@' && text[i] <= '~') {
            return i + 1;
        }
    }
    return text.size();
}

/// A line as a terminal would show it in the end.
std::string shown(std::string_view written) {
    constexpr size_t tab = 8;
    std::string line;
    bool begins_again = false;
    for (size_t i = 0; i < written.size(); ++i) {
        if (written[i] == '\r') {
            begins_again = true;
            continue;
        }
        if (const size_t n = sequence_length(written.substr(i)); n > 0) {
            i += n - 1;
            continue;
        }
        if (begins_again) {
            line.clear();
            begins_again = false;
        }
        if (written[i] == '\t') {
            line.append(tab - line.size() % tab, ' ');
        } else {
            line += written[i];
        }
    }
    return line;
}

} // namespace

ProgramOutput::ProgramOutput() : file_(memfd_create("output", MFD_CLOEXEC)), watch_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    const std::string path = "/proc/self/fd/" + std::to_string(file_.get());
    written_ = Descriptor(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!file_ || !written_ || inotify_add_watch(watch_.get(), path.c_str(), IN_MODIFY) < 0) {
        throw Error(ErrorKind::device, "memory for what the program writes: " + std::string(std::strerror(errno)));
    }
}

bool ProgramOutput::look() {
    std::array<char, 4096> events{};
    while (read(watch_.get(), events.data(), events.size()) > 0) {}
    struct stat status = {};
    if (fstat(file_.get(), &status) != 0 || status.st_size == taken_) {
        return false;
    }
    if (status.st_size < taken_ || status.st_size - taken_ > most_behind) { // it began the file again, or is far ahead
        taken_ = status.st_size < taken_ ? 0 : status.st_size - most_behind;
        last_.clear();
        forgot_ = true;
    }
    std::array<char, 1 << 16> bytes{};
    for (ssize_t n = 0; (n = pread(file_.get(), bytes.data(), bytes.size(), taken_)) > 0; taken_ += n) {
        take({bytes.data(), static_cast<size_t>(n)});
    }
    give_back();
    ++version_;
    return true;
}

void ProgramOutput::take(std::string_view bytes) {
    for (const char c : bytes) {
        if (c != '\n') {
            last_ += c;
        }
        if (c == '\n' || last_.size() == longest_line) {
            add_line();
        }
    }
}

void ProgramOutput::add_line() {
    lines_.push_back(shown(last_));
    last_.clear();
    if (lines_.size() > most_lines) {
        lines_.pop_front();
        forgot_ = true;
    }
}

void ProgramOutput::give_back() {
    const off_t whole = taken_ / kept_pages * kept_pages;
    if (whole > given_back_ &&
        fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, given_back_, whole - given_back_) == 0) {
        given_back_ = whole;
    }
}

std::vector<std::string> ProgramOutput::lines() const {
    std::vector<std::string> all(lines_.begin(), lines_.end());
    if (!last_.empty()) {
        all.push_back(shown(last_));
    }
    return all;
}

} // namespace schedscope::tui
