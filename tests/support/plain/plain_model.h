#pragma once

#include "runtime/gguf/gguf.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Models small enough to be computed twice: by the runtime from a file, and from the published descriptions in plain double
/// precision.
namespace schedscope::test {

/// Values with the first dimension contiguous, as files have them.
struct PlainTensor {
    std::vector<int64_t> ne;
    std::vector<float> v;
};

struct PlainModel {
    std::string architecture;
    std::map<std::string, double> numbers; ///< keys without the architecture in front
    std::map<std::string, std::string> texts;
    std::map<std::string, PlainTensor> tensors;

    int integer(const std::string& key) const { return static_cast<int>(numbers.at(key)); }
    double number(const std::string& key, double otherwise) const {
        const auto found = numbers.find(key);
        return found == numbers.end() ? otherwise : found->second;
    }
    bool has(const std::string& tensor) const { return tensors.contains(tensor); }

    /// As a GGUF file in memory.
    std::shared_ptr<gguf::File> file() const;
};

/// A random one of an architecture's kind: "qwen3", "falcon-40b", "phi3-long", … See plain_model.cpp for the kinds.
PlainModel random_model(const std::string& kind, uint32_t seed);

/// Logits of each token of one sequence, row by row. From the published descriptions, in double precision; no code of the
/// runtime. n_ctx: the context length asked for, by which Phi 3 chooses its rope factors.
std::vector<double> plain_logits(const PlainModel& model, const std::vector<int32_t>& tokens, int n_ctx);

} // namespace schedscope::test
