#include "runtime/system/memory_limit.h"

#include "tests/support/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace schedscope::test {
namespace {

/// A made-up /proc/self/cgroup, and groups.
class MemoryLimit : public ::testing::Test {
protected:
    std::optional<int64_t> limit(const std::string& groups) {
        write("groups", groups);
        return control_group_limit(folder_ / "groups", folder_.path());
    }
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

private:
    const files::Folder folder_;
};

TEST_F(MemoryLimit, IsTheLeastOfAGroupAndThoseThatItIsIn) {
    write("a/b/memory.max", "max\n");
    EXPECT_EQ(limit("0::/a/b\n"), std::nullopt);
    write("a/memory.max", "3000000\n");
    EXPECT_EQ(limit("0::/a/b\n"), 3000000);
    write("a/b/memory.max", "4000000\n");
    EXPECT_EQ(limit("0::/a/b\n"), 3000000);
    write("a/b/memory.max", "2000000\n");
    EXPECT_EQ(limit("0::/a/b\n"), 2000000);
    EXPECT_EQ(limit("0::/a\n"), 3000000);
    EXPECT_EQ(limit("0::/elsewhere\n"), std::nullopt);
    write("memory.max", "1000000\n");
    EXPECT_EQ(limit("0::/a/b\n"), 1000000) << "a container's own group is the root that it sees";
    EXPECT_EQ(limit("0::/elsewhere\n"), 1000000);
    EXPECT_EQ(limit("0::/\n"), 1000000);
}

TEST_F(MemoryLimit, IsKnownOfBothVersions) {
    write("memory/a/memory.limit_in_bytes", "5000000\n");
    write("memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("a/memory.max", "7000000\n");
    EXPECT_EQ(limit("9:name=systemd:/\n4:cpu,memory:/a\n0::/\n"), 5000000);
    EXPECT_EQ(limit("9:name=systemd:/a\n3:cpu:/a\n0::/a\n"), 7000000);
    EXPECT_EQ(limit("4:memory:/b\n"), 9223372036854771712);
}

TEST_F(MemoryLimit, IsNoneWhereNothingSaysSo) {
    for (const char* groups : {"", "\n", ":", "0:", "0::", "0::a", "memory", "4:memory", "4:memory:\n"}) {
        EXPECT_EQ(limit(groups), std::nullopt) << groups;
    }
    EXPECT_EQ(control_group_limit("/nowhere/groups", "/nowhere"), std::nullopt);
}

TEST(UsableMemory, IsNoMoreThanTheMachines) {
    EXPECT_GT(usable_memory(), 0);
    EXPECT_LE(usable_memory(), int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE));
}

} // namespace
} // namespace schedscope::test
