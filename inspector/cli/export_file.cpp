#include "inspector/cli/export_file.h"

#include "runtime/error.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

namespace schedscope {

namespace {

bool is_earlier_export(const std::string& path, const ExportFormat& format) {
    std::array<char, 512> bytes{};
    std::ifstream in(path, std::ios::binary);
    in.read(bytes.data(), bytes.size());
    const std::string_view head(bytes.data(), static_cast<size_t>(in.gcount()));
    return head.find(format.begins) != std::string_view::npos;
}

void check_export(const std::string& path, const ExportFormat& format, bool force) {
    std::error_code error;
    const bool holds_something = std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0;
    if (!force && holds_something && !is_earlier_export(path, format)) {
        throw Error(ErrorKind::usage, path + ": is not " + std::string(format.name) +
                                          " and would be overwritten; choose another name or add --force");
    }
}

} // namespace

void write_export(const std::string& path, const ExportFormat& format, bool force,
                  const std::function<void(std::ostream&)>& write) {
    if (path == "-") {
        if (format.binary && isatty(STDOUT_FILENO) != 0) {
            throw Error(ErrorKind::usage, "-: " + std::string(format.name) + " is no text; name a file, or pipe it");
        }
        write(std::cout);
        return;
    }
    check_export(path, format, force);
    std::ofstream out(path, std::ios::binary);
    if (out) {
        write(out);
        out.close();
    }
    if (!out) {
        throw Error(ErrorKind::device, path + ": " + std::strerror(errno));
    }
}

} // namespace schedscope
