#pragma once

#include "tests/runtime/scheduler/sketch.h"

#include <random>

namespace schedscope::sketch {

/// A graph of about 80 nodes over three backends that two of them refuse parts of: weights, caches, inputs, views, writes into caches,
/// outputs. The same seed gives the same graph.
inline Sketch random_sketch(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Sketch s{"GPU0", "BLAS", "CPU"};
    s.shares_memory("BLAS", "CPU").refuse("BLAS", {Op::SQR, Op::ADD, Op::RMS_NORM, Op::CPY}).refuse("GPU0", {Op::LOG});
    s.offers_offload("GPU0", {Op::MUL_MAT});

    std::vector<TensorId> values, weights, caches;
    for (const char* memory : {"GPU0", "CPU"}) {
        for (int i = 0; i < 4; ++i) {
            weights.push_back(s.weight(std::string("w-") + memory + std::to_string(i), memory));
        }
        caches.push_back(s.allocated(std::string("cache-") + memory, memory));
    }
    for (int i = 0; i < 4; ++i) {
        values.push_back(s.input(std::string("x").append(std::to_string(i))));
    }
    const auto value = [&] { return values[values.size() - 1 - below(std::min<size_t>(values.size(), 8))]; };
    for (int i = 0; i < 80; ++i) {
        const std::string name = std::string("n").append(std::to_string(i));
        TensorId node = no_tensor;
        switch (below(8)) {
        case 0: node = s.node(name, Op::MUL_MAT, {weights[below(weights.size())], value()}); break;
        case 1: node = s.node(name, Op::ADD, {value(), value()}); break;
        case 2: node = s.node(name, Op::RMS_NORM, {value()}); break;
        case 3: node = s.node(name, Op::LOG, {value()}); break;
        case 4: node = s.view(name, Op::RESHAPE, value()); break;
        case 5: node = s.node(name, Op::MUL, {value(), weights[below(weights.size())]}); break;
        case 6: node = s.node(name, Op::CUSTOM, {value(), value(), value()}); break;
        default: {
            const TensorId cache = caches[below(caches.size())];
            node = s.node(name, Op::CPY, {value(), cache});
            s.at(node).view_source = cache;
        }
        }
        if (below(4) == 0 && !s.at(node).is_view()) {
            s.at(node).ne = {16, static_cast<int64_t>(1 + below(6)), 1, 1};
            s.at(node).nb = contiguous_strides(s.at(node).type, s.at(node).ne);
        }
        if (below(20) == 0 && !s.at(node).is_view()) { // the reference frees what only a view marks as output
            s.at(node).flags |= flag_output;
        }
        if (below(15) == 0) {
            s.at(node).user_backend = below(2) == 0 ? 0 : 2;
        }
        values.push_back(node);
    }
    return s;
}

} // namespace schedscope::sketch
