#include "runtime/verify/verify.h"

#include "runtime/backend/buffer.h"
#include "tests/runtime/model/made_model.h"
#include "tests/runtime/verify/wrong_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

namespace schedscope::test {
namespace {

using testing::HasSubstr;

constexpr int32_t n_layers = 3;

class Verify : public testing::Test {
protected:
    Verification run(Device& checked, int32_t n_predict = 2, FlashAttention flash = FlashAttention::off) {
        RunOptions options;
        options.devices = "cpu";
        options.n_threads = 2;
        options.flash_attention = flash;
        options.sampling.temperature = 0.0F;
        options.sampling.ignore_eos = true;
        Session session(registry, made_model(), options);
        GenerateRequest request;
        request.prompts.push_back({0, {1, 5, 9, 20, 33, 47}, std::nullopt});
        request.n_predict = n_predict;
        return verify(session, checked, request);
    }
    static std::vector<std::string> beyond(const Verification& v) {
        std::vector<std::string> names;
        for (const NodeCheck& c : v.checks) {
            if (c.beyond()) {
                names.push_back(std::to_string(c.evaluation) + " " + c.node);
            }
        }
        return names;
    }
    Registry registry;
};

TEST_F(Verify, ACorrectDeviceHasNoErrorAtAnyNode) {
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        WrongDevice right([](const Tensor&) {});
        const Verification v = run(right, 3, flash);
        EXPECT_EQ(v.n_beyond, 0U);
        EXPECT_FALSE(v.first_beyond.has_value());
        EXPECT_TRUE(v.skipped.empty());
        EXPECT_GT(v.checks.size(), static_cast<size_t>(3 * n_layers * 10));
        EXPECT_EQ(v.checks.front().evaluation, 0);
        EXPECT_EQ(v.checks.back().evaluation, 2);
        for (const NodeCheck& c : v.checks) {
            EXPECT_EQ(c.nmse, 0) << c.node;
        }
    }
}

TEST_F(Verify, AWrongKernelIsFoundAtEachOfItsNodesAndTheFirstIsNamed) {
    WrongDevice wrong([](const Tensor& t) {
        if (t.op == Op::GLU) {
            host_data_as<float>(t)[0] += 1;
        }
    });
    const Verification v = run(wrong);
    EXPECT_THAT(beyond(v), testing::ElementsAre("0 ffn_swiglu-0", "0 ffn_swiglu-1", "0 ffn_swiglu-2", "1 ffn_swiglu-0",
                                                "1 ffn_swiglu-1", "1 ffn_swiglu-2"));
    ASSERT_TRUE(v.first_beyond.has_value());
    EXPECT_EQ(v.checks[*v.first_beyond].node, "ffn_swiglu-0");
    EXPECT_EQ(v.checks[*v.first_beyond].evaluation, 0);
    EXPECT_EQ(v.n_beyond, 6U);
}

TEST_F(Verify, AnErrorDoesNotSpreadToTheNodesBehind) {
    int n = 0;
    WrongDevice wrong([&](const Tensor& t) {
        if (t.op == Op::MUL_MAT && n++ == 3) {
            host_data_as<float>(t)[1] *= -2;
        }
    });
    EXPECT_EQ(run(wrong).n_beyond, 1U);
}

TEST_F(Verify, ARowWrittenToTheWrongCellIsFound) {
    WrongDevice wrong([](const Tensor& t) {
        if (t.op == Op::SET_ROWS && t.name.find("cache_k_l1") != std::string::npos) {
            uint8_t* bytes = host_data_as<uint8_t>(t);
            std::swap_ranges(bytes, bytes + t.nb[1], bytes + 3 * t.nb[1]);
        }
    });
    const Verification v = run(wrong);
    ASSERT_EQ(v.n_beyond, 2U); // one for each evaluation
    EXPECT_THAT(v.checks[*v.first_beyond].node, HasSubstr("cache_k_l1"));
}

/// What makes a generation fail may be just what is looked for.
TEST_F(Verify, AGenerationThatFailsBehindAWrongNodeIsAnswered) {
    const gguf::File source = synthesise_in_memory(small_shape(), Type::F32, 1, "source");
    gguf::Writer writer;
    for (const gguf::Entry& e : source.metadata()) {
        writer.set(e.key, e.value);
    }
    std::vector<float> nan(source.find_tensor("output_norm.weight")->bytes / sizeof(float),
                           std::numeric_limits<float>::quiet_NaN());
    for (const gguf::TensorInfo& t : source.tensors()) {
        const bool spoiled = t.name == "output_norm.weight";
        writer.add(t.name, t.type, t.ne, spoiled ? std::as_bytes(std::span(nan)) : std::span(t.data, t.bytes));
    }
    const auto file = std::make_shared<gguf::File>(gguf::File::from_bytes(writer.to_bytes(), "made.gguf"));
    const auto verified = [&](Device& checked) {
        RunOptions options;
        options.devices = "cpu";
        options.sampling.temperature = 0.0F;
        Session session(registry, file, options);
        GenerateRequest request;
        request.prompts.push_back({0, {1, 5, 9}, std::nullopt});
        request.n_predict = 2;
        return verify(session, checked, request);
    };
    WrongDevice wrong([](const Tensor& t) {
        if (t.op == Op::GLU) {
            host_data_as<float>(t)[0] += 1;
        }
    });
    const Verification v = verified(wrong);
    EXPECT_EQ(v.n_beyond, 3U);
    EXPECT_THAT(v.ended_by, HasSubstr("logits are NaN"));
    WrongDevice right([](const Tensor&) {});
    EXPECT_THAT(sentence_of(ErrorKind::device, [&] { verified(right); }), HasSubstr("logits are NaN"));
}

TEST_F(Verify, ANaNOfOneSideIsFound) {
    bool seen = false;
    WrongDevice wrong([&](const Tensor& t) {
        if (t.op == Op::ROPE && !std::exchange(seen, true)) {
            host_data_as<float>(t)[n_elements(t) - 1] = std::numeric_limits<float>::quiet_NaN();
        }
    });
    const Verification v = run(wrong);
    ASSERT_EQ(v.n_beyond, 1U);
    EXPECT_EQ(v.checks[*v.first_beyond].why, "NaN differs");
    EXPECT_TRUE(std::isinf(v.checks[*v.first_beyond].nmse));
}

TEST_F(Verify, AResultThatWasNeverWrittenIsFoundAtEachNode) {
    // What lay in the memory before must not look right by chance.
    WrongDevice lazy([](const Tensor&) {});
    lazy.left_out = Op::ROPE;
    EXPECT_EQ(run(lazy, 1).n_beyond, 2U * n_layers);
}

TEST_F(Verify, WhatTheDeviceRefusesIsSkippedWithItsReason) {
    WrongDevice partial([](const Tensor&) {});
    partial.refused = Op::SOFT_MAX;
    const Verification v = run(partial, 1);
    ASSERT_EQ(v.skipped.size(), static_cast<size_t>(n_layers));
    EXPECT_EQ(v.skipped[0].node, "kq_soft_max-0");
    EXPECT_THAT(v.skipped[0].why, HasSubstr("Wrong does not run it: "));
    EXPECT_THAT(v.skipped[0].why, HasSubstr("made up to refuse it"));
    EXPECT_EQ(v.n_beyond, 0U);
    for (const NodeCheck& c : v.checks) {
        EXPECT_NE(c.op, "SOFT_MAX");
    }
}

TEST_F(Verify, LooksAtAllThatIsComputedAndNothingElse) {
    WrongDevice right([](const Tensor&) {});
    const Verification v = run(right, 1);
    for (const NodeCheck& c : v.checks) {
        EXPECT_THAT(c.op, testing::Not(testing::AnyOf("VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "NONE"))) << c.node;
    }
    EXPECT_EQ(v.checks.front().op, "GET_ROWS");
    EXPECT_EQ(v.checks.back().node, "result_output");
}

} // namespace
} // namespace schedscope::test
