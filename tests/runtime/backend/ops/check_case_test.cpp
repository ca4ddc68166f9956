// The harness itself: a backend that computes wrongly must be found out.

#include "tests/runtime/backend/ops/check_case.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/tensor/half.h"
#include "runtime/tensor/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

/// Computes on the CPU, then does something to the last node's memory.
class Spoiled final : public Backend {
public:
    using Spoil = std::function<void(const Tensor& result)>;
    explicit Spoiled(Spoil spoil) : spoil_(std::move(spoil)) {}
    std::string_view name() const noexcept override { return "spoiled"; }
    Device& device() const noexcept override { return *cpu_; }
    void compute(const SplitGraph& split, int32_t first, int32_t count, KernelLog* log) override {
        backend_->compute(split, first, count, log);
        spoil_(*split.nodes.back());
    }

private:
    std::unique_ptr<Device> cpu_ = make_cpu_device();
    std::unique_ptr<Backend> backend_ = cpu_->make_backend({1, true, {}});
    Spoil spoil_;
};

OpCase sum_of_two() {
    return {Op::ADD, "", [](Graph& g, Leafs& l) { return ops::add(g, l.f32({100, 100, 1, 1}), l.f32({100, 1, 1, 1})); }};
}

Outcome spoil_sum(const Spoiled::Spoil& spoil) {
    Spoiled backend(spoil);
    return check_case(backend, sum_of_two());
}

TEST(CheckCase, FindsNothingWrongWithTheRightResult) {
    EXPECT_EQ(spoil_sum([](const Tensor&) {}).verdict, Verdict::right);
}

TEST(CheckCase, FindsOneWrongElementAmongTenThousand) {
    const Outcome outcome = spoil_sum([](const Tensor& t) { host_data_as<float>(t)[777] += 0.1F; });
    EXPECT_EQ(outcome.verdict, Verdict::wrong);
    EXPECT_THAT(outcome.why, HasSubstr("element 777"));
}

TEST(CheckCase, FindsWhatIsNotANumber) {
    for (const float bad : {NAN, INFINITY}) {
        EXPECT_EQ(spoil_sum([bad](const Tensor& t) { host_data_as<float>(t)[9999] = bad; }).verdict, Verdict::wrong);
    }
}

TEST(CheckCase, FindsAResultThatWasNotWritten) {
    EXPECT_EQ(spoil_sum([](const Tensor& t) { std::fill_n(host_data(t), n_bytes(t), std::byte{0}); }).verdict, Verdict::wrong);
}

TEST(CheckCase, FindsAByteWrittenBehindTheResultOrIntoASource) {
    EXPECT_THAT(spoil_sum([](const Tensor& t) { host_data(t)[n_bytes(t)] = std::byte{1}; }).why, HasSubstr("outside"));
    EXPECT_THAT(spoil_sum([](const Tensor& t) { host_data(*t.src[0])[3] ^= std::byte{1}; }).why, HasSubstr("outside"));
}

TEST(CheckCase, WantsIntegersExactly) {
    Spoiled backend([](const Tensor& t) { host_data_as<int32_t>(t)[5] += 1; });
    EXPECT_EQ(check_case(backend, {Op::ARGMAX, "",
                                   [](Graph& g, Leafs& l) {
                                       return ops::argmax(g, l.f32({1000, 50, 1, 1}));
                                   }})
                  .verdict,
              Verdict::wrong);
}

TEST(CheckCase, LetsTopKChooseNeitherItsOrderNorItsElements) {
    const OpCase c{Op::TOP_K, "", [](Graph& g, Leafs& l) { return ops::top_k(g, l.f32({50, 2, 1, 1}), 10); }};
    Spoiled turned([](const Tensor& t) { std::swap(host_data_as<int32_t>(t)[0], host_data_as<int32_t>(t)[9]); });
    EXPECT_EQ(check_case(turned, c).verdict, Verdict::wrong);
    Spoiled twice([](const Tensor& t) { host_data_as<int32_t>(t)[0] = host_data_as<int32_t>(t)[9]; });
    EXPECT_EQ(check_case(twice, c).verdict, Verdict::wrong);
}

TEST(CheckCase, AllowsHalvesTheirRoundingAndNoMore) {
    const OpCase c{Op::SCALE, "", [](Graph& g, Leafs& l) { return ops::scale(g, l.floats(Type::F16, {64, 4, 1, 1}), 0.3F); }};
    Spoiled rounded([](const Tensor& t) { host_data_as<uint16_t>(t)[7] ^= 1; });
    EXPECT_EQ(check_case(rounded, c).verdict, Verdict::right);
    Spoiled wrong([](const Tensor& t) { host_data_as<uint16_t>(t)[7] = float_to_half(1.0F); });
    EXPECT_EQ(check_case(wrong, c).verdict, Verdict::wrong);
}

TEST(CheckCase, SaysWhatWasRefused) {
    Spoiled backend([](const Tensor&) {});
    const OpCase c{Op::PAD, "", [](Graph& g, Leafs& l) { return ops::pad(g, l.floats(Type::F16, {4, 1, 1, 1}), {1, 0, 0, 0}); }};
    const Outcome outcome = check_case(backend, c);
    EXPECT_EQ(outcome.verdict, Verdict::refused);
    EXPECT_THAT(outcome.why, HasSubstr("PAD: type"));
}

} // namespace
} // namespace schedscope::test
