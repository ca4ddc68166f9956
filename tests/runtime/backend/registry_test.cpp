#include "runtime/backend/registry.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace schedscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Registry& registry() { return Registry::kept(); }

std::vector<std::string> names(std::string_view list) {
    std::vector<std::string> found;
    for (const Device* d : registry().select(list)) {
        found.emplace_back(d->name());
    }
    return found;
}

std::string refusal(std::string_view list) {
    try {
        registry().select(list);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        return e.what();
    }
    return "";
}

TEST(Registry, HasTheCpuFirst) {
    ASSERT_FALSE(registry().devices().empty());
    EXPECT_EQ(registry().devices().front()->name(), "CPU");
    EXPECT_EQ(&registry().cpu(), registry().devices().front().get());
    EXPECT_EQ(registry().cpu().kind(), DeviceKind::cpu);
}

TEST(Registry, SaysWhyADeviceIsMissing) {
    if (registry().find("BLAS") == nullptr) {
        EXPECT_THAT(registry().missing(), ::testing::Contains(HasSubstr("BLAS")));
    }
    for (const std::string& why : registry().missing()) {
        EXPECT_FALSE(why.empty());
        EXPECT_EQ(why.find('\n'), std::string::npos);
    }
}

TEST(Registry, FindsNamesInAnyCase) {
    EXPECT_EQ(registry().find("cpu"), &registry().cpu());
    EXPECT_EQ(registry().find("Cpu"), &registry().cpu());
    EXPECT_EQ(registry().find("CP"), nullptr);
    EXPECT_EQ(registry().find("CPU0"), nullptr);
    EXPECT_EQ(registry().find(""), nullptr);
}

TEST(Registry, EveryDeviceCanBeFoundAndDescribed) {
    for (const auto& d : registry().devices()) {
        EXPECT_EQ(registry().find(d->name()), d.get());
        EXPECT_FALSE(d->description().empty());
        EXPECT_GT(d->buffer_type().alignment(), 0U);
        EXPECT_TRUE(d->supports_buffer_type(d->buffer_type()));
    }
}

TEST(RegistrySelect, PutsTheCpuLastOnce) {
    EXPECT_THAT(names("cpu"), ElementsAre("CPU"));
    EXPECT_THAT(names("CPU,cpu"), ElementsAre("CPU"));
}

TEST(RegistrySelect, TakesEveryGpuByDefault) {
    std::vector<std::string> wanted;
    for (const auto& d : registry().devices()) {
        if (d->kind() == DeviceKind::gpu) {
            wanted.emplace_back(d->name());
        }
    }
    wanted.emplace_back("CPU");
    EXPECT_EQ(names(""), wanted);
}

TEST(RegistrySelect, KeepsTheOrderAndMakesAGpuThatIsNamedTwiceTwo) {
    if (registry().find("BLAS") == nullptr) {
        GTEST_SKIP() << "there is no second device here: " << ::testing::PrintToString(registry().missing());
    }
    EXPECT_THAT(names("blas"), ElementsAre("BLAS", "CPU"));
    EXPECT_THAT(names("CPU,BLAS"), ElementsAre("BLAS", "CPU"));
    EXPECT_THAT(names("blas,Blas"), ElementsAre("BLAS", "BLAS", "CPU"));
    if (registry().find("Vulkan0") != nullptr) {
        EXPECT_THAT(names("blas,vulkan0"), ElementsAre("BLAS", "Vulkan0", "CPU"));
        EXPECT_THAT(names("Vulkan0,cpu,BLAS,Vulkan0"), ElementsAre("Vulkan0", "BLAS", "Vulkan0.1", "CPU"));
    }
}

TEST(RegistrySelect, RefusesAnUnknownDeviceAndNamesWhatThereIs) {
    EXPECT_THAT(refusal("cpu,tpu"), ::testing::AllOf(HasSubstr("tpu"), HasSubstr("CPU")));
    EXPECT_THAT(refusal("cpu,,cpu"), HasSubstr("--device"));
    EXPECT_THAT(refusal(" "), HasSubstr("--device"));
    EXPECT_EQ(refusal("tpu").find('\n'), std::string::npos);
}

} // namespace
} // namespace schedscope
