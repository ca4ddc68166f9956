#include "tests/inspector/cli/harness/files.h"
#include "tests/support/models/teller.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace schedscope::test {

namespace fs = std::filesystem;

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

std::string model(const std::string& type) { return teller::model(type); }
std::string image_encoder() { return paths::made("mmproj-tiny-f32.gguf"); }
std::string photo() { return paths::made("test56.ppm"); }

} // namespace schedscope::test
