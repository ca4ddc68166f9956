#pragma once

#include "runtime/gguf/gguf.h"
#include "runtime/tensor/type.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace schedscope {

/// Sizes of a made-up llama. With experts every layer has them.
struct LlamaShape {
    int32_t n_vocab = 512; ///< at least 300: control tokens, bytes, letters
    int32_t n_ctx_train = 512;
    int32_t n_embd = 64;
    int32_t n_layer = 4;
    int32_t n_ff = 192;
    int32_t n_head = 4;
    int32_t n_head_kv = 2;
    int32_t n_expert = 0;
    int32_t n_expert_used = 0;
    bool tied = false; ///< the output is the embedding
};

struct SynthPreset {
    std::string_view name;
    std::string_view description;
    LlamaShape shape;
};

/// "tiny" (the demo's, made in milliseconds), "tiny-moe", "110m", "1b", "7b", "70b".
std::span<const SynthPreset> synth_presets() noexcept;
/// Throws Error(usage) naming the presets when there is none of that name.
const LlamaShape& synth_preset(std::string_view name);

/// A llama with random weights and a SentencePiece vocabulary, the same on every machine for the same arguments. Matrices are of `type` (rows that don't divide into
/// its blocks: f16), norms f32. Writing takes memory for a row only. Throws Error(usage) for a shape or a type that is impossible, Error(device) when the file
/// can't be written.
void synthesise_llama(const LlamaShape& shape, Type type, uint64_t seed, const std::string& path);
/// The header alone, with as much room behind it as the weights would take: a sparse file of a few megabytes, for plans without weights.
void synthesise_llama_header(const LlamaShape& shape, Type type, const std::string& path);
/// The same without a file. `name` is shown as the model's path.
gguf::File synthesise_llama_in_memory(const LlamaShape& shape, Type type, uint64_t seed, std::string name);

} // namespace schedscope
