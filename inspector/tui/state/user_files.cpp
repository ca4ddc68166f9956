#include "inspector/tui/state/user_files.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/output_file.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::tui {
namespace {

constexpr size_t largest_file = budget::settings_bytes;

/// The base directory; a relative one is to be ignored (XDG base directory specification).
std::string base(const char* variable, const char* below_home) {
    if (const char* const path = std::getenv(variable); path && *path == '/') {
        return path;
    }
    const char* const home = std::getenv("HOME");
    return home && *home == '/' ? std::string(home) + below_home : std::string();
}

} // namespace

std::string settings_path() {
    const std::string folder = base("XDG_CONFIG_HOME", "/.config");
    return folder.empty() ? folder : folder + "/schedscope/settings";
}

std::string session_path(std::string_view trace) {
    const std::string folder = base("XDG_STATE_HOME", "/.local/state");
    if (folder.empty() || trace.empty()) {
        return {};
    }
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : trace) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    std::string name(trace.substr(trace.rfind('/') + 1, 64));
    return folder + "/schedscope/sessions/" + name + "-" + digits.data();
}

std::optional<std::string> read_small_file(const std::string& path, std::string& trouble) {
    if (path.empty()) {
        return std::nullopt;
    }
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not be waited for
    if (file < 0) {
        if (errno != ENOENT && errno != ENOTDIR) {
            trouble = std::strerror(errno);
        }
        return std::nullopt;
    }
    struct stat about {};
    std::string text;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        trouble = "it is no file";
    } else if (static_cast<size_t>(about.st_size) > largest_file) {
        trouble = "it is too large";
    } else {
        std::array<char, 4096> piece{};
        ssize_t n = 0;
        while (text.size() <= largest_file && (n = read(file, piece.data(), piece.size())) > 0) {
            text.append(piece.data(), n);
        }
        if (n < 0) {
            trouble = std::strerror(errno);
        }
    }
    close(file);
    return trouble.empty() ? std::optional(std::move(text)) : std::nullopt;
}

bool replace_file(const std::string& path, std::string_view text) {
    if (path.empty()) {
        return false;
    }
    const mode_t before = umask(077);
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
    bool done = false;
    if (!failed) {
        try {
            write_output_file(path, text);
            done = true;
        } catch (const Error&) {
            // the folder is full, say: the inspector goes on without it
        }
    }
    umask(before);
    return done;
}

std::string expanded_path(const std::string& path) {
    const char* const home = std::getenv("HOME");
    return home && path.starts_with("~/") ? home + path.substr(1) : path;
}

} // namespace schedscope::tui
