#pragma once

#include "runtime/ops/layout.h"
#include "runtime/ops/type.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace schedscope {

/// What a model's file says that its graphs are built from: hyperparameters, and which tensors there are. No vocabulary, no
/// weights, no name of a file.
struct ModelHeader {
    struct Value {
        std::string key;                                                  ///< "llama.block_count"
        std::string type;                                                 ///< as GGUF calls it: "u32", "array of bool"
        std::vector<std::variant<int64_t, double, std::string>> elements; ///< one, where it is no array; bool: 0 or 1
        bool operator==(const Value&) const = default;
    };
    struct Tensor {
        std::string name;
        Type type = Type::F32;
        Shape ne{1, 1, 1, 1};
        int64_t bytes = 0;
        bool operator==(const Tensor&) const = default;
    };
    std::vector<Value> values;   ///< in the file's order; `ARCHITECTURE.vocab_size` says how long the vocabulary is
    std::vector<Tensor> tensors; ///< in the file's order
    bool operator==(const ModelHeader&) const = default;
};

} // namespace schedscope
