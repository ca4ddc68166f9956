#include "inspector/cli/show/export_file.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/system/output_file.h"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <streambuf>

#include <unistd.h>

namespace schedscope {

namespace {

bool is_earlier_export(const std::string& path, const ExportFormat& format) {
    std::array<char, 512> bytes{};
    std::ifstream in(path, std::ios::binary);
    in.read(bytes.data(), bytes.size());
    const std::string_view head(bytes.data(), in.gcount());
    return head.find(format.begins) != std::string_view::npos;
}

/// Hands what is written to a stream on to a file. The stream fails where the file does and once the program is interrupted, so
/// that whoever writes stops.
class FileBuffer final : public std::streambuf {
public:
    explicit FileBuffer(OutputFile& file) : file_(file) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

    /// Throws what kept the file from being written.
    void rethrow() const {
        if (error_) {
            std::rethrow_exception(error_);
        }
    }

protected:
    int_type overflow(int_type byte) override {
        if (sync() != 0) {
            return traits_type::eof();
        }
        return traits_type::eq_int_type(byte, traits_type::eof()) ? traits_type::not_eof(byte)
                                                                  : sputc(traits_type::to_char_type(byte));
    }
    int sync() override {
        try {
            if (interrupted()) {
                return -1;
            }
            file_.write({pbase(), static_cast<size_t>(pptr() - pbase())});
            setp(bytes_.data(), bytes_.data() + bytes_.size());
            return 0;
        } catch (...) { // a stream would keep it to itself
            error_ = std::current_exception();
            return -1;
        }
    }

private:
    OutputFile& file_;
    std::array<char, 1 << 16> bytes_{};
    std::exception_ptr error_;
};

} // namespace

void check_export(const std::string& path, const ExportFormat& format, bool force) {
    if (path == "-") {
        if (format.binary && isatty(STDOUT_FILENO) != 0) {
            throw Error(ErrorKind::usage, "-: " + std::string(format.name) + " is no text; name a file, or pipe it");
        }
        return;
    }
    std::error_code error;
    const bool holds_something = std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
    if (!force && holds_something && !is_earlier_export(path, format)) {
        throw Error(ErrorKind::usage, path + ": is not " + std::string(format.name) +
                                          " and would be overwritten; choose another name or add --force");
    }
}

void say_what_it_is(const std::string& path, const ExportFormat& format) {
    constexpr std::array<std::string_view, 11> of_others{".jsonl", ".json", ".pftrace", ".html", ".trace", ".gguf",
                                                         ".log",   ".svg",  ".png",     ".pdf",  ".dot"};
    const std::string suffix = std::filesystem::path(path).extension();
    if (suffix != format.suffix && std::find(of_others.begin(), of_others.end(), suffix) != of_others.end()) {
        tell(path + ": is " + std::string(format.name) + ", whose names end in " + std::string(format.suffix));
    }
}

void write_export(const std::string& path, const std::function<void(std::ostream&)>& write) {
    if (path == "-") {
        write(std::cout);
        return;
    }
    OutputFile file(path);
    FileBuffer buffer(file);
    std::ostream out(&buffer);
    write(out);
    out.flush();
    buffer.rethrow();
    if (!interrupted()) {
        file.finish();
    }
}

} // namespace schedscope
