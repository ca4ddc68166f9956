#include "inspector/cli/line/installed.h"

#include <filesystem>

namespace schedscope::installed {

namespace {

namespace fs = std::filesystem;

std::string folder_of(const char* from_the_program) {
    std::error_code failed;
    std::string folder = path_of(from_the_program);
    return fs::is_directory(folder, failed) ? folder : "";
}

} // namespace

std::string path_of(const std::string& from_the_program) {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    return (program.parent_path() / from_the_program).lexically_normal().string();
}

std::string samples() { return folder_of("../share/schedscope/samples"); }

std::string man_pages() {
    const std::string folder = folder_of("../share/man");
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
