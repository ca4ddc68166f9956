// --logits-out: what the rows are, and how close they are to the values computed in double precision.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/models/storyteller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace schedscope::test {
namespace {

constexpr size_t width = 512; // the vocabulary: floats in a row
const char* const tokens = "1,403,407,261,378,432,383,286,261,376,298,315,421,395,317,426";
constexpr size_t n_tokens = 16;

std::vector<float> read_rows(const std::string& path) {
    const std::string bytes = read_bytes(path);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

std::vector<float> known_rows() { return read_rows(paths::shared("models/stories260K-logits-16x512.f32")); }

size_t likeliest(const std::vector<float>& rows, size_t row) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row * width);
    return static_cast<size_t>(std::max_element(begin, begin + width) - begin);
}

struct Case {
    std::string type, devices;
    int n_gpu_layers;
    bool f32_cache;
    double bound;
    bool same_choices;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.type << " on " << c.devices << " -ngl " << c.n_gpu_layers << (c.f32_cache ? " with an f32 cache" : "");
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    return as_test_name(c.type + (c.f32_cache ? "_f32cache_" : "_") + c.devices + "_ngl" + std::to_string(c.n_gpu_layers));
}

class Logits : public ::testing::TestWithParam<Case> {};

TEST_P(Logits, AreAsCloseAsTheirTypesAllow) {
    NEEDS_SHARED();
    const Case& c = GetParam();
    if (c.devices.starts_with("vulkan0") && !has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Folder folder;
    std::vector<std::string> arguments = {
        "run",          "-m",           trained_model(c.type), "--tokens", tokens,    "-n",   "0",
        "--logits-all", "--logits-out", folder / "rows",       "--device", c.devices, "-ngl", std::to_string(c.n_gpu_layers)};
    if (c.f32_cache) {
        arguments.insert(arguments.end(), {"-ctk", "f32", "-ctv", "f32"});
    }
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "\n");

    const std::vector<float> known = known_rows(), rows = read_rows(folder / "rows");
    ASSERT_EQ(rows.size(), known.size());
    double worst = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(rows[i]) - static_cast<double>(known[i])));
    }
    EXPECT_LE(worst, c.bound);
    for (size_t row = 0; c.same_choices && row < n_tokens; ++row) {
        EXPECT_EQ(likeliest(rows, row), likeliest(known, row)) << "row " << row;
    }
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto& [devices, shares] :
         {std::pair<const char*, std::vector<int>>{"cpu", {99}}, {"blas,cpu", {0, 99}}, {"vulkan0,cpu", {0, 3, 99}}}) {
        for (const int n : shares) {
            all.push_back({"f32", devices, n, true, 0.002, true});
            all.push_back({"f32", devices, n, false, 0.03, true});
            all.push_back({"f16", devices, n, true, 0.03, true});
            all.push_back({"f16", devices, n, false, 0.03, true});
            all.push_back({"q8_0", devices, n, false, 0.4, false});
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(OnEveryKindOfDevice, Logits, ::testing::ValuesIn(cases()), name_of);

/// Rows that a run leaves.
size_t rows_of(std::vector<std::string> arguments) {
    const Folder folder;
    arguments.insert(arguments.begin(),
                     {"run", "-m", model(), "--temp", "0", "--device", "cpu", "--logits-out", folder / "rows"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto bytes = std::filesystem::file_size(folder / "rows");
    EXPECT_EQ(bytes % (width * sizeof(float)), 0U);
    return bytes / (width * sizeof(float));
}

TEST(LogitsRows, AreOnePerGeneratedToken) {
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "5"}), 5U);
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "1"}), 1U);
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "0"}), 0U);
}

TEST(LogitsRows, WithLogitsAllBeginWithThePrompt) {
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "5", "--logits-all"}), n_tokens + 4);
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "1", "--logits-all"}), n_tokens);
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "0", "--logits-all"}), n_tokens);
}

TEST(LogitsRows, AreTheSameHoweverThePromptIsBatched) {
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "5", "--logits-all", "-ub", "3"}), n_tokens + 4);
    EXPECT_EQ(rows_of({"--tokens", tokens, "-n", "5", "-ub", "3", "-b", "7"}), 5U);
}

TEST(LogitsRows, AreTheOnesThatTheTokensWereChosenFrom) {
    const Storyteller teller;
    const Folder folder;
    const Outcome outcome = run(
        {"run", "-m", teller.model(), "-p", "", "--temp", "0", "-n", "20", "--device", "cpu", "--logits-out", folder / "rows"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<float> rows = read_rows(folder / "rows");
    ASSERT_EQ(rows.size(), 20 * width);
    for (size_t row = 0; row < 20; ++row) {
        EXPECT_EQ(likeliest(rows, row), static_cast<size_t>(teller.ids()[row])) << "row " << row;
    }
}

TEST(LogitsRows, OfSeveralSequencesComeBySequence) {
    const Folder folder;
    const std::vector<std::string> common = {"run",      "-m",  model(), "--temp", "0",    "-n",  "4",
                                             "--device", "cpu", "-ctk",  "f32",    "-ctv", "f32", "--logits-out"};
    std::vector<std::string> first = common, second = common, both = common;
    first.insert(first.end(), {folder / "first", "-p", "Once"});
    second.insert(second.end(), {folder / "second", "-p", "The dog"});
    both.insert(both.end(), {folder / "both", "--seq", "1:The dog", "--seq", "0:Once"});
    for (const auto& arguments : {first, second, both}) {
        ASSERT_EQ(run(arguments).code, 0);
    }
    std::vector<float> one_by_one = read_rows(folder / "first");
    const std::vector<float> rest = read_rows(folder / "second"), together = read_rows(folder / "both");
    one_by_one.insert(one_by_one.end(), rest.begin(), rest.end());
    ASSERT_EQ(together.size(), one_by_one.size());
    for (size_t i = 0; i < together.size(); ++i) {
        ASSERT_NEAR(together[i], one_by_one[i], 0.002) << "value " << i;
    }
}

} // namespace
} // namespace schedscope::test
