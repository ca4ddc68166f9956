#include "inspector/cli/line/installed.h"

#include <filesystem>

namespace schedscope::installed {

namespace {

namespace fs = std::filesystem;

std::string folder_beside_program(const char* from_its_folder) {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    const fs::path folder = (program.parent_path() / from_its_folder).lexically_normal();
    return fs::is_directory(folder, failed) ? folder.string() : "";
}

} // namespace

std::string samples() { return folder_beside_program("../share/schedscope/samples"); }

std::string man_pages() {
    const std::string folder = folder_beside_program("../share/man");
    std::error_code failed;
    // The folder is there in other programs' installations, too.
    return fs::exists(fs::path(folder) / "man1" / "schedscope.1.gz", failed) ? folder : "";
}

std::string sample_called(const std::string& path) {
    const std::string folder = samples();
    const fs::path name = fs::path(path).filename();
    const bool is_sample_path = !fs::path(path).has_parent_path() || fs::path(path).parent_path() == "traces/samples";
    if (folder.empty() || !is_sample_path || name.empty()) {
        return "";
    }
    fs::path sample = fs::path(folder) / name;
    if (sample.extension() != ".trace") {
        sample += ".trace";
    }
    std::error_code failed;
    return fs::is_regular_file(sample, failed) ? "; the sample of that name is " + sample.string() : "";
}

} // namespace schedscope::installed
