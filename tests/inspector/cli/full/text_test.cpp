// The text that the model is known to tell, for every share of its layers on every kind of device.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/models/storyteller.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

struct Case {
    std::string type, devices;
    int n_gpu_layers;
    size_t n_tokens;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    return as_test_name(c.type + "_" + c.devices + "_ngl" + std::to_string(c.n_gpu_layers));
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.type << " on " << c.devices << " -ngl " << c.n_gpu_layers; }

class Text : public ::testing::TestWithParam<Case> {};

TEST_P(Text, IsTheKnownOne) {
    const Case& c = GetParam();
    const Storyteller teller;
    if (c.devices.starts_with("vulkan0") && !has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const std::string known = teller.text(c.n_tokens);
    const Outcome outcome = run({"run", "-m", teller.model(c.type), "-p", "", "-n", std::to_string(c.n_tokens), "--temp", "0",
                                 "--device", c.devices, "-ngl", std::to_string(c.n_gpu_layers)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, known + "\n");
    if (!c.devices.starts_with("blas")) { // OpenBLAS may have narrower kernels than ours, which is told
        EXPECT_EQ(outcome.err, "");
    }
}

class TextWithoutFusion : public Text {};

TEST_P(TextWithoutFusion, IsTheSame) {
    const Case& c = GetParam();
    const Storyteller teller;
    if (c.devices.starts_with("vulkan0") && !has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    for (const char* attention : {"on", "off"}) {
        const std::vector<std::string> run_it = {"run",
                                                 "-m",
                                                 teller.model(c.type),
                                                 "-p",
                                                 "",
                                                 "-n",
                                                 std::to_string(c.n_tokens),
                                                 "--temp",
                                                 "0",
                                                 "--device",
                                                 c.devices,
                                                 "-ngl",
                                                 std::to_string(c.n_gpu_layers),
                                                 "-fa",
                                                 attention};
        std::vector<std::string> apart = run_it;
        apart.emplace_back("--no-fusion");
        const Outcome fused = run(run_it);
        const Outcome unfused = run(apart);
        EXPECT_EQ(fused.code, 0);
        EXPECT_EQ(unfused.code, 0);
        EXPECT_EQ(fused.out, unfused.out) << "-fa " << attention;
        EXPECT_EQ(fused.out, teller.text(c.n_tokens) + "\n") << "-fa " << attention;
    }
}

constexpr int every_share[] = {0, 1, 2, 3, 4, 5, 6, 99};

std::vector<Case> on_the_host() {
    std::vector<Case> cases;
    for (const char* type : {"f32", "f16"}) {
        for (const char* devices : {"cpu", "blas,cpu"}) {
            for (const int n : every_share) {
                cases.push_back({type, devices, n, 200});
            }
        }
    }
    return cases;
}

/// Software Vulkan takes 20 ms for a token: all 200 where the shares differ most, the first 40 for the rest.
std::vector<Case> on_vulkan() {
    std::vector<Case> cases;
    for (const std::string type : {"f32", "f16"}) {
        for (const int n : every_share) {
            const bool all = n == 0 || n == 99 || (n == 3 && type == "f32");
            cases.push_back({type, "vulkan0,cpu", n, all ? 200U : 40U});
        }
    }
    return cases;
}

/// Quantised weights tell the same for 20 tokens; then it depends on how activations are quantised.
std::vector<Case> quantised() {
    std::vector<Case> cases;
    for (const char* type : {"q8_0", "q4_0"}) {
        for (const char* devices : {"cpu", "blas,cpu", "vulkan0,cpu"}) {
            for (const int n : {0, 3, 99}) {
                cases.push_back({type, devices, n, 20});
            }
        }
    }
    return cases;
}

std::vector<Case> without_fusion() {
    std::vector<Case> cases;
    for (const char* devices : {"cpu", "blas,cpu", "vulkan0,cpu"}) {
        for (const int n : {0, 99}) {
            cases.push_back({"f32", devices, n, 40});
        }
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(OnTheHost, Text, ::testing::ValuesIn(on_the_host()), name_of);
INSTANTIATE_TEST_SUITE_P(OnVulkan, Text, ::testing::ValuesIn(on_vulkan()), name_of);
INSTANTIATE_TEST_SUITE_P(OnEachKind, TextWithoutFusion, ::testing::ValuesIn(without_fusion()), name_of);
INSTANTIATE_TEST_SUITE_P(Quantised, Text, ::testing::ValuesIn(quantised()), name_of);

} // namespace
} // namespace schedscope::test
