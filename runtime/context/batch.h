#pragma once

#include "runtime/numbers.h"
#include "runtime/planner/records.h"

#include <cstdint>
#include <span>
#include <vector>

namespace schedscope {

/// Sequences as a set of bits: bit s is sequence s.
using SequenceSet = uint64_t;
constexpr int32_t max_sequences = 64;
constexpr SequenceSet only_sequence(int32_t id) noexcept { return SequenceSet{1} << id; }

/// What is wanted of a token, as bits of Batch::outputs.
constexpr uint8_t no_output = 0;
constexpr uint8_t output_choice =
    1; ///< the next token is chosen from it: its logits, or what the graph kept of them for a sequence that is sampled there
constexpr uint8_t output_logits = 2; ///< its logits, whoever chooses

/// What to decode together: tokens, or embeddings in their place. Entry i of each list is token i.
struct Batch {
    std::vector<int32_t> tokens;         ///< ids; empty with embeddings
    std::vector<float> embeddings;       ///< [n_tokens × n_embd]; empty with tokens
    std::vector<int32_t> positions;      ///< in the sequence, from 0
    std::vector<SequenceSet> sequences;  ///< a token may belong to several (a shared prompt); never none
    std::vector<uint8_t> outputs;        ///< no_output, or bits of output_…
    GraphKind kind = GraphKind::prefill; ///< for the records

    int32_t size() const noexcept { return n_of(positions); }
    void clear() noexcept;
    /// Its tokens from `first` on, n of them.
    Batch part(int32_t first, int32_t n) const;
    /// output: output_choice; see above for more.
    void add(int32_t token, int32_t position, SequenceSet in, bool output);
    void add(int32_t token, int32_t position, SequenceSet in, uint8_t outputs);
    /// rows: [n × n_embd], at positions from `position` on.
    void add_embeddings(std::span<const float> rows, int32_t n, int32_t position, SequenceSet in, bool output_last);
};

/// A run of a batch's tokens that is evaluated as one graph.
struct Ubatch {
    const Batch* batch = nullptr;
    int32_t first = 0;
    int32_t n_tokens = 0;
    int32_t n_outputs = 0;
    int32_t n_sequences = 0; ///< different ones
};

/// Tokens [first, first + n) of a batch.
Ubatch make_ubatch(const Batch& batch, int32_t first, int32_t n) noexcept;

} // namespace schedscope
