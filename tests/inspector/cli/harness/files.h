#pragma once

#include "tests/support/files.h"
#include "tests/support/paths.h"

#include <string>
#include <string_view>
#include <vector>

namespace schedscope::test {

using files::Folder;
using files::read_bytes;
using files::write_bytes;

bool exists(const std::string& path);
size_t count(std::string_view text, std::string_view what);
std::vector<std::string> lines_of(std::string_view text); ///< without their newlines

std::string as_test_name(std::string text); ///< what is no letter or digit becomes a low line

/// Models and a picture that are made with the tests: a llama that tells a known text (tests/support/models/teller.h), an image
/// encoder for it, and an image of 56 x 56 pixels.
std::string model(const std::string& type = "f32");
std::string image_encoder();
std::string photo();

} // namespace schedscope::test

/// Skips a test that compares with files beside the repository where they are not there.
#define NEEDS_SHARED()                                                                                                           \
    if (!::schedscope::test::exists(::schedscope::paths::shared())) {                                                            \
        GTEST_SKIP() << ::schedscope::paths::shared() << " is not here";                                                         \
    }                                                                                                                            \
    static_assert(true)
