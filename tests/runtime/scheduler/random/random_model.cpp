#include "runtime/tensor/convert.h"
#include "tests/runtime/scheduler/random/random_graph.h"

namespace schedscope::chance {

namespace {

int64_t width(std::mt19937& random) { return random() % 2 == 0 ? 16 : 32; }

void fill(const Tensor& t, std::mt19937& random) {
    std::vector<float> values(static_cast<size_t>(n_elements(t)));
    for (float& v : values) {
        v = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 2500.0F;
    }
    std::vector<std::byte> bytes(n_bytes(t));
    row_from_float(t.type, values.data(), bytes.data(), n_elements(t));
    tensor_write(t, bytes.data(), 0, bytes.size());
}

} // namespace

Tensor* RandomModel::make(Type type, const Shape& ne, const std::string& name, BufferUsage usage) {
    Tensor* t = store->make(type, ne, name);
    buffers_.push_back(home_().allocate(n_bytes(*t)));
    t->buffer = buffers_.back().get();
    t->buffer->usage = usage;
    if (usage == BufferUsage::weights) {
        fill(*t, random_);
    } else {
        t->buffer->clear(0);
    }
    return t;
}

RandomModel::RandomModel(uint32_t seed, const std::function<const BufferType&()>& home) : random_(seed), home_(home) {
    constexpr auto weights = BufferUsage::weights;
    for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i);
        const Type type = random_() % 4 == 0 ? Type::F16 : Type::F32;
        products.push_back(make(type, {width(random_), width(random_), 1, 1}, "product" + number, weights));
        rows.push_back(make(Type::F32, {width(random_), 1, 1, 1}, "row" + number, weights));
        if (i % 2 == 0) {
            experts.push_back(make(type, {width(random_), width(random_), n_experts, 1}, "experts" + number, weights));
            gates.push_back(make(Type::F32, {experts.back()->ne[0], n_experts, 1, 1}, "gate" + number, weights));
            tables.push_back(make(type, {width(random_), n_table_rows, 1, 1}, "table" + number, weights));
            caches.push_back(make(Type::F32, {width(random_), n_cache_rows, 1, 1}, "cache" + number, BufferUsage::any));
        }
    }
}

} // namespace schedscope::chance
