#include "tests/support/random/random_graph.h"

#include "runtime/tensor/ops.h"

#include <algorithm>
#include <map>
#include <random>

namespace schedscope::test {

namespace {

class GraphMaker {
public:
    GraphMaker(Graph& graph, const RandomModel& model, const RandomShape& shape)
        : g_(graph), model_(model), style_(model.style), shape_(shape), random_(shape.seed),
          caches_(model.caches.size(), Cache::untouched) {}

    void run() {
        for (size_t i = 0; i < 3; ++i) {
            keep(new_value(style_.widths[i % style_.widths.size()]));
        }
        for (int i = 0; i < shape_.n_steps; ++i) {
            step();
        }
        Tensor* last = ops::add(g_, value(style_.widths[0]), value(style_.widths[0]));
        last->flags |= flag_output;
        g_.expand(last);
        if (style_.all_wanted) {
            want_all();
        }
    }

private:
    enum class Cache : uint8_t { untouched, read, written };

    size_t below(size_t n) { return random_() % n; }
    bool one_in(size_t n) { return below(n) == 0; }
    template <typename T> T any(const std::vector<T>& list) { return list[below(list.size())]; }
    Tensor* input(Type type, const Shape& ne, const std::string& name) {
        return g_.input(type, ne, name + std::to_string(n_inputs_++));
    }
    Tensor* new_value(int64_t width) { return input(Type::F32, {width, shape_.n_tokens, 1, 1}, "x"); }
    /// Now, or where somebody reads it.
    void list(Tensor* t) {
        if (!style_.any_order || one_in(2)) {
            g_.expand(t);
        }
    }
    /// A value that later steps may use. All have the shape [one of the widths, n_tokens].
    Tensor* keep(Tensor* t) {
        if (t->op != Op::NONE) {
            list(t);
            if (t->view_source == nullptr && one_in(12)) {
                t->flags |= flag_output;
            }
        }
        values_.push_back(t);
        return t;
    }
    void want_all() {
        for (Tensor* t : values_) {
            g_.expand(t);
        }
        g_.number();
        for (Tensor* t : g_.nodes()) {
            if (t->view_source == nullptr && (t->readers == 0 || one_in(20))) {
                t->flags |= flag_output;
            }
        }
    }

    Tensor* recent(const std::vector<Tensor*>& values) {
        const size_t most = one_in(4) ? style_.far : style_.near;
        return values[values.size() - 1 - below(std::min(values.size(), most == 0 ? values.size() : most))];
    }
    Tensor* value() { return recent(values_); }
    Tensor* value(int64_t width) {
        std::vector<Tensor*> fitting;
        std::copy_if(values_.begin(), values_.end(), std::back_inserter(fitting),
                     [&](const Tensor* t) { return t->ne[0] == width; });
        return fitting.empty() ? keep(new_value(width)) : recent(fitting);
    }
    /// Of weights: any for values of this width.
    Tensor* fitting(const std::vector<Tensor*>& weights, int64_t width) {
        Tensor* found = any(weights);
        while (found->ne[0] != width) {
            found = any(weights);
        }
        return found;
    }
    Tensor* row(int64_t width) { return fitting(model_.rows, width); }

    Tensor* positions(const char* name) {
        Tensor*& made = made_[name];
        if (made == nullptr) {
            made = input(Type::I32, {shape_.n_tokens, 1, 1, 1}, name);
        }
        return made;
    }
    Tensor* looked_up() { return ops::get_rows(g_, any(model_.tables), positions("ids")); }
    Tensor* dense(Tensor* v) { return is_contiguous(*v) ? v : ops::cont(g_, v); }
    Tensor* first_rows(Tensor* cache, int64_t n) { return ops::view_2d(g_, cache, cache->ne[0], n, cache->nb[1], 0); }

    Tensor* product(Tensor* v) { return ops::mul_mat(g_, fitting(model_.products, v->ne[0]), v); }
    Tensor* function(Tensor* v) {
        constexpr UnaryOp all[] = {UnaryOp::SILU, UnaryOp::GELU, UnaryOp::RELU, UnaryOp::GELU_QUICK};
        return ops::unary(g_, dense(v), all[below(std::size(all))]);
    }
    GluOp gate() {
        constexpr GluOp all[] = {GluOp::SWIGLU, GluOp::GEGLU, GluOp::REGLU};
        return all[below(std::size(all))];
    }
    Tensor* biased_product() {
        Tensor* y = product(value());
        y = one_in(2) ? ops::add(g_, y, row(y->ne[0])) : ops::add(g_, value(y->ne[0]), y);
        return one_in(2) ? function(y) : y;
    }
    Tensor* gated_product() {
        Tensor* weight = any(model_.products);
        Tensor* v = value(weight->ne[0]);
        Tensor* up = ops::mul_mat(g_, weight, v);
        list(up);
        Tensor* other = any(model_.products);
        while (!same_shape(*other, *weight)) {
            other = any(model_.products);
        }
        Tensor* through = ops::mul_mat(g_, other, v);
        return product(one_in(2) ? ops::glu(g_, through, up, gate()) : ops::mul(g_, function(through), up));
    }
    Tensor* norm(Tensor* v) {
        Tensor* normed = one_in(2) ? ops::rms_norm(g_, v, 1e-5F) : ops::norm(g_, v, 1e-5F);
        if (one_in(8)) {
            return normed;
        }
        normed = ops::mul(g_, normed, one_in(4) ? value(v->ne[0]) : row(v->ne[0]));
        return one_in(2) ? ops::add(g_, normed, row(v->ne[0])) : normed;
    }

    /// Of heads.
    Tensor* turned(Tensor* v) {
        RopeParams params;
        params.n_dims = static_cast<int>(style_.head);
        params.mode = one_in(2) ? 2 : 0;
        Tensor* heads = ops::reshape(g_, dense(v), {style_.head, v->ne[0] / style_.head, shape_.n_tokens, 1});
        return ops::rope(g_, heads, positions("pos"), nullptr, params);
    }
    Tensor* roped(Tensor* v) { return ops::reshape(g_, turned(v), {v->ne[0], shape_.n_tokens, 1, 1}); }

    /// Null: it must not be written any more.
    Tensor* cache_to_write() {
        const size_t i = below(model_.caches.size());
        if (!style_.any_order && caches_[i] != Cache::untouched) {
            return nullptr;
        }
        caches_[i] = Cache::written;
        return model_.caches[i];
    }
    Tensor* cache_to_read() {
        const size_t i = below(model_.caches.size());
        caches_[i] = caches_[i] == Cache::written ? Cache::written : Cache::read;
        return model_.caches[i];
    }
    void store_rows(Tensor* cache, Tensor* v) {
        g_.expand(ops::set_rows(g_, cache, v, input(Type::I64, {shape_.n_tokens, 1, 1, 1}, "slots")));
    }
    void write_cache() {
        Tensor* cache = cache_to_write();
        if (cache == nullptr) {
            return;
        }
        Tensor* v = value(cache->ne[0]);
        if (one_in(2)) {
            return store_rows(cache, v);
        }
        const size_t first = below(static_cast<size_t>(n_cache_rows - shape_.n_tokens) + 1);
        g_.expand(ops::cpy(g_, v, ops::view_2d(g_, cache, cache->ne[0], shape_.n_tokens, cache->nb[1], first * cache->nb[1])));
    }
    void store_keys() {
        Tensor* cache = cache_to_write();
        if (cache == nullptr) {
            return;
        }
        Tensor* keys = turned(value(cache->ne[0]));
        list(keys);
        Tensor* rows = ops::view_2d(g_, keys, cache->ne[0], shape_.n_tokens, keys->nb[2], 0);
        if (style_.any_order && one_in(4)) { // somebody looks at a cache in between
            g_.expand(keep(read_cache()));
        }
        store_rows(cache, rows);
    }
    Tensor* read_cache() { return ops::cast(g_, first_rows(cache_to_read(), shape_.n_tokens), Type::F32); }

    Tensor* attention() {
        const int64_t n = one_in(2) ? n_cache_rows / 2 : n_cache_rows;
        Tensor* keys = first_rows(cache_to_read(), n);
        Tensor* scores = ops::mul_mat(g_, keys, value(keys->ne[0]));
        Tensor* mask = one_in(2) ? input(Type::F32, {n, shape_.n_tokens, 1, 1}, "mask") : nullptr;
        Tensor* weights = ops::soft_max(g_, scores, mask, 0.3F, 0.0F);
        return ops::mul_mat(g_, ops::cont(g_, ops::transpose(g_, keys)), weights);
    }

    Tensor* experts() {
        const size_t i = below(model_.experts.size());
        Tensor* v = dense(value(model_.experts[i]->ne[0]));
        const int64_t n = shape_.n_tokens;
        Tensor* chosen = nullptr;
        if (one_in(3)) {
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
        return ops::view_2d(g_, both, style_.widths[0], shape_.n_tokens, both->nb[1], 8 * both->nb[0]);
    }
    Tensor* mixed(Tensor* v) {
        const int64_t w = v->ne[0];
        if (one_in(2)) {
            return ops::reshape(g_, ops::cont(g_, ops::transpose(g_, v)), {w, shape_.n_tokens, 1, 1});
        }
        Tensor* heads = ops::reshape(g_, dense(v), {style_.head, w / style_.head, shape_.n_tokens, 1});
        return ops::reshape(g_, ops::cont(g_, ops::permute(g_, heads, 0, 2, 1, 3)), {w, shape_.n_tokens, 1, 1});
    }

    /// The result takes the place of its source: no node may read that afterwards.
    void clamp() {
        Tensor* v = value();
        if (v->op == Op::NONE || v->view_source != nullptr || (v->flags & flag_output) != 0) {
            return;
        }
        std::erase_if(values_, [&](const Tensor* t) { return t == v || t->view_source == v; });
        keep(ops::clamp(g_, v, -0.5F, 0.5F));
    }

    void step() {
        Tensor* v = value();
        switch (any(style_.steps)) {
        case RandomStep::product: keep(product(v)); break;
        case RandomStep::biased_product: keep(biased_product()); break;
        case RandomStep::gated_product: keep(gated_product()); break;
        case RandomStep::sum: keep(ops::add(g_, v, one_in(3) ? row(v->ne[0]) : value(v->ne[0]))); break;
        case RandomStep::difference: keep(ops::sub(g_, v, value(v->ne[0]))); break;
        case RandomStep::scaling: keep(ops::mul(g_, v, value(v->ne[0]))); break;
        case RandomStep::norm: keep(norm(v)); break;
        case RandomStep::function: keep(function(v)); break;
        case RandomStep::scale: keep(ops::scale(g_, dense(v), 0.5F, 0.125F)); break;
        case RandomStep::rope: keep(roped(v)); break;
        case RandomStep::write_cache: write_cache(); break;
        case RandomStep::store_keys: store_keys(); break;
        case RandomStep::read_cache: keep(read_cache()); break;
        case RandomStep::attention: keep(attention()); break;
        case RandomStep::experts: keep(experts()); break;
        case RandomStep::lookup: keep(looked_up()); break;
        case RandomStep::part: keep(one_in(2) ? half_of_two() : mixed(v)); break;
        case RandomStep::clamp: clamp(); break;
        case RandomStep::row_sum: keep(ops::mul(g_, v, ops::sum_rows(g_, v))); break;
        case RandomStep::cast_or_gate:
            keep(one_in(2) ? ops::cast(g_, ops::cast(g_, v, Type::F16), Type::F32)
                           : ops::glu(g_, dense(v), dense(value(v->ne[0])), gate()));
        }
    }

    Graph& g_;
    const RandomModel& model_;
    const RandomStyle& style_;
    const RandomShape shape_;
    std::mt19937 random_;
    std::vector<Cache> caches_;
    std::vector<Tensor*> values_;
    std::map<std::string, Tensor*> made_;
    int n_inputs_ = 0;
};

} // namespace

void build(Graph& graph, const RandomModel& model, const RandomShape& shape) { GraphMaker(graph, model, shape).run(); }

std::vector<Tensor*> RandomGraph::results() const {
    std::vector<Tensor*> all;
    std::copy_if(model.caches.begin(), model.caches.end(), std::back_inserter(all), [](const Tensor* t) { return t->id >= 0; });
    std::copy_if(graph.nodes().begin(), graph.nodes().end(), std::back_inserter(all),
                 [](const Tensor* t) { return (t->flags & flag_output) != 0; });
    return all;
}

} // namespace schedscope::test
