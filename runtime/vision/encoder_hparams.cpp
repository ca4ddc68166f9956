#include "runtime/vision/encoder_hparams.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/hparams.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace schedscope::vision {

namespace {

constexpr const char* prefix = "clip.vision.";

// An image of any size is scaled to what the file says, so a small file could ask for all memory. Known encoders look at 980
// pixels a side, and at tiles of 2304 x 2304 pixels together.
constexpr uint32_t longest_side = 1U << 11;
constexpr int64_t most_pixels = 1 << 23; // of all tiles
constexpr int64_t most_tiles = 64;

int32_t size(const gguf::File& file, const std::string& key, uint32_t most) {
    const uint32_t v = file.require_u32(prefix + key);
    if (v < 1 || v > most) {
        refuse_key(file, prefix + key, "can't be " + std::to_string(v));
    }
    return v;
}

std::array<float, 3> channels(const gguf::File& file, const std::string& key, bool divides) {
    const std::vector<float> v = file.require_f32_array(prefix + key);
    const auto bad = [&](float x) { return !std::isfinite(x) || (divides && x <= 0); };
    if (v.size() != 3 || std::any_of(v.begin(), v.end(), bad)) {
        refuse_key(file, prefix + key, "must be three numbers");
    }
    return {v[0], v[1], v[2]};
}

/// A list of width, height, width, height, …
std::vector<Size> read_pinpoints(const gguf::File& file, int32_t image_size) {
    const std::string key = std::string(prefix) + "image_grid_pinpoints";
    std::vector<int32_t> v = file.get_i32_array(key).value_or(std::vector<int32_t>{});
    if (std::all_of(v.begin(), v.end(), [](int32_t n) { return n == 0; })) {
        return {}; // written so where there are none
    }
    std::vector<Size> sizes;
    for (size_t i = 0; i + 1 < v.size(); i += 2) {
        sizes.push_back({v[i], v[i + 1]});
    }
    const auto bad = [&](const Size& s) {
        return s.width < image_size || s.height < image_size || s.width % image_size != 0 || s.height % image_size != 0;
    };
    if (v.size() % 2 != 0 || std::any_of(sizes.begin(), sizes.end(), bad)) {
        refuse_key(file, key, "must be pairs of width and height, multiples of " + std::to_string(image_size));
    }
    const auto large = [&](const Size& s) {
        return int64_t{s.width} * s.height > most_pixels || int64_t{s.width / image_size} * (s.height / image_size) > most_tiles;
    };
    if (const auto s = std::find_if(sizes.begin(), sizes.end(), large); s != sizes.end()) {
        refuse_key(file, key, "can't be " + std::to_string(s->width) + " x " + std::to_string(s->height));
    }
    return sizes;
}

std::vector<int32_t> read_feature_layers(const gguf::File& file, int32_t n_layer) {
    const std::string key = std::string(prefix) + "feature_layer";
    std::vector<int32_t> layers = file.get_i32_array(key).value_or(std::vector<int32_t>{});
    if (std::any_of(layers.begin(), layers.end(), [&](int32_t l) { return l < 0 || l > n_layer; })) {
        refuse_key(file, key, "must number hidden states from 0 to " + std::to_string(n_layer));
    }
    return layers.empty() ? std::vector<int32_t>{n_layer} : layers;
}

} // namespace

EncoderHparams read_hparams(const gguf::File& file) {
    if (file.get_string("general.architecture").value_or("") != "clip") {
        throw Error(ErrorKind::input, file.path() + ": not an image encoder: general.architecture is '" +
                                          visible_name(file.get_string("general.architecture").value_or("")) + "', not 'clip'");
    }
    if (!file.get_bool("clip.has_vision_encoder").value_or(false)) {
        throw Error(ErrorKind::input, file.path() + ": not an image encoder: clip.has_vision_encoder is not true");
    }
    constexpr uint32_t largest = 1U << 16;
    EncoderHparams h;
    h.image_size = size(file, "image_size", longest_side);
    h.patch_size = size(file, "patch_size", h.image_size);
    h.n_embd = size(file, "embedding_length", largest);
    h.n_ff = size(file, "feed_forward_length", largest);
    h.n_head = size(file, "attention.head_count", h.n_embd);
    if (h.n_embd % h.n_head != 0) {
        refuse_key(file, "clip.vision.attention.head_count", "does not divide the width of " + std::to_string(h.n_embd));
    }
    // No more blocks than tensors: what is made for each of them stays in proportion to the file.
    h.n_layer = size(file, "block_count", static_cast<uint32_t>(std::max<size_t>(file.tensors().size(), 1)));
    h.norm_eps = file.require_f32("clip.vision.attention.layer_norm_epsilon");
    if (!(h.norm_eps >= 0) || !std::isfinite(h.norm_eps)) {
        refuse_key(file, "clip.vision.attention.layer_norm_epsilon", "must not be negative");
    }
    h.mean = channels(file, "image_mean", false);
    h.std = channels(file, "image_std", true);
    h.feature_layers = read_feature_layers(file, h.n_layer);
    h.pinpoints = read_pinpoints(file, h.image_size);
    h.unpad = file.get_string("clip.vision.mm_patch_merge_type").value_or("flat") == "spatial_unpad";
    if (file.get_string("clip.projector_type").value_or("") == "resampler") {
        h.minicpmv_version = file.get_i32("clip.minicpmv_version").value_or(2); // the first files don't say
        if (h.minicpmv_version < 2) {
            refuse_key(file, "clip.minicpmv_version", "can't be " + std::to_string(h.minicpmv_version));
        }
    }
    if (file.get_bool("clip.use_gelu").value_or(false)) {
        h.activation =
            UnaryOp::GELU; // with tanh, as llama.cpp has it, also where the original has the exact one: 5e-4 apart at most
    } else if (file.get_bool("clip.use_silu").value_or(false)) {
        h.activation = UnaryOp::SILU;
    }
    return h;
}

} // namespace schedscope::vision
