#include "runtime/vision/weight_names.h"

#include "runtime/error.h"

#include <algorithm>
#include <cmath>

namespace schedscope::vision {

namespace {

BlockWeights name_block(WeightNames& load, const EncoderHparams& h, int32_t il) {
    const std::string blk = "v.blk." + std::to_string(il) + ".";
    const Shape vector{h.n_embd, 1, 1, 1}, square{h.n_embd, h.n_embd, 1, 1};
    const Shape up{h.n_embd, h.n_ff, 1, 1}, down{h.n_ff, h.n_embd, 1, 1};
    BlockWeights b;
    b.ln1 = load.norm(blk + "ln1", vector, il);
    b.attn_q = load.linear(blk + "attn_q", square, il);
    b.attn_k = load.linear(blk + "attn_k", square, il);
    b.attn_v = load.linear(blk + "attn_v", square, il);
    b.attn_out = load.linear(blk + "attn_out", square, il);
    b.ln2 = load.norm(blk + "ln2", vector, il);
    // The converters of LLaVA call the first one ffn_down and the second one ffn_up. Where both are square their shapes don't say
    // which is which: then too the names are taken as they are.
    const gguf::FileTensor& first = load.file().require_tensor(blk + "ffn_down.weight");
    const bool swapped = h.n_embd != h.n_ff && first.ne == up;
    b.ffn_up = load.linear(blk + (swapped ? "ffn_down" : "ffn_up"), up, il);
    b.ffn_down = load.linear(blk + (swapped ? "ffn_up" : "ffn_down"), down, il);
    return b;
}

} // namespace

Linear WeightNames::linear(const std::string& name, const Shape& ne, int32_t il) {
    return load_.linear(name, ne, {Role::encoder, il});
}

Linear WeightNames::norm(const std::string& name, const Shape& ne, int32_t il) {
    return load_.linear(name, ne, {Role::encoder, il, Op::MUL});
}

Linear WeightNames::maybe_norm(const std::string& name, const Shape& ne) {
    return load_.maybe_linear(name, ne, {Role::encoder, -1, Op::MUL});
}

Tensor* WeightNames::need(const std::string& name, std::initializer_list<Shape> shapes, Op reader) {
    const gguf::FileTensor* info = file_.find_tensor(name);
    const bool known = info != nullptr && std::find(shapes.begin(), shapes.end(), info->ne) != shapes.end();
    return load_.need(name, known ? info->ne : *shapes.begin(), {Role::encoder, -1, reader});
}

Tensor* WeightNames::maybe(const std::string& name, const Shape& ne, Op reader) {
    return load_.maybe(name, ne, {Role::encoder, -1, reader});
}

void name_weights(EncoderWeights& w, WeightNames& load, const EncoderHparams& h) {
    const Shape vector{h.n_embd, 1, 1, 1};
    w.patch.weight = load.need("v.patch_embd.weight", {h.patch_size, h.patch_size, 3, h.n_embd}, Op::IM2COL);
    w.patch.bias = load.maybe("v.patch_embd.bias", vector, Op::ADD);
    w.class_embd = load.maybe("v.class_embd", vector, Op::CONCAT);
    // One row for each place of a patch, and one for the class; MiniCPM-V has a grid of its own size.
    const int64_t n = int64_t{h.patches_per_side()} * h.patches_per_side() + (w.class_embd != nullptr ? 1 : 0);
    const int64_t rows = h.minicpmv_version > 0 ? load.size("v.position_embd.weight", 1) : n;
    if (h.minicpmv_version > 0) {
        const auto side = std::lround(std::sqrt(rows));
        if (side * side != rows) {
            throw Error(ErrorKind::input, load.file().path() + ": tensor v.position_embd.weight has " + std::to_string(rows) +
                                              " rows, which make no square grid");
        }
    }
    w.position_embd = load.need("v.position_embd.weight", {h.n_embd, rows, 1, 1}, Op::GET_ROWS);
    w.pre_ln = load.maybe_norm("v.pre_ln", vector);
    w.post_ln = load.maybe_norm("v.post_ln", vector);
    const int32_t deepest = *std::max_element(h.feature_layers.begin(), h.feature_layers.end());
    for (int32_t il = 0; il < deepest; ++il) { // blocks behind the deepest have no effect
        w.blocks.push_back(name_block(load, h, il));
    }
}

} // namespace schedscope::vision
