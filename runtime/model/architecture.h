#pragma once

#include <span>
#include <string_view>

namespace schedscope {

struct Hparams;
struct Weights;
class WeightLoader;
class GraphBuilder;
struct Tensor;
namespace gguf {
class File;
}

/// What is particular to one `general.architecture`.
struct Architecture {
    std::string_view name;
    /// Adjusts what read_hparams found: rope's mode, keys of its own. May be null.
    void (*hparams)(Hparams& hparams, const gguf::File& file);
    /// Names all weights.
    void (*weights)(Weights& weights, WeightLoader& loader, const Hparams& hparams);
    /// Builds the graph of one ubatch, up to the logits.
    void (*graph)(GraphBuilder& build);
};

/// All that can be loaded (known_architectures.h).
std::span<const Architecture* const> architectures() noexcept;

/// Throws Error(input) naming the file and what is supported.
const Architecture& find_architecture(const gguf::File& file);

/// A model's sizes and constants, with what is particular to its architecture. Throws as find_architecture and read_hparams.
Hparams hparams_of(const gguf::File& file);

} // namespace schedscope
