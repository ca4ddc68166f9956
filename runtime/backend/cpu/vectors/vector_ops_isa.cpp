// The inner loops on floats; compiled once for each instruction set.

#include "runtime/backend/cpu/vectors/isa_bf16.h"
#include "runtime/backend/cpu/vectors/isa_int8.h"
#include "runtime/backend/cpu/vectors/isa_matrix.h"
#include "runtime/backend/cpu/vectors/isa_rows.h"
#include "runtime/backend/cpu/vectors/isa_vectors.h"
#include "runtime/backend/cpu/vectors/vector_ops.h"

namespace schedscope {

namespace {

/// Σ of(x): floats within short stretches, doubles between them, so that the error does not grow with n.
template <typename Of> inline double long_sum(Of of, const float* x, int64_t n) {
    constexpr int64_t stretch = 128 * width;
    double s = 0;
    int64_t i = 0;
    while (i + 4 * width <= n) {
        const int64_t end = n < i + stretch ? n : i + stretch;
        Floats s0{}, s1{}, s2{}, s3{};
        for (; i + 4 * width <= end; i += 4 * width) {
            s0 += of(load(x + i));
            s1 += of(load(x + i + width));
            s2 += of(load(x + i + 2 * width));
            s3 += of(load(x + i + 3 * width));
        }
        s += total((s0 + s1) + (s2 + s3));
    }
    Floats rest{};
    for (; i + width <= n; i += width) {
        rest += of(load(x + i));
    }
    s += total(rest);
    for (; i < n; ++i) {
        s += of(x[i]);
    }
    return s;
}

double sum(const float* x, int64_t n) {
    return long_sum([](auto v) { return v; }, x, n);
}

double sum_of_squares(const float* x, int64_t n) {
    return long_sum([](auto v) { return v * v; }, x, n);
}

inline Floats larger(Floats a, Floats b) { return b > a ? b : a; }

/// The largest of m and of those of `top` that are numbers.
inline float largest(Floats top, float m) {
    for (int i = 0; i < width; ++i) {
        m = top[i] > m ? top[i] : m;
    }
    return m;
}

float max(const float* x, int64_t n) {
    Floats top = all(-__builtin_inff());
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        top = larger(top, load(x + i));
    }
    float m = largest(top, -__builtin_inff());
    for (; i < n; ++i) {
        m = x[i] > m ? x[i] : m;
    }
    return m;
}

void add(const float* a, const float* b, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = a[i] + b[i];
    }
}

void multiply_elements(const float* a, const float* b, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = a[i] * b[i];
    }
}

void scale(const float* x, float factor, float bias, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = x[i] * factor + bias;
    }
}

void scale_multiply(const float* x, float factor, const float* w, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = x[i] * factor * w[i];
    }
}

void add_scaled(float* acc, const float* x, float factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        acc[i] += x[i] * factor;
    }
}

/// e^x within 2 units in the last place: x = k ln 2 + r, a polynomial for e^r, k into the exponent. Below −87.3 it is 0,
/// above 88.7 +∞.
inline Floats exponential(Floats x) {
    const Floats low = all(-87.33654F);
    const Floats high = all(88.72283F);
    const Floats clamped = x < low ? low : (x > high ? high : x);
    const Floats scaled = clamped * 1.44269504F;
    const Floats magic = all(12582912.0F); // 1.5 × 2^23: adding and subtracting it rounds to an integer
    const Floats k = (scaled + magic) - magic;
    Floats r = clamped - k * 0.693359375F;
    r -= k * -2.12194440e-4F;
    Floats p = all(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * (r * r) + r + 1.0F;
    // 2^k in two factors, so that k = 128 does not overflow on the way.
    const Ints whole = __builtin_convertvector(k, Ints);
    const Ints half = whole >> 1;
    const Floats first = reinterpret_cast<Floats>((half + 127) << 23);
    const Floats second = reinterpret_cast<Floats>((whole - half + 127) << 23);
    const Floats value = p * first * second;
    const Floats infinite = x > high ? all(__builtin_inff()) : value;
    const Floats finished = x < low ? Floats{} : infinite;
    return x != x ? x : finished; // NaN stays
}

inline float exponential_of(float x) { return exponential(all(x))[0]; }

double exp_sum(const float* x, float shift, float* out, int64_t n) {
    double s = 0;
    int64_t i = 0;
    while (i + width <= n) {
        const int64_t end = n < i + 4096 ? n : i + 4096;
        Floats part{};
        for (; i + width <= end; i += width) {
            const Floats v = exponential(load(x + i) - shift);
            store(out + i, v);
            part += v;
        }
        s += total(part);
    }
    if (i < n) {
        const Floats v = exponential(load_some(x + i, n - i, -__builtin_inff()) - shift);
        store_some(out + i, v, n - i);
        for (; i < n; ++i) {
            s += out[i];
        }
    }
    return s;
}

/// `width` products to scores.
inline Floats score(Floats x, Floats mask, const ScoreRule& rule) {
    x *= rule.scale;
    if (rule.cap != 0) {
        x = rule.cap - 2 * rule.cap / (exponential(x * (2 / rule.cap)) + 1.0F); // tanh
    }
    const Floats hidden = all(-__builtin_inff());
    return mask == hidden ? hidden : x + mask * rule.slope;
}

float scores(float* x, int64_t n, const ScoreRule& rule) {
    Floats top = all(-__builtin_inff());
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        const Floats s = score(load(x + i), rule.mask != nullptr ? load_half(rule.mask + i) : Floats{}, rule);
        store(x + i, s);
        top = larger(top, s);
    }
    float m = largest(top, -__builtin_inff());
    if (i < n) {
        float mask[width] = {};
        for (int64_t j = 0; j < n - i && rule.mask != nullptr; ++j) {
            mask[j] = half_bits_to_float(rule.mask[i + j]);
        }
        store_some(x + i, score(load_some(x + i, n - i, 0.0F), load(mask), rule), n - i);
        for (; i < n; ++i) {
            m = x[i] > m ? x[i] : m;
        }
    }
    return m;
}

void silu(const float* x, float* out, int64_t n) {
    int64_t i = 0;
    for (; i + width <= n; i += width) {
        const Floats v = load(x + i);
        store(out + i, v / (exponential(-v) + 1.0F));
    }
    for (; i < n; ++i) {
        out[i] = x[i] / (1.0F + exponential_of(-x[i]));
    }
}

} // namespace

const VectorOps SCHEDSCOPE_TABLE(vector_ops_, SCHEDSCOPE_ISA) = {
    SCHEDSCOPE_NAME(SCHEDSCOPE_ISA),
    SCHEDSCOPE_TABLE(block_ops_, SCHEDSCOPE_ISA),
    row_ops,
    bf16::ops,
    width,
    int8::quantise,
    dot<RowF32>,
    dot<RowF16>,
    dot<RowBF16>,
    half_to_floats,
    floats_to_half,
    tile_rows,
    tile_columns,
    accumulate,
    transpose,
    sum,
    sum_of_squares,
    max,
    add,
    multiply_elements,
    scale,
    scale_multiply,
    add_scaled,
    exp_sum,
    scores,
    silu,
};

} // namespace schedscope
