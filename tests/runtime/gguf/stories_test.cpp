// A real model's file: what it says, and that no damage to it gets past the reader.
#include "tests/runtime/gguf/raw_file.h"

#include "runtime/error.h"
#include "runtime/tensor/convert.h"
#include "tests/support/models/storyteller.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace schedscope::gguf {
namespace {

class Stories : public ::testing::Test {
protected:
    File open(const std::string& type) const { return File::open(teller.model(type)); }
    const test::Storyteller teller;
};

TEST_F(Stories, SaysWhatItIs) {
    if (!teller.trained()) {
        GTEST_SKIP() << "needs the shared models";
    }
    const File file = open("f32");
    EXPECT_EQ(file.version(), 3U);
    EXPECT_EQ(file.alignment(), 32U);
    EXPECT_EQ(file.metadata().size(), 26U);
    EXPECT_EQ(file.tensors().size(), 47U);
    EXPECT_EQ(file.require_string("general.architecture"), "llama");
    EXPECT_EQ(file.require_u32("llama.block_count"), 5U);
    EXPECT_FLOAT_EQ(file.require_f32("llama.attention.layer_norm_rms_epsilon"), 1e-5F);
    EXPECT_EQ(file.get_bool("tokenizer.ggml.add_bos_token"), true);
    const auto tokens = file.require_string_array("tokenizer.ggml.tokens");
    ASSERT_EQ(tokens.size(), 512U);
    EXPECT_EQ(tokens[403], "\xE2\x96\x81Once");
    EXPECT_EQ(file.get_i32_array("tokenizer.ggml.token_type").value()[1], 3);
    EXPECT_EQ(file.require_f32_array("tokenizer.ggml.scores")[511], -252.0F);
}

TEST_F(Stories, ListsItsTensors) {
    const File file = open("q4_0");
    const FileTensor& q = file.require_tensor("blk.3.attn_k.weight");
    EXPECT_EQ(q.type, Type::Q4_0);
    EXPECT_EQ(q.n_dims, 2);
    EXPECT_EQ(q.ne, (Shape{64, 32, 1, 1}));
    EXPECT_EQ(q.bytes, 64U * 32U / 32U * 18U);
    EXPECT_EQ(file.require_tensor("blk.3.ffn_down.weight").type, Type::F16); // rows of 172
    EXPECT_EQ(file.require_tensor("output_norm.weight").n_dims, 1);
    EXPECT_EQ(file.find_tensor("output.weight") == nullptr, teller.trained()); // whose output is the embedding
}

TEST_F(Stories, HoldsTheSameWeightsInEveryType) {
    const File exact = open("f32");
    const struct {
        const char* type;
        double error; ///< of the largest value
    } kinds[] = {{"f16", 0x1p-11}, {"q8_0", 0.5 / 127 + 0x1p-10}, {"q4_0", 1.0 / 8}};
    for (const auto& kind : kinds) {
        const File file = open(kind.type);
        for (const FileTensor& t : file.tensors()) {
            const FileTensor& original = exact.require_tensor(t.name);
            const auto n = t.ne[0] * t.ne[1];
            std::vector<float> values(static_cast<size_t>(n));
            ASSERT_TRUE(row_to_float(t.type, t.data, values.data(), n));
            const auto* truth = reinterpret_cast<const float*>(original.data);
            const float largest =
                std::abs(*std::max_element(truth, truth + n, [](float a, float b) { return std::abs(a) < std::abs(b); }));
            for (size_t i = 0; i < values.size(); ++i) {
                ASSERT_NEAR(values[i], truth[i], largest * kind.error) << kind.type << ' ' << t.name << ' ' << i;
            }
        }
    }
}

TEST_F(Stories, StaysReadableWhenTheObjectMoves) {
    File first = open("f32");
    const auto name = first.require_string("general.name");
    const File second = std::move(first);
    EXPECT_EQ(second.require_string("general.name").data(), name.data());
    EXPECT_EQ(second.require_string("general.name"), teller.trained() ? "stories260K" : "teller");
}

/// Opens what may be damaged: it is read or refused, and what is read lies in the file.
void survive(std::vector<std::byte> bytes) {
    const size_t size = bytes.size();
    try {
        const File file = File::from_bytes(std::move(bytes));
        for (const MetadataEntry& e : file.metadata()) {
            e.value.text(4);
            e.value.as_string_array();
            e.value.as_f32_array();
        }
        for (const FileTensor& t : file.tensors()) {
            ASSERT_LE(t.offset + t.bytes, size);
        }
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(std::string(e.what()).rfind("memory: ", 0), 0U) << e.what();
    }
}

TEST_F(Stories, TruncatedAnywhereIsRefused) {
    const auto whole = test::read_file(teller.model("q4_0"));
    const File file = File::from_bytes(whole);
    const size_t header = whole.size() - (file.tensors().back().offset + file.tensors().back().bytes);
    for (size_t size = 0; size < whole.size(); size += size < header + 64 ? 1 : 977) {
        EXPECT_THROW(File::from_bytes({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), Error) << size;
    }
}

TEST_F(Stories, FlippedBytesNeverGetPastTheChecks) {
    const auto whole = test::read_file(teller.model("q4_0"));
    const File file = File::from_bytes(whole);
    const size_t header = whole.size() - (file.tensors().back().offset + file.tensors().back().bytes);
    std::mt19937 random(1234);
    for (int round = 0; round < 3000; ++round) {
        auto bytes = whole;
        for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
            bytes[random() % header] = static_cast<std::byte>(random());
        }
        survive(std::move(bytes));
    }
}

TEST_F(Stories, EveryNumberOfTheHeaderMayBeHuge) {
    const auto whole = test::read_file(teller.model("q4_0"));
    const File file = File::from_bytes(whole);
    const size_t header = whole.size() - (file.tensors().back().offset + file.tensors().back().bytes);
    for (size_t at = 0; at + 8 < header; at += 3) {
        auto bytes = whole;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 8, std::byte{at % 2 == 0 ? uint8_t{0xFF} : uint8_t{0x7F}});
        survive(std::move(bytes));
    }
}

} // namespace
} // namespace schedscope::gguf
