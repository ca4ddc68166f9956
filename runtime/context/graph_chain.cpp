#include "runtime/context/graph_chain.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace schedscope {

namespace {

/// The first of these nodes that the device can't run, and why; empty: it runs all.
std::string lacking(std::span<Tensor* const> nodes, const Device& device) {
    for (const Tensor* node : nodes) {
        if (const Answer answer = device.supports_op(*node); !answer.yes) {
            return std::string(device.name()) + " can't run " + std::string(op_description(node->op, node->params)) + ": " +
                   std::string(refusal_name(answer.reason)) + (answer.detail.empty() ? "" : ", " + std::string(answer.detail));
        }
    }
    return {};
}

/// So many candidates are copied without asking first how many of them count.
constexpr size_t few = 128;

/// "seq0.top_p.soft_max", "seq0.top_p.get_rows", "seq0.top_p.get_rows_2".
void give_names(std::span<Tensor* const> nodes, const std::string& prefix) {
    std::map<std::string, int> times;
    for (Tensor* node : nodes) {
        const std::string op = lower(op_description(node->op, node->params));
        const int before = times[op]++;
        node->name = (prefix + '.' + op + (before > 0 ? '_' + std::to_string(before + 1) : "")).substr(0, max_name);
    }
}

} // namespace

GraphChain::GraphChain(int32_t sequence, std::shared_ptr<SamplerChain> chain, const OutputPlace& place)
    : sequence_(sequence), chain_(std::move(chain)) {
    for (const auto& sampler : chain_->samplers()) {
        parts_.emplace_back().name = sampler->name();
    }
    make_inputs(place);
    decide(place);
    if (has_memory_ && n_in_graph_ > 0) {
        write_inputs(0);
        for (size_t i = 0; i < n_in_graph_; ++i) {
            chain_->samplers()[i]->in_graph()->write_inputs(false);
        }
    }
}

void GraphChain::make_inputs(const OutputPlace& place) {
    row_ = inputs_.make(Type::I32, {1, 1, 1, 1}, "seq" + std::to_string(sequence_) + ".row");
    for (size_t i = 0; i < parts_.size() && chain_->samplers()[i]->in_graph() != nullptr; ++i) {
        const size_t first = inputs_.tensors().size();
        chain_->samplers()[i]->in_graph()->make_inputs(inputs_, place.n_vocab);
        for (size_t t = first; t < inputs_.tensors().size(); ++t) {
            Tensor& input = inputs_.tensors()[t];
            input.name = ("seq" + std::to_string(sequence_) + '.' + input.name).substr(0, max_name);
        }
    }
    std::vector<Tensor*> tensors;
    for (Tensor& t : inputs_.tensors()) {
        t.role = Role::sampling;
        t.layer = place.layer;
        t.why_here = place.why_here;
        tensors.push_back(&t);
    }
    buffers_ = give_buffers(place.device->buffer_type(), tensors, BufferUsage::any, place.mode);
    has_memory_ = place.mode == LoadMode::data;
    for (const auto& buffer : buffers_) {
        buffer->clear(0);
    }
}

/// Builds a graph that is not run, as far as the device can.
void GraphChain::decide(const OutputPlace& place) {
    Graph graph;
    std::string why;
    std::string_view first_on_cpu;
    for (size_t i = 0; i < parts_.size(); ++i) {
        SamplerPart& part = parts_[i];
        if (!first_on_cpu.empty()) {
            part.why_not = "behind " + std::string(first_on_cpu) + ", which runs on the CPU";
            continue;
        }
        if (chain_->samplers()[i]->in_graph() == nullptr) {
            part.why_not = "it runs on the CPU only";
        } else if (chain_->place(i) == SamplerChain::Place::cpu) {
            part.why_not = "kept on the CPU by cpu:";
        } else {
            if (i == 0) {
                begin(graph, graph.input(Type::F32, {place.n_vocab, 2, 1, 1}));
                why = lacking(graph.nodes(), *place.device);
            }
            part.why_not = why.empty() ? lacking(append(graph, i), *place.device) : why;
            part.refused = !part.why_not.empty();
        }
        part.in_graph = part.why_not.empty();
        n_in_graph_ += part.in_graph ? 1 : 0;
        if (!part.in_graph) {
            part.n_nodes = 0;
            first_on_cpu = part.name;
        }
    }
}

void GraphChain::begin(Graph& graph, Tensor* rows) {
    result_ = {};
    result_.vocabulary = result_.logits = ops::get_rows(graph, rows, row_);
    graph.expand(result_.logits);
    result_.logits->name = "seq" + std::to_string(sequence_) + ".logits";
}

std::span<Tensor* const> GraphChain::append(Graph& graph, size_t i) {
    SamplerPart& part = parts_[i];
    const size_t first = graph.nodes().size();
    const Tensor* left_before = result_.left;
    chain_->samplers()[i]->in_graph()->add_nodes(graph, result_);
    for (Tensor* t : {result_.logits, result_.ids, result_.left, result_.token, result_.likelihood}) {
        if (t != nullptr) {
            graph.expand(t);
        }
    }
    const auto nodes = graph.nodes().subspan(first);
    give_names(nodes, "seq" + std::to_string(sequence_) + '.' + std::string(part.name));
    part.n_nodes = n_of(nodes);
    part.last = nodes.empty() ? nullptr : nodes.back();
    part.left = result_.left != left_before ? result_.left : nullptr;
    part.most_left = result_.token != nullptr ? 1 : int_of(result_.logits->ne[0]);
    return nodes;
}

void GraphChain::add_nodes(Graph& graph, Tensor* rows) {
    if (n_in_graph_ == 0) {
        return;
    }
    begin(graph, rows);
    for (size_t i = 0; i < n_in_graph_; ++i) {
        append(graph, i);
        if (parts_[i].left != nullptr) {
            parts_[i].left->flags |= flag_output;
        }
    }
    const bool chosen = result_.token != nullptr;
    for (Tensor* t : {chosen ? result_.token : result_.ids, chosen ? result_.likelihood : result_.logits}) {
        if (t != nullptr) {
            t->flags |= flag_output;
        }
    }
}

void GraphChain::write_inputs(int32_t row) {
    if (row != written_row_) {
        tensor_write(*row_, &row, 0, sizeof row);
        written_row_ = row;
    }
    if (row > 0) {
        for (size_t i = 0; i < n_in_graph_; ++i) {
            chain_->samplers()[i]->in_graph()->write_inputs(true);
        }
    }
}

const SampledInGraph& GraphChain::read(bool count) {
    SampledInGraph& s = sampled_;
    s.left.clear();
    s.ids.clear();
    s.logits.clear();
    s.token = -1;
    s.host_bytes = 0;
    const auto read = [&](const Tensor& t, void* target, size_t n = 1) { // elements of four bytes
        const size_t bytes = n * sizeof(float);
        tensor_read(t, target, 0, bytes);
        s.host_bytes += bytes;
    };
    if (result_.token != nullptr) {
        float likelihood = 0;
        read(*result_.token, &s.token);
        read(*result_.likelihood, &likelihood);
        if (std::isnan(likelihood)) {
            throw Error(ErrorKind::device, "sampling: there are logits that are NaN; --watch and verify tell where it began");
        }
        if (!std::isfinite(likelihood)) {
            throw Error(ErrorKind::device, "sampling: no token has a finite logit");
        }
    } else {
        size_t n = result_.logits->ne[0];
        if (n > few && result_.sorted && result_.left != nullptr) {
            float left = 0; // those that are none any more stand behind
            read(*result_.left, &left);
            n = std::min(n, static_cast<size_t>(std::max(left, 1.0F)));
        }
        s.logits.resize(n);
        read(*result_.logits, s.logits.data(), n);
        if (result_.ids != nullptr) {
            s.ids.resize(n);
            read(*result_.ids, s.ids.data(), n);
        }
        s.sorted = result_.sorted;
    }
    int32_t left = int_of(result_.vocabulary->ne[0]);
    for (size_t i = 0; i < n_in_graph_; ++i) {
        left = std::min(left, parts_[i].most_left);
        if (count && parts_[i].left != nullptr) {
            float counted = 0;
            tensor_read(*parts_[i].left, &counted, 0, sizeof counted);
            left = std::min(left, static_cast<int32_t>(counted));
        }
        s.left.push_back(left);
    }
    return s;
}

} // namespace schedscope
