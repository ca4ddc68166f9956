#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/numbers.h"
#include "runtime/vision/encoder_graph_builder.h"
#include "runtime/vision/projector.h"

#include <algorithm>

/// MiniCPM-V's resampler: a fixed number of learned queries (96 in version 2.5, 64 from 2.6) attend to all patches, whose keys
/// know by sines and cosines where they are. However many patches there are, as many rows as queries come out.
namespace schedscope::vision {

namespace {

constexpr int64_t head_length = 128;

struct Resampler final : ProjectorWeights {
    Tensor* query = nullptr;   ///< [n_embd_text, queries]
    Tensor* kv = nullptr;      ///< [n_in, n_embd_text]
    Linear ln_q, ln_kv;        ///< [n_embd_text]
    Linear q, k, v, out;       ///< [n_embd_text, n_embd_text]
    Linear ln_post;            ///< [n_embd_text]
    Tensor* project = nullptr; ///< [n_embd_text, n_embd_text]
    int64_t n_head = 1;
};

std::unique_ptr<ProjectorWeights> name_weights(WeightNames& load, const EncoderHparams& /*h*/, int64_t n_in) {
    auto w = std::make_unique<Resampler>();
    const int64_t width = load.size("resampler.query", 0);
    const Shape vector{width, 1, 1, 1}, square{width, width, 1, 1};
    if (width % 4 != 0 || (width > head_length && width % head_length != 0)) {
        throw Error(ErrorKind::input, load.file().path() + ": tensor resampler.query has rows of " + std::to_string(width) +
                                          ", which heads of " + std::to_string(head_length) + " don't divide");
    }
    w->n_head = std::max<int64_t>(width / head_length, 1);
    w->query = load.need("resampler.query", {width, load.size("resampler.query", 1), 1, 1}, Op::NORM);
    w->kv = load.need("resampler.kv.weight", {n_in, width, 1, 1});
    w->ln_q = load.norm("resampler.ln_q", vector);
    w->ln_kv = load.norm("resampler.ln_kv", vector);
    w->q = load.linear("resampler.attn.q", square);
    w->k = load.linear("resampler.attn.k", square);
    w->v = load.linear("resampler.attn.v", square);
    w->out = load.linear("resampler.attn.out", square);
    w->ln_post = load.norm("resampler.ln_post", vector);
    w->project = load.need("resampler.proj.weight", square);
    w->n_embd_text = int_of(width);
    return w;
}

Tensor* graph(EncoderGraphBuilder& b, const ProjectorWeights& weights, Tensor* x) {
    const auto& w = static_cast<const Resampler&>(weights);
    Graph& g = b.g;
    const auto heads = [&](Tensor* t, std::string_view name) {
        t = ops::reshape(g, t, {t->ne[0] / w.n_head, w.n_head, t->ne[1], 1});
        return EncoderGraphBuilder::name(t, name);
    };
    Tensor* v = ops::mul_mat(g, w.kv, x);
    Tensor* q = b.norm(w.ln_q, w.query);
    v = b.norm(w.ln_kv, v);
    b.io.position_waves = g.input(Type::F32, {w.n_embd_text, b.n_patches(), 1, 1}, "pos_embed_k");
    Tensor* k = ops::add(g, v, b.io.position_waves);
    q = heads(b.linear(w.q, q), "resampler_Q");
    k = heads(b.linear(w.k, k), "resampler_K");
    v = heads(b.linear(w.v, v), "resampler_V");
    x = EncoderGraphBuilder::name(b.attention(q, k, v, w.out), "resampler_attn_out");
    return ops::mul_mat(g, w.project, b.norm(w.ln_post, x));
}

int32_t n_rows(const ProjectorWeights& weights, Size /*patches*/) {
    return int_of(static_cast<const Resampler&>(weights).query->ne[1]);
}

} // namespace

extern const Projector resampler_projector;
const Projector resampler_projector{"resampler", name_weights, graph, n_rows};

} // namespace schedscope::vision
