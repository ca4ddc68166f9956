// Where the CPU's kernels take more than a tile, skip one, or sort their work first: sizes beyond those that every backend is
// held to.

#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/error.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/graphs/small_graph.h"
#include "tests/support/sample.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace schedscope::test {
namespace {

/// Numbers that are rounded to BF16 are off by a 256th at most, and on average the square of that is a seventh of the most.
constexpr double to_bf16 = 2.0 / 7 / 256 / 256;

class CpuTiles : public ::testing::TestWithParam<const VectorOps*> {
protected:
    /// rounded: what a product of BF16 may be off where its columns may be rounded to that, as Tolerances are.
    void check(const OpCase& c, double rounded = 1e-11) {
        if (!sample_.takes()) {
            return;
        }
        PreparedCase prepared(c);
        for (const int n_threads : {1, 3}) {
            for (const Products products : {Products::floats, Products::int8}) {
                cpu::CpuBackend backend(*device, {n_threads, true, {}, products}, *GetParam());
                const bool exact = products == Products::floats;
                const Outcome outcome = check_case(backend, prepared, {1e-11, exact ? 1e-11 : rounded, exact ? 1e-11 : 5e-4});
                EXPECT_EQ(outcome.verdict, Verdict::right) << c.name << " on " << n_threads << " threads: " << outcome.why;
            }
        }
    }
    std::unique_ptr<Device> device = make_cpu_device();

private:
    Sample sample_;
};

/// 300 keys and 70 tokens of 2 heads that share them: three stretches of keys, three tiles of queries. Token t sees keys
/// [first(t), end(t)).
template <typename Seen> OpCase attention_where(const std::string& name, Type cache, Seen seen) {
    return {Op::FLASH_ATTN_EXT, name, [=](Graph& g, Leafs& l) {
                const int64_t n_kv = 300, tokens = 70, d = 32;
                // Rows of the mask are put together from what is hidden (beyond what F16 holds, so −∞ there) and what is open.
                Tensor* hidden = l.floats(Type::F32, {n_kv, 1, 1, 1}, -1e30F, -1e30F);
                Tensor* open = l.floats(Type::F32, {n_kv, 1, 1, 1}, 0, 0);
                const auto part = [&](Tensor* of, int64_t n) { return ops::view_1d(g, of, n, 0); };
                Tensor* mask = nullptr;
                for (int64_t t = 0; t < tokens; ++t) {
                    const auto [first, end] = seen(t);
                    Tensor* row = part(open, end - first);
                    row = first > 0 ? ops::concat(g, part(hidden, first), row, 0) : row;
                    row = end < n_kv ? ops::concat(g, row, part(hidden, n_kv - end), 0) : row;
                    mask = mask != nullptr ? ops::concat(g, mask, row, 1) : row;
                }
                return ops::flash_attn(g, l.f32({d, tokens, 2, 1}), l.floats(cache, {d, n_kv, 1, 1}),
                                       l.floats(cache, {d, n_kv, 1, 1}), ops::cast(g, mask, Type::F16), 0.4F, 0, 0);
            }};
}

TEST_P(CpuTiles, SkipKeysThatNobodySees) {
    using Keys = std::pair<int64_t, int64_t>;
    for (const Type cache : {Type::F32, Type::F16, Type::Q8_0}) {
        check(attention_where("causal", cache, [](int64_t t) { return Keys{0, 1 + t}; }));
        check(attention_where("causal, behind a long past", cache, [](int64_t t) { return Keys{0, 231 + t}; }));
        check(attention_where("a sliding window", cache, [](int64_t t) { return Keys{200 + t, 220 + t}; }));
        check(attention_where("the last key", cache, [](int64_t) { return Keys{299, 300}; }));
        check(attention_where("windows far apart", cache, [](int64_t t) { return t % 2 == 0 ? Keys{0, 5} : Keys{290, 300}; }));
    }
}

TEST_P(CpuTiles, KeepScoresInScaleWhenHigherOnesComeLate) {
    for (const bool rising : {true, false}) {
        check({Op::FLASH_ATTN_EXT, rising ? "higher scores later" : "higher scores first", [=](Graph& g, Leafs& l) {
                   Tensor* small = l.floats(Type::F32, {64, 150, 1, 1}, 0.0F, 0.1F);
                   Tensor* large = l.floats(Type::F32, {64, 150, 1, 1}, 1.0F, 3.0F);
                   Tensor* k = rising ? ops::concat(g, small, large, 1) : ops::concat(g, large, small, 1);
                   return ops::flash_attn(g, l.floats(Type::F32, {64, 5, 1, 1}, 0.0F, 1.0F), k, l.f32({64, 300, 1, 1}), nullptr,
                                          0.125F, 0, 0);
               }});
    }
}

TEST_P(CpuTiles, MultiplyMoreTokensOfOneExpertThanFitAtOnce) {
    for (const Type type : {Type::F32, Type::BF16, Type::Q8_0, Type::Q4_K}) {
        check({Op::MUL_MAT_ID, "all tokens to two experts",
               [=](Graph& g, Leafs& l) {
                   return ops::mul_mat_id(g, l.floats(type, {256, 7, 2, 1}), l.f32({256, 1, 500, 1}),
                                          l.distinct_ids({2, 500, 1, 1}, 2));
               }},
              to_bf16);
    }
}

TEST_P(CpuTiles, MultiplyFewerTokensOfAnExpertThanThereIsRoomFor) {
    check({Op::MUL_MAT_ID, "about 55 tokens to each, of long rows", [](Graph& g, Leafs& l) {
               return ops::mul_mat_id(g, l.floats(Type::IQ4_NL, {16384, 5, 2, 1}), l.f32({16384, 1, 110, 1}),
                                      l.distinct_ids({1, 110, 1, 1}, 2));
           }});
}

TEST_P(CpuTiles, PackWhatManyColumnsAreMultipliedWith) {
    for (const Type type : {Type::F32, Type::F16, Type::Q4_0, Type::TQ2_0}) {
        const int64_t block = traits(type).block, k = block > 1 ? 1280 : 1101; // more than is packed together
        for (const int64_t n : {9, 63, 64, 65, 515}) {
            check({Op::MUL_MAT, std::string(type_name(type)) + ", " + std::to_string(n) + " columns", [=](Graph& g, Leafs& l) {
                       return ops::mul_mat(g, l.floats(type, {k, 70, 1, 1}), l.f32({k, n, 1, 1}));
                   }});
        }
    }
}

TEST_P(CpuTiles, RoundToBf16OnlyWhatMayBe) {
    const bool can = GetParam()->name == "avx512bf16";
    for (const int64_t n : {1, 2, 3, 4, 5, 9, 16, 17, 130}) {
        check({Op::MUL_MAT, std::to_string(n) + " columns",
               [=](Graph& g, Leafs& l) {
                   return ops::mul_mat(g, l.floats(Type::BF16, {4171, 70, 1, 1}), l.f32({4171, n, 1, 1}));
               }},
              can && n > 1 ? to_bf16 : 1e-11);
    }
}

TEST_P(CpuTiles, SayWhatColumnsAreRoundedTo) {
    const auto kernel = [&](int64_t n, Products products) {
        SmallGraph s;
        Tensor* weights = s.graph.input(Type::BF16, {64, 8, 1, 1});
        const SplitGraph split = s.place(*device, ops::mul_mat(s.graph, weights, s.graph.input(Type::F32, {64, n, 1, 1})));
        cpu::CpuBackend backend(*device, {1, true, {}, products}, *GetParam());
        KernelLog log;
        backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), &log);
        return std::string(log.kernels.at(0).kernel);
    };
    const bool can = GetParam()->name == "avx512bf16";
    EXPECT_EQ(kernel(32, Products::int8), can ? "mul_mat_bf16_bf16" : "mul_mat_bf16");
    EXPECT_EQ(kernel(32, Products::floats), "mul_mat_bf16");
    EXPECT_EQ(kernel(1, Products::int8), "mul_mat_bf16");
}

/// An expert's columns are those of the tokens that are sent to it.
TEST_P(CpuTiles, SayWhatColumnsOfExpertsAreRoundedTo) {
    const auto kernel = [&](const std::vector<int32_t>& sent) {
        const auto tokens = static_cast<int64_t>(sent.size());
        SmallGraph s;
        Graph& g = s.graph;
        Tensor* const b = g.input(Type::F32, {64, 1, tokens, 1});
        Tensor* const ids = g.input(Type::I32, {1, tokens, 1, 1});
        const SplitGraph split = s.place(*device, ops::mul_mat_id(g, g.input(Type::BF16, {64, 8, 4, 1}), b, ids));
        tensor_write(*ids, sent.data(), 0, sent.size() * sizeof(int32_t));
        cpu::CpuBackend backend(*device, {1, true, {}, Products::int8}, *GetParam());
        KernelLog log;
        backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), &log);
        return std::string(log.kernels.at(0).kernel);
    };
    EXPECT_EQ(kernel({2}), "mul_mat_id");
    EXPECT_EQ(kernel({0, 1, 2}), "mul_mat_id");
    EXPECT_EQ(kernel({-1, -1, -1}), "mul_mat_id");
    EXPECT_EQ(kernel({0, 2, 2}), GetParam()->name == "avx512bf16" ? "mul_mat_id_bf16" : "mul_mat_id");
}

TEST_P(CpuTiles, MultiplyByNothingWhereAnIdNamesNoExpert) {
    SmallGraph s;
    Tensor* experts = s.graph.input(Type::F32, {32, 3, 2, 1});
    Tensor* b = s.graph.input(Type::F32, {32, 1, 4, 1});
    Tensor* ids = s.graph.input(Type::I32, {1, 4, 1, 1});
    Tensor* product = ops::mul_mat_id(s.graph, experts, b, ids);
    const SplitGraph split = s.place(*device, product);
    set_floats(*experts, std::vector<float>(192, 1.0F));
    set_floats(*b, std::vector<float>(128, 1.0F));
    const std::vector<int32_t> numbers = {1, -1, 2, 0};
    tensor_write(*ids, numbers.data(), 0, 16);
    set_floats(*product, std::vector<float>(12, 77.0F));
    cpu::CpuBackend backend(*device, {2, true, {}}, *GetParam());
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
    EXPECT_EQ(floats_of(*product), (std::vector<float>{32, 32, 32, 0, 0, 0, 0, 0, 0, 32, 32, 32}));
}

TEST_P(CpuTiles, AddNothingWhereAnIdNamesNoRow) {
    SmallGraph s;
    Tensor* a = s.graph.input(Type::F32, {3, 4, 1, 1});
    Tensor* b = s.graph.input(Type::F32, {3, 2, 1, 1});
    Tensor* ids = s.graph.input(Type::I32, {4, 1, 1, 1});
    Tensor* sum = ops::add_id(s.graph, a, b, ids);
    const SplitGraph split = s.place(*device, sum);
    set_floats(*a, std::vector<float>(12, 1.0F));
    set_floats(*b, std::vector<float>{10, 10, 10, 20, 20, 20});
    const std::vector<int32_t> numbers = {1, -1, 2, 0};
    tensor_write(*ids, numbers.data(), 0, 16);
    set_floats(*sum, std::vector<float>(12, 77.0F));
    cpu::CpuBackend backend(*device, {2, true, {}}, *GetParam());
    backend.compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
    EXPECT_EQ(floats_of(*sum), (std::vector<float>{21, 21, 21, 1, 1, 1, 1, 1, 1, 11, 11, 11}));
}

INSTANTIATE_TEST_SUITE_P(All, CpuTiles, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

// Threads share the rows out; a row is computed in the same way by whichever thread.
TEST(CpuThreads, DoNotChangeAProduct) {
    const auto device = make_cpu_device();
    for (const int64_t n : {1, 3, 40, 100}) {
        std::vector<float> first;
        for (const int n_threads : {1, 2, 5}) {
            SmallGraph s;
            Tensor* a = s.graph.input(Type::F32, {1000, 600, 1, 1});
            Tensor* b = s.graph.input(Type::F32, {1000, n, 1, 1});
            Tensor* product = ops::mul_mat(s.graph, a, b);
            const SplitGraph split = s.place(*device, product);
            set_floats(*a, some_floats(600'000));
            set_floats(*b, some_floats(static_cast<size_t>(1000 * n)));
            const auto backend = device->make_backend({n_threads, true, {}});
            backend->compute(split, 0, static_cast<int32_t>(split.nodes.size()), nullptr);
            const std::vector<float> values = floats_of(*product);
            first = first.empty() ? values : first;
            EXPECT_EQ(values, first) << n << " columns on " << n_threads << " threads";
        }
    }
}

/// An environment variable, which is as it was at the end.
class Setting {
public:
    explicit Setting(const char* name) : name_(name) {
        if (const char* const before = std::getenv(name)) {
            before_ = before;
        }
    }
    ~Setting() { set(before_); }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
    void set(const std::optional<std::string>& value) const { value ? setenv(name_, value->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST(CpuInstructionSet, IsWhatTheEnvironmentAsksFor) {
    const Setting set("SCHEDSCOPE_CPU");
    for (const VectorOps* ops : usable_vector_ops()) {
        set.set(std::string(ops->name));
        EXPECT_EQ(best_vector_ops().name, ops->name);
        EXPECT_NO_THROW(make_cpu_device());
    }
    set.set(std::nullopt);
    EXPECT_EQ(&best_vector_ops(), usable_vector_ops().back());
    EXPECT_NO_THROW(make_cpu_device());
}

TEST(CpuInstructionSet, IsRefusedWhereTheProcessorHasNone) {
    const Setting set("SCHEDSCOPE_CPU"), fetches("SCHEDSCOPE_CPU_FETCHES");
    const auto refusal = [] {
        try {
            make_cpu_device();
            return std::string();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            return std::string(e.what());
        }
    };
    set.set("sse9");
    EXPECT_THAT(refusal(), ::testing::StartsWith("SCHEDSCOPE_CPU=sse9: is none of those that this processor has: portable"));
    set.set(std::nullopt);
    fetches.set("yes");
    EXPECT_EQ(refusal(), "SCHEDSCOPE_CPU_FETCHES=yes: is neither on nor off");
    fetches.set("off");
    EXPECT_EQ(refusal(), "");
    set.set("");
    fetches.set("");
    EXPECT_EQ(refusal(), "") << "nothing is asked for";
}

} // namespace
} // namespace schedscope::test
