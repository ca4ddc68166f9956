#include "runtime/context/graph_inputs.h"

#include "runtime/backend/buffer.h"

#include <bit>
#include <limits>

namespace schedscope {

namespace {

/// Inputs that no node reads have no memory.
bool wanted(const Tensor* t) noexcept { return t != nullptr && t->buffer != nullptr; }

template <typename T> void write_all(const Tensor& t, const std::vector<T>& values) {
    tensor_write(t, values.data(), 0, values.size() * sizeof(T));
}

/// One row per token: 0 where it sees a cell, `hidden` elsewhere. It sees itself and what came before, at most `window` tokens.
template <typename T>
void mask_rows(std::vector<T>& rows, T hidden, const Ubatch& u, const KvCells& kv, int64_t n_kv, int32_t window) {
    rows.assign(n_kv * u.n_tokens, hidden);
    for (int32_t i = 0; i < u.n_tokens; ++i) {
        const size_t at = u.first + i;
        // A token of several sequences sees what its first one sees: they share all up to it.
        const SequenceSet own = u.batch->sequences[at] & (~u.batch->sequences[at] + 1);
        const int32_t position = u.batch->positions[at];
        T* row = rows.data() + i * n_kv;
        for (int32_t j = 0; j < n_kv; ++j) {
            if ((kv.sequences(j) & own) != 0 && kv.position(j) <= position && position - kv.position(j) < window) {
                row[j] = T{0};
            }
        }
    }
}

} // namespace

void GraphInputs::fill_mask(const Tensor& mask, const Ubatch& u, const KvCells& kv, int32_t window) {
    if (mask.type == Type::F16) {
        constexpr uint16_t minus_infinity = 0xFC00;
        mask_rows<uint16_t>(halfs_, minus_infinity, u, kv, mask.ne[0], window);
        write_all(mask, halfs_);
    } else {
        mask_rows<float>(floats_, -std::numeric_limits<float>::infinity(), u, kv, mask.ne[0], window);
        write_all(mask, floats_);
    }
}

void GraphInputs::fill_rows(const Tensor* k_rows, const Tensor* v_rows, const KvCells& kv, std::span<const int32_t> cells,
                            int64_t n_embd_v) {
    longs_.assign(cells.begin(), cells.end());
    if (wanted(k_rows)) {
        write_all(*k_rows, longs_);
    }
    if (!wanted(v_rows)) {
        return;
    }
    if (v_rows->ne[0] != std::ssize(cells)) {
        // Transposed: value e of a token is element e × cells + cell.
        longs_.clear();
        for (const int32_t cell : cells) {
            for (int64_t e = 0; e < n_embd_v; ++e) {
                longs_.push_back(e * kv.size() + cell);
            }
        }
    }
    write_all(*v_rows, longs_);
}

void GraphInputs::fill(const GraphTensors& io, const Ubatch& u, const KvCells& kv, std::span<const int32_t> cells,
                       const Hparams& h) {
    const Batch& batch = *u.batch;
    const size_t first = u.first;
    const size_t n = u.n_tokens;
    if (wanted(io.tokens)) {
        tensor_write(*io.tokens, batch.tokens.data() + first, 0, n * sizeof(int32_t));
    }
    if (wanted(io.embeddings)) {
        const size_t width = h.n_embd;
        tensor_write(*io.embeddings, batch.embeddings.data() + first * width, 0, n * width * sizeof(float));
    }
    if (wanted(io.positions)) {
        tensor_write(*io.positions, batch.positions.data() + first, 0, n * sizeof(int32_t));
    }
    fill_rows(io.k_rows, io.v_rows, kv, cells, h.n_embd_v());
    fill_rows(io.sliding_k_rows, io.sliding_v_rows, kv, cells, h.n_embd_v());
    if (wanted(io.mask)) {
        fill_mask(*io.mask, u, kv, std::numeric_limits<int32_t>::max());
    }
    if (wanted(io.sliding_mask)) {
        fill_mask(*io.sliding_mask, u, kv, h.window);
    }
    if (wanted(io.output_rows)) {
        ints_.clear();
        for (int32_t i = 0; i < u.n_tokens; ++i) {
            if (batch.outputs[first + i] != 0) {
                ints_.push_back(i);
            }
        }
        // The graph has at least one row; it is not read then.
        ints_.resize(io.output_rows->ne[0], 0);
        write_all(*io.output_rows, ints_);
    }
}

} // namespace schedscope
