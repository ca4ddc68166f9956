#include "tests/inspector/cli/harness/files.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace schedscope::testing {

namespace fs = std::filesystem;

Folder::Folder() : path_(fs::temp_directory_path() / "schedscope-cli-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
        throw std::runtime_error(path_ + ": can't be made");
    }
}

Folder::~Folder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_)) {
        all.push_back(entry.path().filename());
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error(path + ": can't be read");
    }
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, std::string_view bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool exists(const std::string& path) { return fs::exists(path); }

size_t count(std::string_view text, std::string_view what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) {
        ++n;
    }
    return n;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> all;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        all.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

std::string as_test_name(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return text;
}

std::string shared(std::string_view name) { return paths::shared(std::string(name)); }
std::string model(std::string_view type) { return shared("models/stories260K-" + std::string(type) + ".gguf"); }

} // namespace schedscope::testing
