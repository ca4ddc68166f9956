#pragma once

#include "runtime/backend/vulkan/vulkan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace schedscope::test {

using Devices = std::vector<std::unique_ptr<Device>>;

/// The machine's Vulkan devices, found once, under the validation layer. like_hardware: a software driver runs the kernels that
/// hardware gets.
inline const Devices& vulkan_devices(bool like_hardware = false) {
    const auto find = [](const char* hardware) {
        setenv("SCHEDSCOPE_VULKAN_VALIDATION", "1", 0); // unless the environment says it: CMakeLists.txt
        setenv("SCHEDSCOPE_VULKAN_LIKE_HARDWARE", hardware, 1);
        std::vector<std::string> missing;
        return find_vulkan_devices(missing);
    };
    static const Devices as_they_are = find("0");
    static const Devices as_hardware = find("1");
    return like_hardware ? as_hardware : as_they_are;
}

/// A test that needs a device, and during which the validation layer must have nothing to say.
template <typename Base> class OnVulkan : public Base {
protected:
    void SetUp() override {
        if (vulkan_devices().empty()) {
            GTEST_SKIP() << "there is no Vulkan device";
        }
        messages_ = vulkan_validation_messages();
    }
    void TearDown() override {
        EXPECT_EQ(vulkan_validation_messages(), messages_) << "the validation layer complained (see above)";
    }

    Device& device() const { return *vulkan_devices().front(); }

private:
    int messages_ = 0;
};

} // namespace schedscope::test
