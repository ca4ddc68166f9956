#include "runtime/context/graph_sampling.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/model/model.h"
#include "runtime/tensor/ops.h"

#include <bit>
#include <string>

namespace schedscope {

namespace {

/// The device whose memory the output's weights are in; memory that is no device's own is the host's.
OutputPlace output_place(const Model& model) {
    const Hparams& h = model.hparams();
    const Tensor* output = model.weights().output.weight;
    int32_t matrix = model.placement().host();
    for (int32_t i = 0; i < model.n_devices(); ++i) {
        if (output->buffer != nullptr && &model.device(i).buffer_type() == &output->buffer->type()) {
            matrix = i;
        }
    }
    const HomeChoice choice = model.placement().sampling(h.n_layer, matrix);
    return {&model.device(choice.home), model.mode(), h.n_vocab, h.n_layer, choice.why};
}

} // namespace

GraphSampling::GraphSampling(const Model& model) : place_(output_place(model)) {}

void GraphSampling::set(int32_t sequence, std::shared_ptr<SamplerChain> chain) {
    std::unique_ptr<GraphChain> made;
    if (chain != nullptr) {
        made = std::make_unique<GraphChain>(sequence, std::move(chain), place_);
    }
    const auto of = entries_.find(sequence);
    const bool had_nodes = (sequences_ & only_sequence(sequence)) != 0;
    const bool has_nodes = made != nullptr && made->n_in_graph() > 0;
    if (of != entries_.end()) {
        former_.push_back(std::move(of->second.chain));
        entries_.erase(of);
    }
    if (made != nullptr) {
        entries_[sequence].chain = std::move(made);
    }
    sequences_ = has_nodes ? sequences_ | only_sequence(sequence) : sequences_ & ~only_sequence(sequence);
    version_ += had_nodes || has_nodes ? 1 : 0;
}

const GraphChain* GraphSampling::chain(int32_t sequence) const {
    const auto of = entries_.find(sequence);
    return of == entries_.end() ? nullptr : of->second.chain.get();
}

void GraphSampling::add_nodes(Graph& graph, Tensor* logits) {
    if (sequences_ == 0) {
        return;
    }
    const InPart part(graph, Role::sampling);
    Tensor* row = ops::view_1d(graph, logits, logits->ne[0], 0);
    row->name = "sampling.row_shape";
    Tensor* dummy = ops::fill(graph, row, 0.0F);
    dummy->name = "sampling.dummy_row";
    Tensor* rows = ops::concat(graph, dummy, logits, 1);
    rows->name = "sampling.rows";
    for (auto& [sequence, entry] : entries_) {
        entry.chain->add_nodes(graph, rows);
    }
}

int32_t GraphSampling::row_of(const Ubatch& u, int32_t sequence) {
    int32_t row = 0;
    for (int32_t i = 0; i < u.n_tokens; ++i) {
        const size_t at = u.first + i;
        const uint8_t output = u.batch->outputs[at];
        row += output != no_output ? 1 : 0;
        if ((output & output_choice) != 0 && (u.batch->sequences[at] & only_sequence(sequence)) != 0) {
            return row;
        }
    }
    return 0;
}

void GraphSampling::check(const Batch& batch) const {
    SequenceSet seen = 0;
    for (size_t i = 0; i < batch.outputs.size(); ++i) {
        const SequenceSet chosen = (batch.outputs[i] & output_choice) != 0 ? batch.sequences[i] & sequences_ : 0;
        if ((chosen & seen) != 0) {
            throw Error(ErrorKind::usage, "batch: sequence " + std::to_string(std::countr_zero(chosen & seen)) +
                                              " is sampled in the graph and has two outputs to choose from");
        }
        seen |= chosen;
    }
}

void GraphSampling::write_inputs(const Ubatch& u) {
    for (auto& [sequence, entry] : entries_) {
        if (entry.chain->n_in_graph() > 0) {
            entry.chain->write_inputs(row_of(u, sequence));
        }
    }
}

void GraphSampling::read(const Ubatch& u, bool count) {
    for (auto& [sequence, entry] : entries_) {
        if (entry.chain->n_in_graph() > 0 && row_of(u, sequence) > 0) {
            entry.sampled = &entry.chain->read(count);
        }
    }
}

const SampledInGraph& GraphSampling::sampled(int32_t sequence) const {
    const auto of = entries_.find(sequence);
    if (of == entries_.end() || of->second.sampled == nullptr) {
        throw Error(ErrorKind::usage, "sequence " + std::to_string(sequence) + ": nothing was sampled for it in the graph");
    }
    return *of->second.sampled;
}

void GraphSampling::forget_sampled() noexcept {
    for (auto& [sequence, entry] : entries_) {
        entry.sampled = nullptr;
    }
}

} // namespace schedscope
