#pragma once

#include "inspector/cli/bench/bench.h"
#include "runtime/backend/machine_limits.h"
#include "runtime/model/hparams.h"

namespace schedscope {

/// What a model's tests ask of the machine at least, and so what share of its limits a rate is. Counted are weights and the KV
/// cache, each byte once an evaluation, and the products with both; not what is small beside them, as norms are.
class BenchWork {
public:
    /// Throws Error(input) for a model that can't be read.
    BenchWork(const gguf::File& file, const RunOptions& run);

    /// The share of the time in which the machine can't but read what the test reads.
    double share_of_reading(const BenchTest& test, double tokens_per_s, const MachineLimits& machine) const;
    /// The same of multiplying: weights that the CPU multiplies in whole numbers with numbers of 8 bits, or in BF16, unless the
    /// run wants floats; all else with floats.
    double share_of_multiplying(const BenchTest& test, double tokens_per_s, const MachineLimits& machine) const;

private:
    struct Counted {
        double floats = 0, bf16 = 0, int8 = 0; ///< multiplies and adds; `bf16`: with weights that are, be it as floats
    };
    double seconds(const Counted& products, int64_t columns, const MachineLimits& machine) const; ///< so many columns at once
    double weight_bytes(int32_t n_tokens) const;
    double positions(double seen) const; ///< of all layers, of a token that sees so many; sliding layers see a window

    Hparams h_;
    int32_t n_ubatch_;
    Products products_;
    double bytes_ = 0, expert_bytes_ = 0; ///< of the weights that each evaluation reads; of all experts
    double experts_used_ = 0;             ///< share of a token
    double cache_bytes_ = 0;              ///< of a position in a layer
    Counted token_, output_; ///< with the weights of the blocks, for each token; with the output's, for each row of logits
};

} // namespace schedscope
