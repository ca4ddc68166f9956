#include "inspector/cli/text_input.h"

#include "runtime/error.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>

namespace schedscope {

std::string read_all(std::istream& in) { return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}; }

std::string read_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        throw Error(ErrorKind::input, path + ": is a directory");
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw Error(ErrorKind::input, path + ": " + std::strerror(errno));
    }
    return read_all(in);
}

} // namespace schedscope
