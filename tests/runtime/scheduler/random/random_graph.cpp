#include "tests/runtime/scheduler/random/random_graph.h"

#include "runtime/tensor/ops.h"

#include <algorithm>
#include <map>

namespace schedscope::chance {

namespace {

class Builder {
public:
    Builder(Graph& graph, RandomModel& model, const RandomShape& shape)
        : g_(graph), model_(model), shape_(shape), random_(shape.seed), caches_(model.caches.size(), Cache::untouched) {}

    void run() {
        for (const int64_t width : {16, 32, 16}) {
            keep(input(Type::F32, {width, shape_.n_tokens, 1, 1}, "x"));
        }
        for (int i = 0; i < shape_.n_steps; ++i) {
            step();
        }
        Tensor* last = ops::add(g_, value(16), value(16));
        last->flags |= flag_output;
        g_.expand(last);
    }

private:
    /// Whoever reads a cache in a graph that also writes it reads it behind the writing: the order of other reads and writes is up to the scheduler.
    enum class Cache : uint8_t { untouched, read, written };

    size_t below(size_t n) { return random_() % n; }
    template <typename T> T& any(std::vector<T>& list) { return list[below(list.size())]; }
    Tensor* input(Type type, const Shape& ne, const std::string& name) {
        return g_.input(type, ne, name + std::to_string(n_inputs_++));
    }
    /// A value that later steps may use. All have the shape [16 or 32, n_tokens].
    Tensor* keep(Tensor* t) {
        if (t->op != Op::NONE) {
            g_.expand(t);
            if (t->view_source == nullptr && below(12) == 0) {
                t->flags |= flag_output;
            }
        }
        values_.push_back(t);
        return t;
    }
    Tensor* value() {
        const size_t near = std::min<size_t>(values_.size(), below(5) == 0 ? values_.size() : 6);
        return values_[values_.size() - 1 - below(near)];
    }
    Tensor* value(int64_t width) {
        std::vector<Tensor*> fitting;
        std::copy_if(values_.begin(), values_.end(), std::back_inserter(fitting),
                     [&](const Tensor* t) { return t->ne[0] == width; });
        if (fitting.empty()) {
            return keep(input(Type::F32, {width, shape_.n_tokens, 1, 1}, "x"));
        }
        return fitting[fitting.size() - 1 - below(std::min<size_t>(fitting.size(), 5))];
    }

    Tensor* positions(const char* name) {
        Tensor*& made = made_[name];
        if (made == nullptr) {
            made = input(Type::I32, {shape_.n_tokens, 1, 1, 1}, name);
        }
        return made;
    }

    Tensor* looked_up() { return ops::get_rows(g_, any(model_.tables), positions("ids")); }

    Tensor* norm(Tensor* v) {
        Tensor* normed = ops::rms_norm(g_, v, 1e-5F);
        for (Tensor* row : model_.rows) {
            if (row->ne[0] == v->ne[0] && below(3) != 0) {
                return ops::mul(g_, normed, row);
            }
        }
        return normed;
    }

    Tensor* roped(Tensor* v) {
        const int64_t w = v->ne[0];
        RopeParams params;
        params.n_dims = 8;
        Tensor* heads = ops::reshape(g_, dense(v), {8, w / 8, shape_.n_tokens, 1});
        return ops::reshape(g_, ops::rope(g_, heads, positions("pos"), nullptr, params), {w, shape_.n_tokens, 1, 1});
    }

    Tensor* dense(Tensor* v) { return is_contiguous(*v) ? v : ops::cont(g_, v); }

    void write_cache() {
        const size_t i = below(model_.caches.size());
        Tensor* cache = model_.caches[i];
        if (caches_[i] != Cache::untouched) {
            return;
        }
        caches_[i] = Cache::written;
        Tensor* v = value(cache->ne[0]);
        const int64_t n = shape_.n_tokens;
        if (below(2) == 0) {
            g_.expand(ops::set_rows(g_, cache, v, input(Type::I64, {n, 1, 1, 1}, "slots")));
        } else {
            const size_t first = below(static_cast<size_t>(n_cache_rows - n) + 1);
            g_.expand(ops::cpy(g_, v, ops::view_2d(g_, cache, cache->ne[0], n, cache->nb[1], first * cache->nb[1])));
        }
    }

    Tensor* attention() {
        const size_t i = below(model_.caches.size());
        Tensor* cache = model_.caches[i];
        caches_[i] = caches_[i] == Cache::written ? Cache::written : Cache::read;
        const int64_t n = below(2) == 0 ? 8 : n_cache_rows;
        Tensor* keys = ops::view_2d(g_, cache, cache->ne[0], n, cache->nb[1], 0);
        Tensor* scores = ops::mul_mat(g_, keys, value(cache->ne[0]));
        Tensor* mask = below(2) == 0 ? input(Type::F32, {n, shape_.n_tokens, 1, 1}, "mask") : nullptr;
        Tensor* weights = ops::soft_max(g_, scores, mask, 0.3F, 0.0F);
        return ops::mul_mat(g_, ops::cont(g_, ops::transpose(g_, keys)), weights);
    }

    Tensor* experts() {
        const size_t i = below(model_.experts.size());
        Tensor* v = dense(value(model_.experts[i]->ne[0]));
        const int64_t n = shape_.n_tokens;
        Tensor* chosen = nullptr;
        if (below(3) == 0) {
            chosen = input(Type::I32, {2, n, 1, 1}, "chosen");
        } else {
            Tensor* order = ops::argsort(g_, ops::mul_mat(g_, model_.gates[i], v), true);
            chosen = ops::view_2d(g_, order, 2, n, order->nb[1], 0);
        }
        Tensor* y = ops::mul_mat_id(g_, model_.experts[i], ops::reshape(g_, v, {v->ne[0], 1, n, 1}), chosen);
        return ops::add(g_, ops::view_2d(g_, y, y->ne[0], n, y->nb[2], 0), ops::view_2d(g_, y, y->ne[0], n, y->nb[2], y->nb[1]));
    }

    Tensor* half_of_two() {
        Tensor* both = ops::concat(g_, value(), value(), 0);
        return ops::view_2d(g_, both, 16, shape_.n_tokens, both->nb[1], 8 * both->nb[0]);
    }

    Tensor* mixed(Tensor* v) {
        const int64_t w = v->ne[0];
        if (below(2) == 0) {
            return ops::reshape(g_, ops::cont(g_, ops::transpose(g_, v)), {w, shape_.n_tokens, 1, 1});
        }
        Tensor* heads = ops::permute(g_, ops::reshape(g_, dense(v), {8, w / 8, shape_.n_tokens, 1}), 0, 2, 1, 3);
        return ops::reshape(g_, ops::cont(g_, heads), {w, shape_.n_tokens, 1, 1});
    }

    /// The result takes the place of its source: nobody may read that afterwards.
    void clamped() {
        Tensor* v = value();
        if (v->op == Op::NONE || v->view_source != nullptr || (v->flags & flag_output) != 0) {
            return;
        }
        std::erase_if(values_, [&](const Tensor* t) { return t == v || t->view_source == v; });
        keep(ops::clamp(g_, v, -0.5F, 0.5F));
    }

    void step() {
        Tensor* v = value();
        switch (below(22)) {
        case 0:
        case 1:
        case 2:
        case 3: {
            Tensor* w = any(model_.products);
            keep(ops::mul_mat(g_, w, value(w->ne[0])));
            break;
        }
        case 4: keep(ops::add(g_, v, value(v->ne[0]))); break;
        case 5: keep(ops::mul(g_, v, value(v->ne[0]))); break;
        case 6: keep(ops::sub(g_, v, value(v->ne[0]))); break;
        case 7:
        case 8: keep(norm(v)); break;
        case 9: keep(ops::unary(g_, dense(v), below(2) == 0 ? UnaryOp::SILU : UnaryOp::RELU)); break;
        case 10: keep(ops::scale(g_, dense(v), 0.5F, 0.125F)); break;
        case 11: keep(roped(v)); break;
        case 12:
        case 13: write_cache(); break;
        case 14:
        case 15: keep(attention()); break;
        case 16: keep(experts()); break;
        case 17: keep(looked_up()); break;
        case 18: keep(below(2) == 0 ? half_of_two() : mixed(v)); break;
        case 19: clamped(); break;
        case 20: keep(ops::mul(g_, v, ops::sum_rows(g_, v))); break;
        default:
            keep(below(2) == 0 ? ops::cast(g_, ops::cast(g_, v, Type::F16), Type::F32)
                               : ops::glu(g_, dense(v), dense(value(v->ne[0])), GluOp::SWIGLU));
        }
    }

    Graph& g_;
    RandomModel& model_;
    const RandomShape shape_;
    std::mt19937 random_;
    std::vector<Cache> caches_;
    std::vector<Tensor*> values_;
    std::map<std::string, Tensor*> made_;
    int n_inputs_ = 0;
};

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

void build(Graph& graph, RandomModel& model, const RandomShape& shape) { Builder(graph, model, shape).run(); }

void fill_inputs(const Graph& graph, uint32_t seed) {
    for (const Tensor* t : graph.leafs()) {
        if ((t->flags & flag_input) == 0) {
            continue;
        }
        std::mt19937 random(seed_of(t->name, seed));
        if (t->type == Type::I64) { // rows of a cache, each once
            static_assert(n_cache_rows == 16);
            write<int64_t>(*t, random, [](size_t i, uint32_t) { return static_cast<int64_t>((i * 5 + 3) % 16); });
        } else if (t->name.starts_with("chosen")) { // two different experts
            write<int32_t>(*t, random, [](size_t i, uint32_t chance) { return static_cast<int32_t>(i % 2 * 2 + chance % 2); });
        } else if (t->type == Type::I32) {
            write<int32_t>(*t, random, [](size_t, uint32_t chance) { return static_cast<int32_t>(chance % 24); });
        } else {
            write<float>(*t, random, [](size_t, uint32_t chance) { return static_cast<float>(chance % 2001) / 1000.0F - 1.0F; });
        }
    }
}

} // namespace schedscope::chance
