// Programs on ggml that do more than one context does: several devices and stages, threads, builds in one process, graphs of
// their own. What each plans is made again as it was, from its birth, and it says what it says by itself.
#include "tests/inspector/cli/attach/programs/reproduced.h"
#include "tests/inspector/cli/harness/files.h"
#include "tests/support/ggml/released.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

const std::string without_reuse = "LLAMA_GRAPH_REUSE_DISABLE";

std::string numbers(int from, int end) {
    std::string all;
    for (int i = from; i < end; ++i) {
        all += (i > from ? "," : "") + std::to_string(i);
    }
    return all;
}

class UnusualProgram : public ::testing::Test {
protected:
    void SetUp() override {
        NEEDS_SHARED();
        NEEDS_RELEASED_BUILDS();
    }
    static std::string weights(const std::string& type = "f32") { return paths::shared("models/stories260K-" + type + ".gguf"); }
    static Released newest() { return released_builds().back(); }
    static Released oldest() { return released_builds().front(); }

    const Folder folder;
    const std::string trace = folder / "x.trace";
};

TEST_F(UnusualProgram, WithTwoDevicesAndFourStages) {
    if (!newest().vulkan) {
        GTEST_SKIP() << "its Vulkan build is not here";
    }
    // The prompt goes through in pieces, each in the next stage.
    const Reproduced found = expect_reproduced(
        drive(newest(), weights(),
              {"--gpu", "vulkan", "--layers", "99", "--tokens", "6", "--batch", "8", "--prompt", numbers(300, 340)}),
        trace, {{"GGML_VK_VISIBLE_DEVICES", "0,0"}, {without_reuse, "1"}});
    if (!found.backends.contains("Vulkan1")) {
        GTEST_SKIP() << "there are no Vulkan devices that it takes";
    }
    EXPECT_THAT(found.n_stages, Contains(4));
    EXPECT_THAT(found.stages, ElementsAre(0, 1, 2, 3));
    EXPECT_GE(found.placed, 10);
}

TEST_F(UnusualProgram, WithTwoBuildsOfGgml) {
    if (oldest().version == newest().version) {
        GTEST_SKIP() << "there is one build only";
    }
    Released both = oldest();
    both.folder += "," + newest().folder;
    for (const std::string at_once : {"0", "2"}) { // one behind the other; two contexts of each at the same time
        SCOPED_TRACE(at_once);
        const Reproduced found =
            expect_reproduced(drive(both, weights() + "," + weights("q8_0"), {"--tokens", "20", "--at-once", at_once}), trace,
                              {{without_reuse, "1"}});
        EXPECT_THAT(found.libraries, SizeIs(2));
        EXPECT_THAT(found.backends, ElementsAre("CPU", "CPU.1"));
        EXPECT_EQ(count(found.said, "\n"), at_once == "0" ? 4U : 8U);
    }
}

TEST_F(UnusualProgram, WithFourContextsOnFourThreadsAndEmbeddings) {
    for (const Released& build : {oldest(), newest()}) {
        for (const bool is_off : {true, false}) {
            SCOPED_TRACE(build.version + (is_off ? ", without reuse" : ""));
            if (!is_off && build.version == oldest().version) {
                continue; // it has none
            }
            const Reproduced found = expect_reproduced(
                drive(build, weights() + "," + weights("q8_0"), {"--tokens", "30", "--at-once", "4", "--embed"}), trace,
                is_off ? Variables{{without_reuse, "1"}} : Variables{});
            EXPECT_EQ(count(found.said, "\n"), 10U); // 2 models, 4 contexts and an embedding each
            EXPECT_GE(std::ssize(found.schedulers), 10);
            EXPECT_THAT(found.kinds, IsSupersetOf({"reserve", "prefill", "decode"}));
            EXPECT_EQ(found.reused > 100, !is_off) << found.reused;
        }
    }
}

TEST_F(UnusualProgram, WithAllOfAForkInOneFile) {
    const std::string addon = static_addon();
    if (addon.empty()) {
        GTEST_SKIP() << "the addon of a fork is not here: tests/support/ggml/fixtures.sh";
    }
    const Reproduced found = expect_reproduced(drive_static(addon, weights(), 20), trace, {{without_reuse, "1"}});
    EXPECT_THAT(found.libraries, ElementsAre(::testing::EndsWith("index.node")));
    EXPECT_GE(found.placed, 20);
    EXPECT_THAT(found.said, ::testing::HasSubstr("a little girl named Lily"));
}

struct OwnGraph {
    std::string name;
    std::vector<std::string> options;
    int n_devices, n_stages;
};

class UnusualGraph : public ::testing::TestWithParam<OwnGraph> {};
INSTANTIATE_TEST_SUITE_P(On, UnusualGraph,
                         ::testing::Values(OwnGraph{"three_of_a_name", {}, 0, 1},
                                           OwnGraph{"three_of_a_name_staged", {"--stages"}, 0, 4},
                                           OwnGraph{"two_devices", {"--devices", "2"}, 2, 1},
                                           OwnGraph{"two_devices_staged", {"--devices", "2", "--stages", "--types"}, 2, 4}),
                         [](const auto& info) { return info.param.name; });

TEST_P(UnusualGraph, IsReproducedOnThreeBackends) {
    NEEDS_RELEASED_BUILDS();
    const Folder folder;
    const bool vulkan = GetParam().n_devices > 0;
    int n_builds = 0;
    for (const Released& build : {released_builds().front(), released_builds().back()}) {
        // Old ones take seconds for a device.
        if (vulkan && (!build.vulkan || build.version != released_builds().back().version)) {
            continue;
        }
        SCOPED_TRACE(build.version);
        std::vector<std::string> command = {paths::program("own_graph")};
        command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
        for (const std::string& library : ggml_libraries(build.folder, vulkan)) {
            command.push_back(library);
        }
        const Variables devices = {{"GGML_VK_VISIBLE_DEVICES", "0,0"}};
        const Reproduced found = expect_reproduced(command, folder / "x.trace", devices);
        EXPECT_EQ(found.backends.size(), 3U);
        EXPECT_EQ(found.plans, 10);
        EXPECT_EQ(found.placed, 9);
        EXPECT_THAT(found.schedulers, ElementsAre(0, 1));
        EXPECT_TRUE(found.n_stages.contains(GetParam().n_stages));
        EXPECT_THAT(found.said, ::testing::HasSubstr("left: "));
        ++n_builds;
    }
    if (n_builds == 0) {
        GTEST_SKIP() << "no Vulkan build is here";
    }
}

} // namespace
} // namespace schedscope::test
