#pragma once

#include "runtime/gguf/gguf.h"
#include "runtime/ops/type.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace schedscope {

class SynthModel;

/// Sizes of a made-up text model. What else its architecture has (norms, biases, caps), the architecture's file in synth/ says.
struct SynthShape {
    std::string_view architecture = "llama"; ///< one of synth_architectures()
    int32_t n_vocab = 512;                   ///< at least 300: control tokens, bytes, letters
    int32_t n_ctx_train = 512;
    int32_t n_embd = 64;
    int32_t n_layer = 4;
    int32_t n_ff = 192;
    int32_t n_head = 4;
    int32_t n_head_kv = 2;
    int32_t head_length = 0; ///< values of a head of q, k and v; 0: n_embd / n_head
    int32_t n_expert = 0;    ///< in every layer
    int32_t n_expert_used = 0;
    int32_t n_ff_expert = 0; ///< 0: n_ff
    bool tied = false;       ///< the output is the embedding
    float freq_base = 10000.0F;
    float rope_factor = 1.0F; ///< rope is stretched by this in the architecture's own way (llama, phi3, gemma3)
    int32_t window = 0;       ///< tokens that a layer that slides sees (phi3, gemma2, gemma3)
    bool two_norms = false;   ///< one for each half of a block (falcon)
};

struct SynthPreset {
    std::string_view name;
    std::string_view description;
    SynthShape shape; ///< without the architecture
};

/// An architecture that models can be made of: one file in synth/.
struct SynthArchitecture {
    std::string_view name; ///< as general.architecture has it
    std::span<const SynthPreset> presets;
    void (*make)(SynthModel&); ///< adds keys and weights
};

/// All that the runtime has (known_architectures.h). Each has a preset "tiny", made in milliseconds; the others have the sizes of
/// public models.
std::span<const SynthArchitecture* const> synth_architectures() noexcept;
/// Throws Error(usage) naming what there is when there is none of that name.
SynthShape synth_preset(std::string_view architecture, std::string_view name);

/// A model with random weights and a SentencePiece vocabulary, the same on every machine for the same arguments. Matrices are of
/// `type` (rows that don't divide into its blocks: f16), norms, biases and routers f32. Writing takes memory for a row only.
/// Returns what the caller should be told, a sentence; empty: nothing. Throws Error(usage) for a shape or a type that is
/// impossible, Error(device) when the file can't be written.
std::string synthesise(const SynthShape& shape, Type type, uint64_t seed, const std::string& path);
/// Bytes of that file.
int64_t synthesised_bytes(const SynthShape& shape, Type type);
/// The header alone, with as much room behind it as the weights would take: a sparse file of a few megabytes, for plans without
/// weights.
std::string synthesise_header(const SynthShape& shape, Type type, uint64_t seed, const std::string& path);
/// The same without a file. `name` is shown as the model's path.
gguf::File synthesise_in_memory(const SynthShape& shape, Type type, uint64_t seed, std::string name);

} // namespace schedscope
