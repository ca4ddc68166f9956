#include "runtime/verify/verify.h"

#include "runtime/backend/buffer.h"
#include "runtime/backend/tensor_rows.h"
#include "runtime/scheduler/watch.h"
#include "tests/support/models/made_model.h"
#include "tests/support/traces/notebook.h"
#include "tests/support/wrong_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

constexpr int32_t n_layers = 3;

/// Wants the nodes of one name.
class WatchOne final : public Watcher {
public:
    explicit WatchOne(std::string name) : name_(std::move(name)) {}
    bool wants(const WatchCandidate& candidate) override { return candidate.tensor.name == name_; }
    void check_found() const override {}

private:
    std::string name_;
};

class Verify : public ::testing::Test {
protected:
    Verification run(Device& checked, int32_t n_predict = 2, FlashAttention flash = FlashAttention::off,
                     Recorder* recorder = nullptr, std::shared_ptr<Watcher> watcher = nullptr,
                     const std::atomic<bool>* stop = nullptr, Type type = Type::F32, Products products = Products::int8) {
        RunOptions options;
        options.devices = "cpu";
        options.n_threads = 2;
        options.flash_attention = flash;
        options.watcher = std::move(watcher);
        options.sampling.temperature = 0.0F;
        options.sampling.ignore_eos = true;
        options.products = products;
        Session session(registry, made_model(small_shape(), type), options, recorder);
        GenerateRequest request;
        request.stop = stop;
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
    EXPECT_THAT(beyond(v), ::testing::ElementsAre("0 ffn_swiglu-0", "0 ffn_swiglu-1", "0 ffn_swiglu-2", "1 ffn_swiglu-0",
                                                  "1 ffn_swiglu-1", "1 ffn_swiglu-2"));
    ASSERT_TRUE(v.first_beyond.has_value());
    EXPECT_EQ(v.checks[*v.first_beyond].node, "ffn_swiglu-0");
    EXPECT_EQ(v.checks[*v.first_beyond].evaluation, 0);
    EXPECT_EQ(v.n_beyond, 6U);
}

/// A thousandth of each product is less than rounding the other factor to 8 bits may cost, and more than sums of floats do.
TEST_F(Verify, ProductsOfFloatsOnTwoProcessorsAreHeldAgainstATighterBound) {
    WrongDevice wrong([](const Tensor& node) {
        float* const x = reinterpret_cast<float*>(host_data(node));
        for (int64_t i = 0; node.op == Op::MUL_MAT && i < n_elements(node); ++i) {
            x[i] *= 1.001F;
        }
    });
    const auto check = [&](Products products) {
        return run(wrong, 2, FlashAttention::on, nullptr, nullptr, nullptr, Type::Q8_0, products);
    };
    EXPECT_EQ(check(Products::int8).n_beyond, 0U);
    const Verification v = check(Products::floats);
    const auto is_product = [](const NodeCheck& c) { return c.op == "MUL_MAT"; };
    EXPECT_EQ(v.n_beyond, static_cast<size_t>(std::count_if(v.checks.begin(), v.checks.end(), is_product)));
    EXPECT_GT(v.n_beyond, 0U);
    WrongDevice right([](const Tensor&) {});
    EXPECT_EQ(run(right, 2, FlashAttention::on, nullptr, nullptr, nullptr, Type::Q8_0, Products::floats).n_beyond, 0U);
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
    for (const gguf::MetadataEntry& e : source.metadata()) {
        writer.set(e.key, e.value);
    }
    std::vector<float> nan(source.find_tensor("output_norm.weight")->bytes / sizeof(float),
                           std::numeric_limits<float>::quiet_NaN());
    for (const gguf::FileTensor& t : source.tensors()) {
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
        EXPECT_THAT(c.op, ::testing::Not(::testing::AnyOf("VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "NONE"))) << c.node;
    }
    EXPECT_EQ(v.checks.front().op, "GET_ROWS");
    EXPECT_EQ(v.checks.back().node, "result_output");
}

std::vector<double> elements(const Tensor& t) {
    std::vector<double> list;
    TensorRows rows(t);
    for (int64_t r = 0; r < rows.n_rows(); ++r) {
        const auto row = rows.row(r);
        list.insert(list.end(), row.begin(), row.end());
    }
    return list;
}

/// A correct device computes what the reference does, to the last bit (ACorrectDeviceHasNoErrorAtAnyNode). So what a wrong one
/// holds before it is spoiled is the reference's, and afterwards its own: two dumps to measure by.
TEST_F(Verify, TheRecordedErrorsAreThoseOfTheTwoDumps) {
    struct Dumps {
        std::string name;
        std::vector<double> device, reference;
    };
    std::vector<Dumps> dumps;
    std::minstd_rand random(7);
    WrongDevice wrong([&](const Tensor& t) {
        const bool spoiled = t.type == Type::F32 && t.nb[0] == sizeof(float) && (t.op == Op::MUL_MAT || t.op == Op::SOFT_MAX);
        std::vector<double> reference = elements(t);
        for (int64_t r = 0; spoiled && r < t.ne[1] * t.ne[2] * t.ne[3]; ++r) {
            const int64_t i1 = r % t.ne[1], i2 = r / t.ne[1] % t.ne[2], i3 = r / t.ne[1] / t.ne[2];
            auto* row = reinterpret_cast<float*>(host_data_as<std::byte>(t) + static_cast<size_t>(i1) * t.nb[1] +
                                                 static_cast<size_t>(i2) * t.nb[2] + static_cast<size_t>(i3) * t.nb[3]);
            for (int64_t i = 0; i < t.ne[0]; ++i) { // from far below the tolerance to far beyond it
                row[i] *=
                    1 + std::pow(10.0F, -1 - static_cast<float>(dumps.size() % 6)) * static_cast<float>(random() % 100) / 100;
            }
        }
        dumps.push_back({t.name, elements(t), std::move(reference)});
    });
    Notebook kept;
    const Verification v = run(wrong, 2, FlashAttention::off, &kept);
    const auto recorded = kept.all<record::Difference>();
    ASSERT_EQ(recorded.size(), dumps.size());
    ASSERT_EQ(recorded.size(), v.checks.size());
    int n_beyond = 0, n_within = 0;
    for (size_t i = 0; i < dumps.size(); ++i) {
        const record::Difference& d = recorded[i];
        long double errors = 0, squares = 0, largest = 0;
        int64_t where = -1;
        for (size_t e = 0; e < dumps[i].device.size(); ++e) {
            const long double x = dumps[i].device[e], y = dumps[i].reference[e], error = x > y ? x - y : y - x;
            errors += (x - y) * (x - y);
            squares += y * y;
            where = error > largest ? static_cast<int64_t>(e) : where;
            largest = std::max(largest, error);
        }
        const double nmse = errors == 0 ? 0 : static_cast<double>(errors / squares);
        SCOPED_TRACE(dumps[i].name);
        EXPECT_EQ(v.checks[i].node, dumps[i].name);
        EXPECT_EQ(v.checks[i].id, d.tensor);
        EXPECT_NEAR(d.nmse, nmse, 1e-12 * nmse);
        EXPECT_EQ(d.max_error, static_cast<double>(largest));
        EXPECT_EQ(d.element, where);
        EXPECT_EQ(d.value, where < 0 ? 0 : dumps[i].device[static_cast<size_t>(where)]);
        EXPECT_EQ(d.expected, where < 0 ? 0 : dumps[i].reference[static_cast<size_t>(where)]);
        EXPECT_EQ(d.beyond, nmse > d.tolerance);
        EXPECT_TRUE(d.compared);
        EXPECT_EQ(d.backend, 0);
        EXPECT_EQ(kept.text(d.device), "Wrong");
        n_beyond += d.beyond ? 1 : 0;
        n_within += !d.beyond && d.element >= 0 ? 1 : 0;
    }
    EXPECT_EQ(static_cast<size_t>(n_beyond), v.n_beyond);
    EXPECT_GT(n_beyond, 5);
    EXPECT_GT(n_within, 5);
    EXPECT_EQ(session_fact(kept.info(), "verify"), "Wrong,CPU");
}

TEST_F(Verify, ADifferenceIsRecordedBehindTheRunOfItsNode) {
    WrongDevice right([](const Tensor&) {});
    right.refused = Op::SOFT_MAX;
    Notebook kept;
    const Verification v = run(right, 2, FlashAttention::off, &kept);
    TensorId ran = no_tensor;
    size_t compared = 0, skipped = 0;
    for (const Record& r : kept.records) {
        if (const auto* x = std::get_if<record::Execute>(&r.fact)) {
            EXPECT_EQ(x->count, 1) << "nodes run one by one";
            ran = x->last;
        } else if (const auto* begin = std::get_if<record::EvaluationBegin>(&r.fact)) {
            EXPECT_TRUE(begin->observed);
        } else if (const auto* d = std::get_if<record::Difference>(&r.fact)) {
            EXPECT_EQ(d->tensor, ran);
            if (d->compared) {
                const NodeCheck& check = v.checks.at(compared++);
                EXPECT_EQ(d->tensor, check.id);
                EXPECT_EQ(r.evaluation, check.evaluation);
            } else {
                const NodeSkipped& check = v.skipped.at(skipped++);
                EXPECT_EQ(d->tensor, check.id);
                EXPECT_EQ(r.evaluation, check.evaluation);
                EXPECT_EQ(kept.text(d->why), check.why);
                EXPECT_FALSE(d->beyond);
                EXPECT_TRUE(std::isnan(d->nmse));
            }
        }
    }
    EXPECT_EQ(compared, v.checks.size());
    EXPECT_EQ(skipped, 2U * n_layers);
}

TEST_F(Verify, OfAWatchedNodeBothValuesAreRecordedBeforeTheirDifference) {
    WrongDevice wrong([](const Tensor& t) {
        if (t.name == "ffn_swiglu-1") {
            host_data_as<float>(t)[0] += 100;
        }
    });
    Notebook kept;
    run(wrong, 1, FlashAttention::off, &kept, std::make_shared<WatchOne>("ffn_swiglu-1"));
    const auto values = kept.all<record::Value>();
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].device, 0) << "first the reference's own";
    EXPECT_EQ(kept.text(values[1].device), "Wrong");
    EXPECT_EQ(values[0].n_elements, values[1].n_elements);
    const auto elements = kept.all<record::ValueElement>();
    ASSERT_EQ(elements.size(), 16U);
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(elements[8 + i].value - elements[i].value, i == 0 ? 100 : 0, 1e-4) << i;
    }
    const auto last = std::find_if(kept.records.rbegin(), kept.records.rend(),
                                   [](const Record& r) { return std::holds_alternative<record::ValueBucket>(r.fact); });
    ASSERT_NE(last, kept.records.rend());
    const auto& d = std::get<record::Difference>((last - 1)->fact); // the record behind it
    EXPECT_EQ(d.tensor, values[0].tensor);
    EXPECT_TRUE(d.beyond);
    EXPECT_EQ(d.element, 0);
    EXPECT_NEAR(d.max_error, 100, 1e-4);
}

TEST_F(Verify, RecordingChangesNoComparison) {
    const auto wrong = [] {
        return WrongDevice([](const Tensor& t) {
            if (t.op == Op::RMS_NORM) {
                host_data_as<float>(t)[0] *= 1.001F;
            }
        });
    };
    WrongDevice first = wrong(), second = wrong();
    Notebook kept;
    const Verification plain = run(first), recorded = run(second, 2, FlashAttention::off, &kept);
    ASSERT_EQ(plain.checks.size(), recorded.checks.size());
    for (size_t i = 0; i < plain.checks.size(); ++i) {
        EXPECT_EQ(plain.checks[i].node, recorded.checks[i].node);
        EXPECT_EQ(plain.checks[i].nmse, recorded.checks[i].nmse);
        EXPECT_EQ(plain.checks[i].evaluation, recorded.checks[i].evaluation);
    }
}

TEST_F(Verify, OnceStoppedNothingMoreIsCompared) {
    std::atomic<bool> stop = false;
    int n = 0;
    WrongDevice right([&](const Tensor&) { stop = ++n == 10; });
    Notebook kept;
    const Verification v = run(right, 5, FlashAttention::off, &kept, nullptr, &stop);
    EXPECT_EQ(v.checks.size(), 10U);
    EXPECT_EQ(kept.all<record::Difference>().size(), 10U);
    EXPECT_EQ(kept.all<record::EvaluationEnd>().size(), 1U) << "the evaluation goes to its end, and is the last";
}

} // namespace
} // namespace schedscope::test
