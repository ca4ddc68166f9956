#include "runtime/context/batch.h"

#include <algorithm>
#include <bit>

namespace schedscope {

void Batch::clear() noexcept {
    tokens.clear();
    embeddings.clear();
    positions.clear();
    sequences.clear();
    outputs.clear();
    kind = GraphKind::prefill;
}

Batch Batch::part(int32_t first, int32_t n) const {
    Batch part;
    part.kind = kind;
    const auto take = [first, n](const auto& from, auto& to, size_t each) {
        if (!from.empty()) {
            to.assign(from.begin() + first * each, from.begin() + (first + n) * each);
        }
    };
    take(tokens, part.tokens, 1);
    take(embeddings, part.embeddings, embeddings.size() / std::max<size_t>(positions.size(), 1));
    take(positions, part.positions, 1);
    take(sequences, part.sequences, 1);
    take(outputs, part.outputs, 1);
    return part;
}

void Batch::add(int32_t token, int32_t position, SequenceSet in, bool output) {
    add(token, position, in, output ? output_choice : no_output);
}

void Batch::add(int32_t token, int32_t position, SequenceSet in, uint8_t wanted) {
    tokens.push_back(token);
    positions.push_back(position);
    sequences.push_back(in);
    outputs.push_back(wanted);
}

void Batch::add_embeddings(std::span<const float> rows, int32_t n, int32_t position, SequenceSet in, bool output_last) {
    embeddings.insert(embeddings.end(), rows.begin(), rows.end());
    for (int32_t i = 0; i < n; ++i) {
        positions.push_back(position + i);
        sequences.push_back(in);
        outputs.push_back(output_last && i == n - 1 ? output_choice : no_output);
    }
}

Ubatch make_ubatch(const Batch& batch, int32_t first, int32_t n) noexcept {
    Ubatch u{&batch, first, n, 0, 0};
    SequenceSet all = 0;
    for (int32_t i = first; i < first + n; ++i) {
        u.n_outputs += batch.outputs[i] != no_output ? 1 : 0;
        all |= batch.sequences[i];
    }
    u.n_sequences = std::popcount(all);
    return u;
}

} // namespace schedscope
