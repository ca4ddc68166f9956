#pragma once

#include "runtime/vision/decoders/decoder.h"
#include "tests/runtime/vision/files_in_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace schedscope::test {

inline vision::Image decode(const std::string& file) { return vision::decode_any(bytes_of(file)); }

/// The error's sentence; empty when there is none.
inline std::string refusal(const std::string& file) {
    try {
        decode(file);
    } catch (const vision::Undecodable& why) {
        EXPECT_EQ(std::string(why.what()).find('\n'), std::string::npos);
        return std::string("photo: ") + why.what();
    }
    return "";
}

inline void expect_same(const vision::Image& a, const vision::Image& b, const std::string& what) {
    EXPECT_EQ(a.width, b.width) << what;
    EXPECT_EQ(a.height, b.height) << what;
    EXPECT_TRUE(a.rgb == b.rgb) << what;
}

} // namespace schedscope::test
