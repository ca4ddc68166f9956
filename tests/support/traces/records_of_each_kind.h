#pragma once

#include "runtime/planner/recorder.h"
#include "traces/format/fields.h"

#include <random>

namespace schedscope::test {

/// Adds records of every kind with made-up numbers that fit a graph of `n_tensors` and no copies. Begins with an EvaluationBegin
/// and a PlanBegin of graph 0.
class EachKind {
public:
    EachKind(Recorder& recorder, uint32_t seed, int32_t n_tensors, int32_t n_nodes, int n_backends)
        : recorder_(recorder), random_(seed), n_tensors_(n_tensors), n_nodes_(n_nodes), n_backends_(n_backends) {
        recorder_.add(record::EvaluationBegin{});
        recorder_.add(record::PlanBegin{0, n_nodes, 1, 1, 0, true});
    }

    /// `rounds` records of each kind but those two.
    void add(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            for_each_kind([&]<typename T>(size_t) {
                if constexpr (!std::is_same_v<T, record::EvaluationBegin> && !std::is_same_v<T, record::PlanBegin>) {
                    add_one<T>();
                }
            });
        }
    }

private:
    int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

    template <typename T> void add_one() {
        T fact;
        for_each_field<T>([&](const auto& f) {
            using Field = std::remove_cvref_t<decltype(f)>;
            using Value = typename Field::Value;
            if constexpr (Field::may_be_unknown) {
                if (below(4) == 0) {
                    fact.*f.member = std::nullopt;
                    return;
                }
            }
            if constexpr (std::is_enum_v<Value>) {
                fact.*f.member = static_cast<Value>(below(static_cast<int64_t>(greatest<Value>()) + 1));
            } else if constexpr (std::is_floating_point_v<Value>) {
                fact.*f.member = static_cast<Value>(below(1000)) / 7;
            } else if constexpr (std::is_same_v<Value, bool>) {
                fact.*f.member = below(2) == 1;
            } else {
                fact.*f.member = static_cast<Value>(number(f.meaning, sizeof(Value)));
            }
        });
        if constexpr (std::is_same_v<T, record::SplitBegin>) {
            fact.index = static_cast<int32_t>(below(n_nodes_));
        } else if constexpr (std::is_same_v<T, record::CopyMade>) {
            fact.copy = n_tensors_ + static_cast<int32_t>(n_copies_++);
            fact.of = 0;
            fact.backend = 0;
        } else if constexpr (std::is_same_v<T, record::PlanEnd>) {
            fact.n_copies = 0;
            fact.n_splits = 1;
        } else if constexpr (std::is_same_v<T, record::Placement>) {
            fact.first_use = 0;
            fact.last_use = static_cast<int32_t>(below(n_nodes_));
        } else if constexpr (std::is_same_v<T, record::SplitRun>) {
            fact.start_ns = fact.end_ns ? fact.start_ns : std::nullopt;
            fact.end_ns = fact.start_ns ? fact.end_ns : std::nullopt;
        } else if constexpr (std::is_same_v<T, record::ValueBucket>) {
            fact.index %= record::n_value_buckets;
        }
        recorder_.add(fact);
    }

    int64_t number(Meaning meaning, size_t bytes) {
        switch (meaning) {
        case Meaning::plain: return bytes == 8 ? below(int64_t{1} << 60) - (int64_t{1} << 59) : below(256) - 128;
        case Meaning::count: return bytes == 8 ? below(int64_t{1} << 40) : below(100);
        case Meaning::index: return below(100) - 1;
        case Meaning::split: return below(n_nodes_ + 1) - 1;
        case Meaning::node_index: return below(n_nodes_ + 1);
        case Meaning::backend:
        case Meaning::buffer_type: return below(n_backends_ + 1) - 1;
        case Meaning::tensor: return below(n_tensors_ + 1) - 1;
        case Meaning::text: return recorder_.intern("text " + std::to_string(below(50)));
        case Meaning::kernels: // go with a part of a split
        case Meaning::graph:
        case Meaning::evaluation: return 0;
        }
        return 0;
    }

    Recorder& recorder_;
    std::mt19937_64 random_;
    int32_t n_tensors_, n_nodes_;
    int n_backends_;
    int64_t n_copies_ = 0;
};

/// Are two records the same in all that they say? `a_texts` and `b_texts` give texts for numbers.
template <typename A, typename B> bool same(const Record& a, const Record& b, A&& a_text, B&& b_text) {
    if (a.step != b.step || a.time_ns != b.time_ns || a.evaluation != b.evaluation || a.fact.index() != b.fact.index()) {
        return false;
    }
    return std::visit(
        [&]<typename T>(const T& x) {
            const T& y = std::get<T>(b.fact);
            bool equal = true;
            for_each_field<T>([&](const auto& f) {
                if (f.meaning == Meaning::text) {
                    const auto *of_x = known(x.*f.member), *of_y = known(y.*f.member);
                    equal = equal && (of_x == nullptr || of_y == nullptr
                                          ? (of_x == nullptr) == (of_y == nullptr)
                                          : a_text(static_cast<StringId>(*of_x)) == b_text(static_cast<StringId>(*of_y)));
                } else {
                    equal = equal && x.*f.member == y.*f.member;
                }
            });
            return equal;
        },
        a.fact);
}

} // namespace schedscope::test
