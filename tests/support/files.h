#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace schedscope::files {

/// A folder of a test's own, removed at its end with all that is in it.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
    std::string file(std::string_view name) const { return *this / name; }
    std::vector<std::string> names() const; ///< of what lies in it, sorted

private:
    std::string path_;
};

std::string read_bytes(const std::string& path); ///< throws std::runtime_error when it can't be read
void write_bytes(const std::string& path, std::string_view bytes);

} // namespace schedscope::files
