#include "runtime/vision/synth_llava.h"

#include "runtime/error.h"
#include "runtime/gguf/writer.h"
#include "runtime/model/synth/synth_weights.h"
#include "runtime/system/joined.h"

#include <array>

namespace schedscope::vision {

namespace {

// CLIP ViT-L/14 at 336, ViT-H/14 at 448, and SigLIP SO400M/14 at 448.
constexpr EncoderShape vit_l(std::string_view projector, int32_t n_embd_text, bool tiled = false) {
    return {projector, 336, 14, 1024, 4096, 16, 23, n_embd_text, tiled, 0, 0};
}
constexpr EncoderShape siglip(int32_t n_embd_text, int32_t version, int32_t n_queries) {
    return {"resampler", 448, 14, 1152, 4304, 16, 27, n_embd_text, false, version, n_queries};
}

constexpr std::array presets{
    EncoderPreset{"tiny", "56 x 56 pixels, 3 blocks, for synth llama --preset tiny", {}},
    EncoderPreset{"tiny-1.6", "the same, tiled", {"mlp", 56, 14, 32, 64, 4, 3, 64, true, 0, 0}},
    EncoderPreset{"1.5-7b", "LLaVA 1.5 7B and BakLLaVA: CLIP ViT-L/14 at 336, 576 tokens", vit_l("mlp", 4096)},
    EncoderPreset{"1.5-13b", "LLaVA 1.5 13B", vit_l("mlp", 5120)},
    EncoderPreset{"1.6-7b", "LLaVA 1.6 7B: up to 2880 tokens", vit_l("mlp", 4096, true)},
    EncoderPreset{"yi-vl-6b", "Yi-VL 6B: CLIP ViT-H/14 at 448", {"mlp_norm", 448, 14, 1280, 5120, 16, 31, 4096, false, 0, 0}},
    EncoderPreset{"mobilevlm-1.7b", "MobileVLM 1.7B: 144 tokens", vit_l("ldp", 2048)},
    EncoderPreset{"mobilevlm-v2-1.7b", "MobileVLM V2 1.7B: 144 tokens", vit_l("ldpv2", 2048)},
    EncoderPreset{"minicpm-v-2.5", "MiniCPM-Llama3-V 2.5: SigLIP, 96 tokens a view", siglip(4096, 2, 96)},
    EncoderPreset{"minicpm-v-2.6", "MiniCPM-V 2.6: 64 tokens a view", siglip(3584, 3, 64)},
};

class EncoderFile {
public:
    EncoderFile(const EncoderShape& shape, Type type, uint64_t seed)
        : s_(shape), weights_(writer_, type, seed), half_(type == Type::F32 ? Type::F32 : Type::F16) {
        keys(seed);
        encoder();
        projector();
    }
    const gguf::Writer& writer() const noexcept { return writer_; }
    std::string note() const { return weights_.note(); }

private:
    void keys(uint64_t seed) {
        const auto size = [&](const char* key, int32_t v) {
            writer_.set(std::string("clip.vision.") + key, static_cast<uint32_t>(v));
        };
        const bool clip = s_.minicpmv_version == 0;
        writer_.set("general.architecture", "clip");
        writer_.set("general.name", "synthetic image encoder, seed " + std::to_string(seed));
        writer_.set("clip.has_vision_encoder", true);
        writer_.set("clip.projector_type", s_.projector == "mlp_norm" ? "mlp" : s_.projector); // as converters write it
        writer_.set("clip.use_gelu", !clip);
        size("image_size", s_.image_size);
        size("patch_size", s_.patch_size);
        size("embedding_length", s_.n_embd);
        size("feed_forward_length", s_.n_ff);
        size("projection_dim", s_.n_embd_text);
        size("block_count", s_.n_layer);
        size("attention.head_count", s_.n_head);
        writer_.set("clip.vision.attention.layer_norm_epsilon", clip ? 1e-5F : 1e-6F);
        const std::vector<float> half(3, 0.5F);
        writer_.set("clip.vision.image_mean", clip ? std::vector<float>{0.48145466F, 0.4578275F, 0.40821073F} : half);
        writer_.set("clip.vision.image_std", clip ? std::vector<float>{0.26862954F, 0.26130258F, 0.27577711F} : half);
        if (s_.tiled) {
            const int32_t n = s_.image_size;
            writer_.set("clip.vision.mm_patch_merge_type", "spatial_unpad");
            writer_.set("clip.vision.image_grid_pinpoints",
                        std::vector<int32_t>{n, 2 * n, 2 * n, n, 2 * n, 2 * n, 3 * n, n, n, 3 * n});
        }
        if (s_.minicpmv_version > 0) {
            writer_.set("clip.minicpmv_version", s_.minicpmv_version);
            writer_.set("clip.minicpmv_query_num", static_cast<uint32_t>(s_.n_queries));
        }
    }

    void bias(const std::string& name, int64_t n) { weights_.bias(name + ".bias", n); }
    void linear(const std::string& name, int64_t in, int64_t out) {
        weights_.matrix(name + ".weight", {in, out, 1, 1});
        bias(name, out);
    }
    void norm(const std::string& name, int64_t n) {
        weights_.ones(name + ".weight", n);
        bias(name, n);
    }

    void encoder() {
        const int64_t n = s_.n_embd, side = s_.image_size / s_.patch_size;
        const bool clip = s_.minicpmv_version == 0;
        constexpr int64_t grid = 70; // of positions, in MiniCPM-V
        weights_.random("v.patch_embd.weight", half_, {s_.patch_size, s_.patch_size, 3, n},
                        int64_t{3} * s_.patch_size * s_.patch_size);
        if (clip) {
            weights_.random("v.class_embd", Type::F32, {n, 1, 1, 1});
            norm("v.pre_ln", n);
        } else {
            bias("v.patch_embd", n);
            norm("v.post_ln", n);
        }
        weights_.random("v.position_embd.weight", half_, {n, clip ? side * side + 1 : grid * grid, 1, 1});
        for (int32_t il = 0; il < s_.n_layer; ++il) {
            const std::string blk = "v.blk." + std::to_string(il) + ".";
            norm(blk + "ln1", n);
            for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
                linear(blk + name, n, n);
            }
            norm(blk + "ln2", n);
            linear(blk + "ffn_up", n, s_.n_ff);
            linear(blk + "ffn_down", s_.n_ff, n);
        }
    }

    void projector() {
        const int64_t in = s_.n_embd, out = s_.n_embd_text;
        if (s_.projector == "mlp") {
            linear("mm.0", in, out);
            linear("mm.2", out, out);
        } else if (s_.projector == "mlp_norm") {
            linear("mm.0", in, out);
            norm("mm.1", out);
            linear("mm.3", out, out);
            norm("mm.4", out);
        } else if (s_.projector == "ldp") {
            ldp(in, out);
        } else if (s_.projector == "ldpv2") {
            linear("mm.model.mlp.0", in, out);
            linear("mm.model.mlp.2", out, out);
            weights_.random("mm.model.peg.0.weight", half_, {3, 3, 1, out}, 9);
            bias("mm.model.peg.0", out);
        } else {
            resampler(in, out);
        }
        if (s_.tiled) {
            weights_.random("model.image_newline", Type::F32, {out, 1, 1, 1});
        }
    }

    void ldp(int64_t in, int64_t out) {
        linear("mm.model.mlp.1", in, out);
        linear("mm.model.mlp.3", out, out);
        for (const char* number : {"1", "2"}) {
            const std::string at = std::string("mm.model.mb_block.") + number + ".block.";
            weights_.random(at + "0.0.weight", half_, {3, 3, 1, out}, 9);
            norm(at + "0.1", out);
            linear(at + "1.fc1", out, out / 4);
            linear(at + "1.fc2", out / 4, out);
            weights_.matrix(at + "2.0.weight", {out, out, 1, 1});
            norm(at + "2.1", out);
        }
    }

    void resampler(int64_t in, int64_t out) {
        weights_.random("resampler.query", Type::F32, {out, s_.n_queries, 1, 1});
        weights_.matrix("resampler.kv.weight", {in, out, 1, 1});
        for (const char* name : {"q", "k", "v", "out"}) {
            linear(std::string("resampler.attn.") + name, out, out);
        }
        for (const char* name : {"q", "kv", "post"}) {
            norm(std::string("resampler.ln_") + name, out);
        }
        weights_.matrix("resampler.proj.weight", {out, out, 1, 1});
    }

    EncoderShape s_;
    gguf::Writer writer_;
    SynthWeights weights_;
    Type half_;
};

} // namespace

std::span<const EncoderPreset> encoder_presets() noexcept { return presets; }

const EncoderShape& encoder_preset(std::string_view name) {
    for (const EncoderPreset& p : presets) {
        if (p.name == name) {
            return p.shape;
        }
    }
    throw Error(ErrorKind::usage, "synth llava: there is no preset '" + std::string(name) + "' (" +
                                      joined(presets, ", ", &EncoderPreset::name) + ")");
}

std::string synthesise_encoder(const EncoderShape& shape, Type type, uint64_t seed, const std::string& path) {
    const EncoderFile file(shape, type, seed);
    file.writer().write(path);
    return file.note();
}

int64_t synthesised_encoder_bytes(const EncoderShape& shape, Type type) {
    return EncoderFile(shape, type, 0).writer().file_bytes();
}

std::string synthesise_encoder_header(const EncoderShape& shape, Type type, const std::string& path) {
    const EncoderFile file(shape, type, 0);
    file.writer().write_header(path);
    return file.note();
}

} // namespace schedscope::vision
