#include "inspector/cli/bench/bench_work.h"

#include "runtime/backend/cpu/kernels/product_rows.h"
#include "runtime/model/architecture.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

BenchWork::BenchWork(const gguf::File& file, const RunOptions& run)
    : h_(hparams_of(file)), n_ubatch_(run.n_ubatch), products_(run.products),
      experts_used_(h_.n_expert > 0 ? to_double(h_.n_expert_used) / h_.n_expert : 1),
      cache_bytes_(to_double(row_bytes(run.cache_type_k, h_.n_embd_k()) + row_bytes(run.cache_type_v, h_.n_embd_v()))) {
    const auto tensors = file.tensors();
    const bool has_output = std::any_of(tensors.begin(), tensors.end(), [](const auto& t) { return t.name == "output.weight"; });
    for (const gguf::FileTensor& t : tensors) {
        const bool embedding = t.name == "token_embd.weight", output = t.name == "output.weight";
        if (t.n_dims < 2 || (embedding && has_output)) { // of the embeddings a row is read, unless they are the output, too
            continue;
        }
        const bool expert = t.name.find("_exps.") != std::string::npos;
        (expert ? expert_bytes_ : bytes_) += to_double(t.bytes);
        double products = 2 * (expert ? experts_used_ : 1);
        for (const int64_t n : t.ne) {
            products *= to_double(n);
        }
        Counted& with = embedding || output ? output_ : token_;
        const bool in_int8 = cpu::in_whole_numbers(run.products, best_vector_ops(), t.type);
        (in_int8 ? with.int8 : t.type == Type::BF16 ? with.bf16 : with.floats) += products;
    }
}

double BenchWork::weight_bytes(int32_t n_tokens) const {
    return bytes_ + expert_bytes_ * (1 - std::pow(1 - experts_used_, n_tokens)); // each token chooses for itself
}

double BenchWork::positions(double seen) const {
    double all = 0;
    for (int32_t il = 0; il < h_.n_layer; ++il) {
        all += h_.slides(il) ? std::min(seen, to_double(h_.window)) : seen;
    }
    return all;
}

double BenchWork::share_of_reading(const BenchTest& test, double tokens_per_s, const MachineLimits& machine) const {
    double bytes = 0, tokens = 0; // of an evaluation
    if (test.n_prompt > 0) {
        const int32_t n_evaluations = (test.n_prompt + n_ubatch_ - 1) / n_ubatch_;
        tokens = to_double(test.n_prompt) / n_evaluations;
        bytes = weight_bytes(std::min(test.n_prompt, n_ubatch_)) + cache_bytes_ * positions(test.depth + test.n_prompt / 2.0);
    } else {
        tokens = test.sequences;
        const double own = (test.n_generate + 1) / 2.0; // what stands in front is there once for all sequences
        bytes =
            weight_bytes(test.sequences) + cache_bytes_ * (positions(test.depth + own) + (test.sequences - 1) * positions(own));
    }
    return tokens_per_s / tokens * bytes / machine.read_bytes_per_s;
}

double BenchWork::seconds(const Counted& products, int64_t columns, const MachineLimits& machine) const {
    const bool in_bf16 = cpu::in_bf16(products_, best_vector_ops(), Type::BF16, columns);
    return products.floats / machine.flops + products.bf16 / (in_bf16 ? machine.bf16_flops : machine.flops) +
           products.int8 / machine.int8_ops;
}

double BenchWork::share_of_multiplying(const BenchTest& test, double tokens_per_s, const MachineLimits& machine) const {
    const double behind = (test.n_prompt + test.n_generate + 1) / 2.0;
    const double attention = 2.0 * h_.n_head * (h_.head_length_k + h_.head_length_v) * positions(test.depth + behind);
    const double each = attention / machine.flops;
    if (test.n_prompt > 0) { // of which the last token has logits
        return tokens_per_s * (each + seconds(token_, std::min(test.n_prompt, n_ubatch_), machine) +
                               seconds(output_, 1, machine) / test.n_prompt);
    }
    return tokens_per_s * (each + seconds(token_, test.sequences, machine) + seconds(output_, test.sequences, machine));
}

} // namespace schedscope
