#include "inspector/cli/output/text_input.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>

namespace schedscope {

namespace {

[[noreturn]] void refuse_length(const std::string& name) {
    throw Error(ErrorKind::input,
                name + ": is too long for a text; " + words::limit(budget::text_bytes) + " are the most that is read");
}

} // namespace

std::string read_all(std::istream& in, const std::string& name) {
    std::string text;
    std::array<char, 1 << 16> piece{};
    while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
        text.append(piece.data(), in.gcount());
        if (std::ssize(text) > budget::text_bytes) {
            refuse_length(name);
        }
    }
    return text;
}

std::string read_file(const std::string& path) {
    std::error_code none;
    if (std::filesystem::is_directory(path, none)) {
        throw Error(ErrorKind::input, path + ": is a directory");
    }
    if (std::filesystem::is_regular_file(path, none) &&
        std::filesystem::file_size(path, none) > static_cast<uintmax_t>(budget::text_bytes) && !none) {
        refuse_length(path);
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw Error(ErrorKind::input, path + ": " + std::strerror(errno));
    }
    return read_all(in, path);
}

} // namespace schedscope
