#include "tests/support/ggml/released.h"

#include "tests/support/paths.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace schedscope::test {

namespace {

namespace fs = std::filesystem;

fs::path fixtures() {
    const char* const named = std::getenv("SCHEDSCOPE_FIXTURES");
    return named != nullptr && *named != 0 ? named : "/var/cache/schedscope-fixtures";
}

std::array<int, 3> numbers_of(const std::string& version) {
    std::array<int, 3> n = {};
    std::sscanf(version.c_str(), "%d.%d.%d", &n[0], &n[1], &n[2]); // NOLINT: what is none is 0
    return n;
}

std::string node() {
    const fs::path own = fixtures() / "node/node"; // where the system's is too old
    return fs::exists(own) ? own.string() : "node";
}

} // namespace

std::vector<Released> released_builds() {
    std::vector<Released> found;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(fixtures(), failed)) {
        if (fs::exists(entry.path() / "complete", failed) && fs::exists(entry.path() / "node_modules/node-llama-cpp", failed)) {
            const bool vulkan = fs::exists(entry.path() / "node_modules/@node-llama-cpp/linux-x64-vulkan", failed);
            found.push_back({entry.path().filename().string(), entry.path().string(), vulkan});
        }
    }
    std::sort(found.begin(), found.end(),
              [](const Released& a, const Released& b) { return numbers_of(a.version) < numbers_of(b.version); });
    return found;
}

std::string static_addon() {
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(fixtures(), failed)) {
        if (entry.path().filename().string().starts_with("fugood-") && fs::exists(entry.path() / "complete", failed)) {
            return entry.path().string();
        }
    }
    return "";
}

std::vector<std::string> drive_static(const std::string& addon, const std::string& model, int tokens) {
    return {node(), paths::source("tests/support/ggml/drive_static.mjs"), addon, model, std::to_string(tokens)};
}

std::vector<std::string> drive(const Released& build, const std::string& model, const std::vector<std::string>& options) {
    std::vector<std::string> command = {node(), paths::source("tests/support/ggml/drive.mjs"), build.folder, model};
    command.insert(command.end(), options.begin(), options.end());
    return command;
}

std::vector<std::string> measure_rates(const Released& build) {
    return {node(), paths::source("tests/support/ggml/rates.mjs"), build.folder};
}

} // namespace schedscope::test
