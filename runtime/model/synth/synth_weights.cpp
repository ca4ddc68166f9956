#include "runtime/model/synth/synth_weights.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/tensor/convert.h"

#include <cmath>
#include <vector>

namespace schedscope {

namespace {

/// SplitMix64: a counter through a mixing function, so that any tensor can begin anywhere. By Guy Steele et al., public domain.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15ULL;
        uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31U);
    }
    /// Uniform in [−1, 1), a multiple of 2⁻²³: exact in a float.
    float uniform() noexcept { return to_float(static_cast<int64_t>(next() >> 40U) - (int64_t{1} << 23U)) * 0x1p-23F; }

private:
    uint64_t state_;
};

/// A row of random blocks, for types that floats can't be quantised to: the values' mean square is as wanted, in blocks that all
/// have one scale.
void fill_blocks(Type type, Random& random, double mean_square, std::vector<float>& row, std::vector<std::byte>& bytes) {
    for (std::byte& b : bytes) {
        b = static_cast<std::byte>(random.next() >> 56U);
    }
    const auto n = static_cast<int64_t>(row.size());
    set_scales(type, 1.0F, bytes.data(), n);
    row_to_float(type, bytes.data(), row.data(), n);
    double squares = 0;
    for (const float v : row) {
        squares += to_double(v) * to_double(v);
    }
    set_scales(type, to_float(std::sqrt(mean_square * to_double(n) / squares)), bytes.data(), n);
}

} // namespace

SynthWeights::SynthWeights(gguf::Writer& writer, Type type, uint64_t seed) : writer_(writer), type_(type), seed_(seed) {
    if (!can_expand(type)) {
        throw Error(ErrorKind::usage, "synth: weights can't be made as " + std::string(type_name(type)));
    }
}

void SynthWeights::random(const std::string& name, Type type, const Shape& ne, int64_t inputs) {
    const uint64_t seed = Random(seed_ + 0xA0761D6478BD642FULL * ++n_random_).next();
    const auto n_inputs = to_float(inputs > 0 ? inputs : ne[0]);
    writer_.add(name, type, ne, [type, ne, seed, n_inputs](const gguf::Writer::Put& put) {
        Random random(seed);
        std::vector<float> row(ne[0]);
        std::vector<std::byte> bytes(row_bytes(type, ne[0]));
        const float scale = std::sqrt(3.0F / n_inputs);
        for (int64_t i = 0; i < ne[1] * ne[2] * ne[3]; ++i) {
            if (can_quantise(type)) {
                for (float& v : row) {
                    v = random.uniform() * scale;
                }
                row_from_float(type, row.data(), bytes.data(), ne[0]);
            } else {
                fill_blocks(type, random, 1.0 / to_double(n_inputs), row, bytes);
            }
            put(bytes);
        }
    });
}

void SynthWeights::matrix(const std::string& name, const Shape& ne) {
    const bool divides = ne[0] % traits(type_).block == 0;
    ++n_matrices_;
    n_halves_ += divides ? 0 : 1;
    random(name, divides ? type_ : Type::F16, ne);
}

void SynthWeights::ones(const std::string& name, int64_t n) { writer_.add(name, {n, 1, 1, 1}, std::vector<float>(n, 1.0F)); }

void SynthWeights::bias(const std::string& name, int64_t n) { random(name, Type::F32, {n, 1, 1, 1}, 64 * 3); }

std::string SynthWeights::note() const {
    if (n_halves_ == 0) {
        return "";
    }
    return std::to_string(n_halves_) + " of " + std::to_string(n_matrices_) +
           " matrices are f16: " + std::string(type_name(type_)) + "'s blocks of " + std::to_string(traits(type_).block) +
           " values don't divide their rows";
}

} // namespace schedscope
