#include "tests/traces/diff/tagged_graph.h"

#include <initializer_list>

namespace schedscope::test {

namespace {

class TaggedBuilder {
public:
    explicit TaggedBuilder(const Transformer& how) : how_(how) {}

    TaggedGraph run() {
        const int64_t n = how_.tokens;
        positions_ = leaf("positions", {n, 1, 1, 1}, Type::I32);
        mask_ = leaf("mask", {256, n, 1, 1}, how_.flash_attention ? Type::F16 : Type::F32);
        rows_ = leaf("rows", {n, 1, 1, 1}, Type::I64);
        const TensorId tokens = leaf("tokens", {n, 1, 1, 1}, Type::I32);
        TensorId x = node(Op::GET_ROWS, "embedding", {width, n, 1, 1}, {weight("token_embd", {width, 100, 1, 1}), tokens});
        for (int i = 0; i < how_.layers; ++i) {
            x = layer(i, x);
            if (i == how_.extra_after) {
                x = node(Op::SCALE, "extra", {width, n, 1, 1}, {x});
            }
        }
        x = node(Op::RMS_NORM, "last_norm", {width, n, 1, 1}, {x});
        x = node(Op::MUL_MAT, "result", {100, n, 1, 1}, {weight("output", {width, 100, 1, 1}), x});
        made_.graph.tensors[static_cast<size_t>(x)].flags = flag_output;
        return std::move(made_);
    }

private:
    static constexpr int64_t width = 64, head = 16;

    TensorId layer(int i, TensorId residual) {
        const std::string s = "." + std::to_string(i);
        const int64_t n = how_.tokens;
        const TensorId normed = node(Op::RMS_NORM, "norm" + s, {width, n, 1, 1}, {residual});
        const auto product = [&](const std::string& name, int64_t rows, TensorId of) {
            return node(Op::MUL_MAT, name + s, {rows, n, 1, 1}, {weight(name + "_weight" + s, {width, rows, 1, 1}), of});
        };
        TensorId q = product("q", width, normed);
        q = node(Op::ROPE, "q_rope" + s, {width, n, 1, 1}, {q, positions_});
        TensorId k = product("k", width, normed);
        k = node(Op::ROPE, "k_rope" + s, {width, n, 1, 1}, {k, positions_});
        const TensorId v = product("v", width, normed);
        TensorId x = attention(s, q, store("k", s, k), store("v", s, v));
        x = product("attention_out", width, x);
        x = node(Op::ADD, "attention_sum" + s, {width, n, 1, 1}, {x, residual});
        return i == how_.without ? x : feed_forward(s, x);
    }

    TensorId store(const std::string& name, const std::string& s, TensorId data) {
        const TensorId cache = leaf(name + "_cache" + s, {width, 256, 1, 1}, how_.cache_type);
        made_.graph.tensors[static_cast<size_t>(cache)].flags = 0;
        const TensorId stored = node(Op::SET_ROWS, name + "_store" + s, {width, 256, 1, 1}, {data, rows_, cache});
        made_.graph.tensors[static_cast<size_t>(stored)].type = how_.cache_type;
        return stored;
    }

    TensorId attention(const std::string& s, TensorId q, TensorId k, TensorId v) {
        const int64_t n = how_.tokens;
        if (how_.flash_attention) {
            return node(Op::FLASH_ATTN_EXT, "flash" + s, {width, n, 1, 1}, {q, k, v, mask_});
        }
        const TensorId scores = node(Op::MUL_MAT, "scores" + s, {256, n, 1, 1}, {k, q});
        const TensorId weights = node(Op::SOFT_MAX, "weights" + s, {256, n, 1, 1}, {scores, mask_});
        const TensorId turned = node(Op::CONT, "turned" + s, {256, width, 1, 1}, {v});
        return node(Op::MUL_MAT, "weighted" + s, {width, n, 1, 1}, {turned, weights});
    }

    TensorId feed_forward(const std::string& s, TensorId residual) {
        const int64_t n = how_.tokens;
        const TensorId normed = node(Op::RMS_NORM, "ffn_norm" + s, {width, n, 1, 1}, {residual});
        const auto product = [&](const std::string& name) {
            return node(Op::MUL_MAT, name + s, {width, n, 1, 1}, {weight(name + "_weight" + s, {width, width, 1, 1}), normed});
        };
        TensorId gate = how_.up_first ? no_tensor : product("gate");
        const TensorId up = product("up");
        gate = how_.up_first ? product("gate") : gate;
        TensorId x = node(Op::GLU, "glu" + s, {width, n, 1, 1}, {gate, up});
        x = node(Op::MUL_MAT, "down" + s, {width, n, 1, 1}, {weight("down_weight" + s, {width, width, 1, 1}), x});
        return node(Op::ADD, "layer_out" + s, {width, n, 1, 1}, {x, residual});
    }

    TensorId leaf(const std::string& tag, Shape ne, Type type) {
        const TensorId id = add(Op::NONE, tag, ne, type, {}, made_.graph.leafs);
        made_.graph.tensors[static_cast<size_t>(id)].flags = flag_input;
        return id;
    }
    TensorId weight(const std::string& tag, Shape ne) {
        const TensorId id = add(Op::NONE, tag, ne, Type::F32, {}, made_.graph.leafs);
        made_.graph.tensors[static_cast<size_t>(id)].usage = BufferUsage::weights;
        return id;
    }
    TensorId node(Op op, const std::string& tag, Shape ne, std::initializer_list<TensorId> sources) {
        return add(op, tag, ne, Type::F32, sources, made_.graph.nodes);
    }
    TensorId add(Op op, const std::string& tag, Shape ne, Type type, std::initializer_list<TensorId> sources,
                 std::vector<TensorId>& list) {
        TensorInfo t;
        t.op = op;
        t.type = type;
        t.ne = ne;
        t.nb = contiguous_strides(type, ne);
        std::copy(sources.begin(), sources.end(), t.src.begin());
        const auto id = static_cast<TensorId>(made_.tags.size());
        t.name = made_.graph.keep(how_.renamed ? "t" + std::to_string(1000 - id) : tag);
        made_.graph.tensors.push_back(t);
        made_.tags.push_back(tag);
        list.push_back(id);
        return id;
    }

    const Transformer how_;
    TaggedGraph made_;
    TensorId positions_ = no_tensor, mask_ = no_tensor, rows_ = no_tensor;
};

} // namespace

TaggedGraph tagged(const Transformer& how) { return TaggedBuilder(how).run(); }

} // namespace schedscope::test
