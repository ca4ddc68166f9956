// Models that are made up: the same everywhere, of every architecture, and fit to be run.
#include "tests/support/models/made_model.h"

#include "runtime/model/architecture.h"
#include "runtime/session/generate.h"
#include "runtime/session/session.h"
#include "runtime/tensor/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

TEST(Synth, is_the_same_for_the_same_seed_and_everywhere) {
    const auto a = synthesise_in_memory(small_shape(), Type::F32, 7, "a");
    const auto b = synthesise_in_memory(small_shape(), Type::F32, 7, "b");
    const auto other = synthesise_in_memory(small_shape(), Type::F32, 8, "c");
    const auto& x = a.require_tensor("blk.0.attn_q.weight");
    EXPECT_EQ(std::memcmp(x.data, b.require_tensor(x.name).data, x.bytes), 0);
    EXPECT_NE(std::memcmp(x.data, other.require_tensor(x.name).data, x.bytes), 0);
    // FNV-1a over the matrix, as a Python program that follows synth.cpp's description computes it.
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < x.bytes; ++i) {
        hash = (hash ^ static_cast<uint64_t>(x.data[i])) * 0x100000001b3ULL;
    }
    EXPECT_EQ(hash, 9757345278837850033ULL);
}

TEST(Synth, values_have_the_variance_of_one_over_the_inputs) {
    const auto file = synthesise_in_memory(small_shape(), Type::F32, 7, "a");
    const auto& t = file.require_tensor("output.weight");
    const auto* values = reinterpret_cast<const float*>(t.data);
    const size_t n = t.bytes / sizeof(float);
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < n; ++i) {
        sum += values[i];
        squares += static_cast<double>(values[i]) * values[i];
    }
    EXPECT_NEAR(sum / static_cast<double>(n), 0, 0.01);
    EXPECT_NEAR(squares / static_cast<double>(n), 1.0 / 64, 0.0005);
}

TEST(Synth, rows_that_do_not_divide_into_blocks_are_halves) {
    SynthShape shape = small_shape();
    shape.n_ff = 100;
    const auto file = synthesise_in_memory(shape, Type::Q8_0, 1, "a");
    EXPECT_EQ(file.require_tensor("blk.0.attn_q.weight").type, Type::Q8_0);
    EXPECT_EQ(file.require_tensor("blk.0.ffn_down.weight").type, Type::F16);
    EXPECT_EQ(file.require_tensor("blk.0.ffn_norm.weight").type, Type::F32);
}

TEST(Synth, impossible_wishes_are_refused) {
    SynthShape heads = small_shape();
    heads.n_head = 7;
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { synthesise_in_memory(heads, Type::F32, 1, "a"); }), HasSubstr("synth"));
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { synthesise_in_memory(small_shape(), Type::I32, 1, "a"); }), HasSubstr("i32"));
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { synth_preset("llama", "huge"); }),
                AllOf(HasSubstr("huge"), HasSubstr("110m")));
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { synth_preset("gpt9", "tiny"); }),
                AllOf(HasSubstr("gpt9"), HasSubstr("gemma3")));
}

TEST(Synth, there_is_one_of_every_architecture_that_the_runtime_knows) {
    std::vector<std::string_view> known, made;
    for (const Architecture* a : architectures()) {
        known.push_back(a->name);
    }
    for (const SynthArchitecture* a : synth_architectures()) {
        made.push_back(a->name);
        EXPECT_EQ(a->presets.front().name, "tiny") << a->name;
    }
    EXPECT_THAT(made, ::testing::UnorderedElementsAreArray(known));
}

/// Architecture and preset.
using Names = std::pair<std::string, std::string>;

std::vector<Names> tiny_ones() {
    std::vector<Names> names;
    for (const SynthArchitecture* a : synth_architectures()) {
        for (const SynthPreset& p : a->presets) {
            if (p.name.starts_with("tiny")) {
                names.emplace_back(a->name, p.name);
            }
        }
    }
    return names;
}

class SynthTiny : public ::testing::TestWithParam<Names> {
protected:
    const SynthShape shape = synth_preset(GetParam().first, GetParam().second);

    std::shared_ptr<gguf::File> made(uint64_t seed, Type type = Type::F32) const {
        return std::make_shared<gguf::File>(synthesise_in_memory(shape, type, seed, "made.gguf"));
    }
    /// All weights, in the order of the file.
    static std::vector<std::byte> weights_of(const gguf::File& file) {
        std::vector<std::byte> bytes;
        for (const gguf::FileTensor& t : file.tensors()) {
            bytes.insert(bytes.end(), t.data, t.data + t.bytes);
        }
        return bytes;
    }
};

/// What a model made of a prompt of eight tokens: rows of logits of each of them, then of those generated but the last.
struct ModelAnswer {
    std::vector<std::vector<float>> logits;
    std::vector<int32_t> tokens;
};

ModelAnswer run_greedily(const std::shared_ptr<gguf::File>& file, int32_t n_predict) {
    RunOptions o;
    o.model = "made";
    o.devices = "cpu";
    o.n_threads = 2;
    o.sampling.temperature = 0;
    const Registry registry;
    Session session(registry, file, o);
    GenerateRequest request;
    request.prompts.push_back({0, {1, 300, 45, 401, 260, 17, 99, 333}, std::nullopt});
    request.n_predict = n_predict;
    request.all_logits = true;
    ModelAnswer told;
    request.on_logits = [&](int32_t, int32_t, std::span<const float> row) { told.logits.emplace_back(row.begin(), row.end()); };
    told.tokens = generate(session, request).sequences.at(0).tokens;
    return told;
}

double size_of(const std::vector<float>& row) {
    double squares = 0;
    for (const float v : row) {
        squares += static_cast<double>(v) * v;
    }
    return std::sqrt(squares / static_cast<double>(row.size()));
}

/// Whose rows all blocks divide.
SynthShape wide_shape() {
    SynthShape shape = small_shape();
    shape.n_embd = shape.n_ff = 256;
    shape.n_vocab = 512;
    return shape;
}

std::vector<Type> types_of_weights() {
    std::vector<Type> types;
    for (const std::string_view name : type_names()) {
        const Type type = type_from_name(name).value();
        if (can_expand(type)) {
            types.push_back(type);
        }
    }
    return types;
}

class SynthTypes : public ::testing::TestWithParam<Type> {};

TEST_P(SynthTypes, are_loaded_and_give_logits_of_size_one) {
    const auto file = std::make_shared<gguf::File>(synthesise_in_memory(wide_shape(), GetParam(), 3, "made.gguf"));
    EXPECT_EQ(file->require_tensor("token_embd.weight").type, GetParam());
    EXPECT_EQ(file->require_tensor("blk.1.ffn_down.weight").type, GetParam());
    const ModelAnswer told = run_greedily(file, 2);
    ASSERT_GE(told.logits.size(), 8U);
    for (const std::vector<float>& row : told.logits) {
        EXPECT_GT(size_of(row), 0.3); // NaN is not
        EXPECT_LT(size_of(row), 3);
    }
    EXPECT_NE(told.logits.front(), told.logits.back());
}

TEST_P(SynthTypes, have_the_variance_of_one_over_the_inputs) {
    const auto file = synthesise_in_memory(wide_shape(), GetParam(), 3, "made.gguf");
    const gguf::FileTensor& t = file.require_tensor("output.weight");
    std::vector<float> values(static_cast<size_t>(t.ne[0] * t.ne[1]));
    row_to_float(t.type, t.data, values.data(), static_cast<int64_t>(values.size()));
    const bool ternary = GetParam() == Type::TQ1_0 || GetParam() == Type::TQ2_0; // an even spread is rounded to more of its ends
    EXPECT_NEAR(size_of(values) * 16, ternary ? std::sqrt(1.5) : 1.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, SynthTypes, ::testing::ValuesIn(types_of_weights()),
                         [](const auto& info) { return std::string(type_name(info.param)); });

TEST_P(SynthTiny, is_the_same_for_the_same_seed_only) {
    const auto a = weights_of(*made(7)), again = weights_of(*made(7)), other = weights_of(*made(8));
    EXPECT_EQ(a, again);
    EXPECT_EQ(a.size(), other.size());
    EXPECT_NE(a, other);
}

TEST_P(SynthTiny, generates_from_logits_that_are_finite_and_of_size_one) {
    for (const Type type : {Type::F32, Type::F16, Type::Q8_0}) {
        const ModelAnswer told = run_greedily(made(1, type), 6);
        ASSERT_GE(told.logits.size(), 8U);
        ASSERT_FALSE(told.tokens.empty());
        for (const std::vector<float>& row : told.logits) {
            ASSERT_EQ(row.size(), static_cast<size_t>(shape.n_vocab));
            ASSERT_TRUE(std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); }));
            EXPECT_GT(size_of(row), 0.3); // weights are scaled so that logits are of size one
            EXPECT_LT(size_of(row), 3);
        }
        EXPECT_NE(told.logits.front(), told.logits.back());
    }
}

INSTANTIATE_TEST_SUITE_P(Models, SynthTiny, ::testing::ValuesIn(tiny_ones()), [](const auto& info) {
    std::string name = info.param.first + "_" + info.param.second;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
