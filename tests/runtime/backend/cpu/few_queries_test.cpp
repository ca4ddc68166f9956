// Attention of few queries, which reads keys and values where they lie and shares keys out among threads: beyond what every
// backend is held to.

#include "runtime/backend/cpu/cpu_backend.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "tests/runtime/backend/ops/check_case.h"
#include "tests/support/graphs/small_graph.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

struct Few {
    Type keys = Type::F16, values = Type::F16;
    int64_t d = 64, dv = 64, kv_heads = 2, group = 4, n_kv = 300, tokens = 1, sequences = 1;
    bool masked = true;
    float max_bias = 0, cap = 0;

    std::string name() const {
        return std::string(type_name(keys)) + ' ' + std::string(type_name(values)) + " [" + std::to_string(d) + ", " +
               std::to_string(dv) + "] " + std::to_string(kv_heads) + " × " + std::to_string(group) + " heads, " +
               std::to_string(tokens) + " of " + std::to_string(n_kv) + ", " + std::to_string(sequences) + " sequences" +
               (masked ? ", masked" : "") + (max_bias > 0 ? ", biased" : "") + (cap > 0 ? ", capped" : "");
    }
    OpCase as_case() const {
        return {Op::FLASH_ATTN_EXT, name(), [f = *this](Graph& g, Leafs& l) {
                    // As in a cache: all heads of a token side by side.
                    const auto cached = [&](Type type, int64_t n) {
                        return ops::permute(g, l.floats(type, {n, f.kv_heads, f.n_kv, f.sequences}), 0, 2, 1, 3);
                    };
                    Tensor* q = ops::permute(g, l.f32({f.d, f.kv_heads * f.group, f.tokens, f.sequences}), 0, 2, 1, 3);
                    Tensor* k = cached(f.keys, f.d);
                    Tensor* v = cached(f.values, f.dv);
                    Tensor* mask = f.masked ? l.mask(Type::F16, {f.n_kv, f.tokens, 1, f.sequences}) : nullptr;
                    return ops::flash_attn(g, q, k, v, mask, 0.2F, f.max_bias, f.cap);
                }};
    }
};

class FewQueries : public ::testing::TestWithParam<const VectorOps*> {
protected:
    /// On fewer threads than heads of keys, and on more.
    void check(const OpCase& c) {
        PreparedCase prepared(c);
        for (const int n_threads : {1, 2, 5}) {
            cpu::CpuBackend backend(*device_, {n_threads, true, {}}, *GetParam());
            const Outcome outcome = check_case(backend, prepared, {1e-11, 1e-11, 1e-11});
            EXPECT_EQ(outcome.verdict, Verdict::right) << c.name << " on " << n_threads << " threads: " << outcome.why;
        }
    }
    template <typename Change> void check(Change change) {
        Few few;
        change(few);
        check(few.as_case());
    }
    std::unique_ptr<Device> device_ = make_cpu_device();
};

TEST_P(FewQueries, ReadEveryType) {
    for (const Type type : expandable_types()) {
        check([=](Few& f) {
            f.keys = f.values = type;
            f.d = f.dv = traits(type).block > 64 ? 256 : 64;
        });
    }
    check([](Few& f) { f.keys = Type::Q8_0; });
    check([](Few& f) { f.values = Type::F32; });
}

TEST_P(FewQueries, ShareKeysInGroups) {
    for (const Type type : {Type::F16, Type::Q8_0}) {
        for (const int64_t group : {1, 2, 3, 4, 5, 7, 8, 9, 71}) {
            check([=](Few& f) {
                f.keys = f.values = type;
                f.group = group;
            });
        }
    }
    for (const int64_t tokens : {2, 4, 8, 9}) {
        check([=](Few& f) {
            f.tokens = tokens;
            f.group = 1;
        });
    }
}

TEST_P(FewQueries, HaveHeadsOfAnySize) {
    for (const Type type : {Type::F32, Type::F16, Type::BF16}) {
        for (const int64_t d : {1, 7, 40, 72, 80, 128, 576}) {
            check([=](Few& f) {
                f.keys = f.values = type;
                f.d = d;
                f.dv = d > 100 ? d - 64 : d + 3;
            });
        }
    }
    check([](Few& f) {
        f.keys = f.values = Type::Q4_0;
        f.d = 96;
        f.dv = 160;
    });
}

TEST_P(FewQueries, MeetAnyNumberOfKeys) {
    for (const int64_t n_kv : {1, 3, 15, 16, 17, 127, 128, 129, 1000}) {
        for (const Type type : {Type::F16, Type::Q5_0}) {
            check([=](Few& f) {
                f.keys = f.values = type;
                f.n_kv = n_kv;
            });
        }
    }
    check([](Few& f) {
        f.n_kv = 700;
        f.masked = false;
    });
}

TEST_P(FewQueries, OfSeveralSequences) {
    for (const int64_t tokens : {1, 2}) {
        check([=](Few& f) {
            f.sequences = 3;
            f.tokens = tokens;
        });
    }
}

TEST_P(FewQueries, AreCappedAndBiased) {
    for (const int64_t group : {1, 3}) {
        check([=](Few& f) {
            f.group = group;
            f.cap = 1.5F;
        });
        check([=](Few& f) {
            f.group = group;
            f.max_bias = 8;
            f.cap = 30;
        });
    }
}

/// Each of `tokens` queries sees [first, end) of 600 keys: for most stretches nothing is seen, or one query of two sees none.
OpCase seeing(int64_t tokens, int64_t first, int64_t end) {
    return {Op::FLASH_ATTN_EXT, std::to_string(first) + " to " + std::to_string(end), [=](Graph& g, Leafs& l) {
                const int64_t n_kv = 600;
                const auto hidden = [&](int64_t n) {
                    return l.floats(Type::F32, {n, tokens, 1, 1}, -1e30F, -1e30F);
                }; // −∞ as F16
                Tensor* mask = l.floats(Type::F32, {end - first, tokens, 1, 1}, -1, 0);
                mask = first > 0 ? ops::concat(g, hidden(first), mask, 0) : mask;
                mask = end < n_kv ? ops::concat(g, mask, hidden(n_kv - end), 0) : mask;
                return ops::flash_attn(g, l.f32({64, tokens, 4, 1}), l.floats(Type::F16, {64, n_kv, 2, 1}),
                                       l.floats(Type::F16, {64, n_kv, 2, 1}), ops::cast(g, mask, Type::F16), 0.2F, 0, 0);
            }};
}

TEST_P(FewQueries, SkipStretchesThatNobodySees) {
    check(seeing(1, 0, 10));
    check(seeing(1, 250, 300));
    check(seeing(2, 599, 600));
    check({Op::FLASH_ATTN_EXT, "nothing is seen", [](Graph& g, Leafs& l) {
               return ops::flash_attn(g, l.f32({64, 1, 4, 1}), l.floats(Type::F16, {64, 300, 2, 1}),
                                      l.floats(Type::F16, {64, 300, 2, 1}), l.floats(Type::F16, {300, 1, 1, 1}, -1e30F, -1e30F),
                                      0.2F, 0, 0);
           }});
}

/// Weights of stretches far apart: one counts for nothing, whichever comes first.
TEST_P(FewQueries, BringStretchesToOneScale) {
    for (const bool rising : {true, false}) {
        check({Op::FLASH_ATTN_EXT, rising ? "higher scores later" : "higher scores first", [=](Graph& g, Leafs& l) {
                   Tensor* small = l.floats(Type::F32, {64, 250, 1, 1}, 0.0F, 0.1F);
                   Tensor* large = l.floats(Type::F32, {64, 250, 1, 1}, 1.0F, 3.0F);
                   Tensor* k = rising ? ops::concat(g, small, large, 1) : ops::concat(g, large, small, 1);
                   return ops::flash_attn(g, l.floats(Type::F32, {64, 1, 3, 1}, 0.0F, 1.0F), k, l.f32({64, 500, 1, 1}), nullptr,
                                          0.125F, 0, 0);
               }});
    }
}

INSTANTIATE_TEST_SUITE_P(All, FewQueries, ::testing::ValuesIn(usable_vector_ops().begin(), usable_vector_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

// Threads share keys out in stretches of a fixed length, which are put together in their order.
TEST(FewQueriesOnThreads, DoNotDependOnTheirNumber) {
    const auto device = make_cpu_device();
    std::vector<float> first;
    for (const int n_threads : {1, 2, 5}) {
        SmallGraph s;
        Tensor* q = s.graph.input(Type::F32, {64, 1, 6, 2});
        Tensor* k = s.graph.input(Type::F32, {64, 1500, 2, 2});
        Tensor* v = s.graph.input(Type::F32, {64, 1500, 2, 2});
        Tensor* result = ops::flash_attn(s.graph, q, k, v, nullptr, 0.3F, 0, 0);
        const SplitGraph split = s.place(*device, result);
        for (const Tensor* t : {q, k, v}) {
            set_floats(*t, some_floats(static_cast<size_t>(n_elements(*t))));
        }
        const auto backend = device->make_backend({n_threads, true, {}});
        compute_all(*backend, split);
        const std::vector<float> values = floats_of(*result);
        first = first.empty() ? values : first;
        EXPECT_EQ(values, first) << n_threads << " threads";
    }
}

} // namespace
} // namespace schedscope::test
