#include "inspector/cli/line/named_files.h"

#include "runtime/error.h"
#include "runtime/gguf/split.h"
#include "runtime/system/output_file.h"

#include <filesystem>

#include <sys/stat.h>

namespace schedscope {

namespace {

namespace fs = std::filesystem;

std::string numbers(const struct stat& facts) { return std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino); }

/// Equal for paths that lead to the same file, also to one that is not there yet. Empty: nothing can be lost there.
std::string identity(const std::string& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) == 0) {
        return S_ISREG(facts.st_mode) ? numbers(facts) : "";
    }
    const fs::path made = without_links(path);
    const std::string folder = made.has_parent_path() ? made.parent_path().string() : ".";
    return stat(folder.c_str(), &facts) == 0 ? numbers(facts) + "/" + made.filename().string() : "";
}

} // namespace

void NamedFiles::reads(const std::string& option, const std::string& path) {
    if (!path.empty()) {
        readers_.emplace(identity(path), option);
    }
}

void NamedFiles::reads_model(const std::string& option, const std::string& path) {
    for (const std::string& part : gguf::parts_by_name(path)) {
        reads(option, part);
    }
}

void NamedFiles::writes(const std::string& option, const std::string& path) {
    if (!path.empty()) {
        outputs_.push_back({option, path});
    }
}

void NamedFiles::check() const {
    std::map<std::string, std::string> writers;
    for (const NamedFile& output : outputs_) {
        const std::string same = identity(output.path);
        if (same.empty()) {
            continue;
        }
        const auto refuse = [&](const std::string& why) {
            throw Error(ErrorKind::usage, output.option + " " + output.path + ": " + why + "; name another one");
        };
        if (const auto reader = readers_.find(same); reader != readers_.end()) {
            refuse("this file is read (" + reader->second + ")");
        }
        if (const auto [writer, first] = writers.emplace(same, output.option); !first) {
            refuse("this file is written, too (" + writer->second + ")");
        }
    }
}

} // namespace schedscope
