#include "tests/runtime/backend/ops/op_reference_parts.h"

#include <algorithm>
#include <cmath>

namespace schedscope::test {

namespace {

/// Row of a times row of b.
double dot(const Elements& a, int64_t a1, int64_t a2, int64_t a3, const Elements& b, int64_t b1, int64_t b2, int64_t b3) {
    double sum = 0;
    for (int64_t k = 0; k < a.ne[0]; ++k) {
        sum += a.at(k, a1, a2, a3) * b.at(k, b1, b2, b3);
    }
    return sum;
}

bool mul_mat(Operands& o) {
    const int64_t repeat_2 = o.b().ne[2] / o.a().ne[2];
    const int64_t repeat_3 = o.b().ne[3] / o.a().ne[3];
    o.for_each([&](int64_t m, int64_t n, int64_t i2, int64_t i3) {
        return dot(o.a(), m, i2 / repeat_2, i3 / repeat_3, o.b(), n, i2, i3);
    });
    return true;
}

bool mul_mat_id(Operands& o) {
    o.for_each([&](int64_t m, int64_t e, int64_t token, int64_t) {
        const auto expert = static_cast<int64_t>(o.sources[2].at(e, token, 0, 0));
        return dot(o.a(), m, expert, 0, o.b(), e % o.b().ne[1], token, 0);
    });
    return true;
}

bool flash_attn(Operands& o) {
    const Elements& q = o.a();
    const Elements& k = o.b();
    const Elements& v = o.sources[2];
    const Elements& mask = o.sources[3];
    const double scale = o.number(0);
    const double cap = o.number(2);
    for (int64_t s = 0; s < q.ne[3]; ++s) {
        for (int64_t head = 0; head < q.ne[2]; ++head) {
            const int64_t kv_head = head / (q.ne[2] / k.ne[2]);
            const double slope = alibi_slope(o.number(1), head, q.ne[2]);
            for (int64_t token = 0; token < q.ne[1]; ++token) {
                std::vector<double> scores;
                for (int64_t j = 0; j < k.ne[1]; ++j) {
                    double score = dot(q, token, head, s, k, j, kv_head, s) * scale;
                    score = cap != 0 ? cap * std::tanh(score / cap) : score;
                    scores.push_back(score + (o.has(3) ? slope * mask.at(j, token, head % mask.ne[2], s % mask.ne[3]) : 0));
                }
                const double top = *std::max_element(scores.begin(), scores.end());
                if (std::all_of(scores.begin(), scores.end(),
                                [](double x) { return x == -HUGE_VAL; })) { // everything is masked: the result stays 0
                    continue;
                }
                double sum = 0;
                for (double& score : scores) {
                    score = std::exp(score - top);
                    sum += score;
                }
                for (int64_t i = 0; i < v.ne[0]; ++i) {
                    double value = 0;
                    for (int64_t j = 0; j < k.ne[1]; ++j) {
                        value += scores[static_cast<size_t>(j)] * v.at(i, j, kv_head, s);
                    }
                    o.result.at(i, head, token, s) = value / sum;
                }
            }
        }
    }
    return true;
}

} // namespace

bool evaluate_products(Operands& o) {
    switch (o.node.op) {
    case Op::MUL_MAT: return mul_mat(o);
    case Op::MUL_MAT_ID: return mul_mat_id(o);
    case Op::FLASH_ATTN_EXT: return flash_attn(o);
    default: return false;
    }
}

} // namespace schedscope::test
