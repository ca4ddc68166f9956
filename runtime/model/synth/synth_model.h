#pragma once

#include "runtime/gguf/writer.h"
#include "runtime/model/hparams.h"
#include "runtime/model/synth/synth.h"
#include "runtime/model/synth/synth_weights.h"

#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

/// A made-up text model on its way into a file: the parts that architectures are put together from. Weights depend on the order
/// of the calls.
///
///     void make(SynthModel& m) {
///         m.keys(NormKind::rms, 1e-5F);
///         m.embedding_and_output();
///         m.each_block([&m](const std::string& blk) { … });
///     }
class SynthModel {
public:
    /// Throws Error(usage) when the sizes don't fit together, or weights can't be made as `type`.
    SynthModel(const SynthShape& shape, Type type, uint64_t seed);
    SynthModel(const SynthModel&) = delete; // the weights know the writer
    SynthModel& operator=(const SynthModel&) = delete;

    /// What all architectures have, and the vocabulary. First of all: it says which norms the model has.
    void keys(NormKind norm, float epsilon);
    /// ARCHITECTURE.KEY
    template <typename T> void set(const std::string& key, T value) {
        writer_.set(std::string(s_.architecture) + "." + key, value);
    }

    /// Calls make(prefix) for each block, from the first: "blk.0.".
    template <typename Make> void each_block(Make make) {
        for (int32_t il = 0; il < s_.n_layer; ++il) {
            make("blk." + std::to_string(il) + ".");
        }
    }

    void embedding_and_output();
    void norm(const std::string& name, int64_t n);
    void norm(const std::string& name) { norm(name, s_.n_embd); }
    void matrix(const std::string& name, int64_t inputs, int64_t outputs) {
        weights_.matrix(name + ".weight", {inputs, outputs, 1, 1});
    }
    void bias(const std::string& name, int64_t n) { weights_.bias(name + ".bias", n); }
    void values(const std::string& name, std::vector<float> values); ///< of a vector, F32

    void attention(const std::string& blk);       ///< its norm, and q, k, v and the output as a matrix each
    void fused_attention(const std::string& blk); ///< its norm, one matrix for q, k and v, and the output
    void head_norms(const std::string& blk);      ///< of q and k
    void gated_feed_forward(const std::string& blk);
    void experts(const std::string& blk);
    void post_norms(const std::string& blk);

    const SynthShape& shape() const noexcept { return s_; }
    int32_t head_length() const noexcept { return s_.head_length > 0 ? s_.head_length : s_.n_embd / s_.n_head; }
    int64_t n_embd_q() const noexcept { return int64_t{head_length()} * s_.n_head; }     ///< values of all q heads of a token
    int64_t n_embd_kv() const noexcept { return int64_t{head_length()} * s_.n_head_kv; } ///< of all k heads, and of all v heads

    const gguf::Writer& writer() const noexcept { return writer_; }
    std::string note() const { return weights_.note(); }

private:
    void check() const;
    void size(const char* key, int32_t v) { set(key, static_cast<uint32_t>(v)); }

    SynthShape s_;
    uint64_t seed_;
    gguf::Writer writer_;
    SynthWeights weights_;
    NormKind norm_ = NormKind::rms;
};

} // namespace schedscope
