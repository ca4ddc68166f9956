#include "runtime/system/files.h"

#include "runtime/error.h"

#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <stdlib.h>
#include <utility>

namespace schedscope {

namespace {

struct stat facts_of(int descriptor) noexcept {
    struct stat facts {};
    fstat(descriptor, &facts);
    return facts;
}

} // namespace

FileIdentity FileIdentity::of(int descriptor) noexcept { return of(facts_of(descriptor)); }

std::optional<FileIdentity> FileIdentity::of(const std::string& path) noexcept {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? std::optional(of(facts)) : std::nullopt;
}

FileVersion FileVersion::of(const struct stat& facts) noexcept {
    return {FileIdentity::of(facts), facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
}

FileVersion FileVersion::of(int descriptor) noexcept { return of(facts_of(descriptor)); }

std::optional<FileVersion> FileVersion::of(const std::string& path) noexcept {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 ? std::optional(of(facts)) : std::nullopt;
}

RegularFile open_regular_file(const std::string& path, const char* what) {
    const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); };
    RegularFile file{Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), {}};
    if (!file.descriptor || fstat(file.descriptor.get(), &file.facts) != 0) {
        refuse(errno == ENOENT ? "there is no such file" : std::strerror(errno));
    }
    if (S_ISDIR(file.facts.st_mode)) {
        refuse(std::string("is a directory, not ") + what);
    }
    if (!S_ISREG(file.facts.st_mode)) {
        refuse("is not a regular file");
    }
    return file;
}

std::vector<std::string> names_in(const std::string& folder) {
    const auto close = [](DIR* opened) { closedir(opened); };
    const std::unique_ptr<DIR, decltype(close)> opened(opendir(folder.c_str()), close);
    std::vector<std::string> names;
    while (const dirent* const entry = opened ? readdir(opened.get()) : nullptr) {
        if (std::string name = entry->d_name; name != "." && name != "..") {
            names.push_back(std::move(name));
        }
    }
    return names;
}

Descriptor temporary_file() {
    std::error_code error;
    const std::filesystem::path found = std::filesystem::temp_directory_path(error);
    const std::filesystem::path folder = error ? std::filesystem::path(".") : found;
    Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file) { // not every file system can do it
        std::string name = folder / "schedscope-XXXXXX";
        file = Descriptor(mkostemp(name.data(), O_CLOEXEC));
        if (file) {
            unlink(name.c_str());
        }
    }
    return file;
}

} // namespace schedscope
