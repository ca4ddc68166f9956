#include "tests/support/random/random_model.h"

#include "runtime/tensor/convert.h"

#include <cmath>
#include <random>

namespace schedscope::test {

const RandomStyle& any_steps() {
    using enum RandomStep;
    static const RandomStyle style{
        .steps = {product,   product, product,  product, biased_product, gated_product, sum,         scaling,      difference,
                  norm,      norm,    function, scale,   rope,           clamp,         write_cache, write_cache,  attention,
                  attention, experts, lookup,   part,    row_sum,        store_keys,    read_cache,  cast_or_gate, cast_or_gate},
        .widths = {16, 32},
        .weights = {Type::F32, Type::F32, Type::F32, Type::F16},
        .caches = {Type::F32},
        .head = 8,
        .near = 6,
        .far = 0,
        .any_order = false,
        .all_wanted = false,
    };
    return style;
}

const RandomStyle& fusable_chains() {
    using enum RandomStep;
    static const RandomStyle style{
        .steps = {norm, sum, biased_product, gated_product, store_keys, read_cache, write_cache},
        .widths = {64},
        .weights = {Type::F32, Type::F16, Type::Q8_0},
        .caches = {Type::F32, Type::F16, Type::Q8_0},
        .head = 16,
        .near = 2,
        .far = 6,
        .any_order = true,
        .all_wanted = true,
    };
    return style;
}

RandomModel::RandomModel(uint32_t seed, const RandomStyle& of) : style(of), seed_(seed) {
    std::mt19937 random(seed);
    const auto any = [&](const auto& list) { return list[random() % list.size()]; };
    for (size_t i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i);
        const Type type = any(style.weights);
        const int64_t width = style.widths[i % style.widths.size()];
        products.push_back(store_->make(type, {width, any(style.widths), 1, 1}, "product" + number));
        rows.push_back(store_->make(Type::F32, {width, 1, 1, 1}, "row" + number));
        if (i % 2 == 0) {
            experts.push_back(store_->make(type, {any(style.widths), any(style.widths), n_experts, 1}, "experts" + number));
            gates.push_back(store_->make(Type::F32, {experts.back()->ne[0], n_experts, 1, 1}, "gate" + number));
            tables.push_back(store_->make(type, {any(style.widths), n_table_rows, 1, 1}, "table" + number));
            const Type kept = style.caches[i / 2 % style.caches.size()];
            caches.push_back(store_->make(kept, {any(style.widths), n_cache_rows, 1, 1}, "cache" + number));
        }
    }
}

void RandomModel::give_memory(const std::function<const BufferType&()>& home) {
    for (Tensor& t : store_->tensors()) {
        buffers_.push_back(home().allocate(n_bytes(t)));
        t.buffer = buffers_.back().get();
        if (t.name.starts_with("cache")) {
            t.buffer->clear(0);
        } else {
            t.buffer->usage = BufferUsage::weights;
            fill(t, seed_);
        }
    }
}

namespace {

uint32_t seed_of(const std::string& name, uint32_t seed) {
    for (const char c : name) {
        seed = seed * 31 + static_cast<uint8_t>(c);
    }
    return seed;
}

template <typename T> void write(const Tensor& t, std::mt19937& random, T (*value)(size_t index, uint32_t chance)) {
    std::vector<T> values(static_cast<size_t>(n_elements(t)));
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = value(i, static_cast<uint32_t>(random()));
    }
    tensor_write(t, values.data(), 0, values.size() * sizeof(T));
}

} // namespace

void fill(const Tensor& t, uint32_t seed) {
    std::mt19937 random(seed_of(t.name, seed));
    if (t.type == Type::I64) { // rows of a cache, each once
        static_assert(n_cache_rows == 16);
        return write<int64_t>(t, random, [](size_t i, uint32_t) { return static_cast<int64_t>((i * 5 + 3) % 16); });
    }
    if (t.name.starts_with("chosen")) { // two different experts
        return write<int32_t>(t, random, [](size_t i, uint32_t chance) { return static_cast<int32_t>(i % 2 * 2 + chance % 2); });
    }
    if (t.type == Type::I32) {
        return write<int32_t>(t, random, [](size_t, uint32_t chance) { return static_cast<int32_t>(chance % n_table_rows); });
    }
    // A product with a weight is about as large as what goes in.
    const bool weight = (t.flags & flag_input) == 0 && n_rows(t) > 1;
    const float largest = weight ? 1.6F / std::sqrt(static_cast<float>(t.ne[0])) : 1.0F;
    std::vector<float> values(static_cast<size_t>(n_elements(t)));
    for (float& v : values) {
        v = (static_cast<float>(random() % 2001) / 1000.0F - 1.0F) * largest;
    }
    std::vector<std::byte> bytes(n_bytes(t));
    for (int64_t row = 0; row < n_rows(t); ++row) {
        row_from_float(t.type, values.data() + row * t.ne[0], bytes.data() + static_cast<size_t>(row) * t.nb[1], t.ne[0]);
    }
    tensor_write(t, bytes.data(), 0, bytes.size());
}

void fill_inputs(const Graph& graph, uint32_t seed) {
    for (const Tensor* t : graph.leafs()) {
        if ((t->flags & flag_input) != 0) {
            fill(*t, seed);
        }
    }
}

} // namespace schedscope::test
