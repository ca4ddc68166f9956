#include "runtime/backend/vulkan/context.h"

#include <gtest/gtest.h>

namespace schedscope::vulkan {
namespace {

TEST(VulkanDescription, SaysNothingTwice) {
    EXPECT_EQ(device_words("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe"), "llvmpipe (LLVM 15.0.6, 256 bits)");
    EXPECT_EQ(device_words("AMD Radeon RX 6800 (RADV NAVI21)", "radv"), "AMD Radeon RX 6800 (RADV NAVI21)");
    EXPECT_EQ(device_words("Intel(R) Arc(tm) A770", "Mesa ANV"), "Intel(R) Arc(tm) A770, Mesa ANV");
    EXPECT_EQ(device_words("Old GPU", ""), "Old GPU");
}

} // namespace
} // namespace schedscope::vulkan
