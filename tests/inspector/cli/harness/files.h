#pragma once

#include "tests/support/paths.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope::testing {

/// A folder of a test's own, removed at its end.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
    std::vector<std::string> names() const; ///< of what lies in it, sorted

private:
    std::string path_;
};

std::string read_bytes(const std::string& path); ///< throws std::runtime_error when it can't be read
void write_bytes(const std::string& path, std::string_view bytes);
bool exists(const std::string& path);
size_t count(std::string_view text, std::string_view what);
std::vector<std::string> lines_of(std::string_view text); ///< without their newlines

std::string as_test_name(std::string text); ///< what is no letter or digit becomes a low line

/// A file of the models and values that lie beside the repository; see NEEDS_SHARED.
std::string shared(std::string_view name);
std::string model(std::string_view type = "f32"); ///< of the stories260K files

} // namespace schedscope::testing

/// Skips the test when the models and values are not there.
#define NEEDS_SHARED()                                                                                                           \
    if (!::schedscope::testing::exists(::schedscope::testing::model())) {                                                        \
        GTEST_SKIP() << paths::shared() << " is not here";                                                                       \
    }                                                                                                                            \
    static_assert(true)
