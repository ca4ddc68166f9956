// Encoder files that are not as they should be: one sentence that names what is wrong.
#include "tests/support/plain/plain_encoder.h"

#include "runtime/backend/registry.h"
#include "runtime/error.h"
#include "runtime/gguf/writer.h"
#include "runtime/vision/vision_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A copy with keys changed, and without some keys and tensors.
std::shared_ptr<gguf::File> changed(const gguf::File& source, const std::function<void(gguf::Writer&)>& change,
                                    const std::set<std::string, std::less<>>& without = {}) {
    gguf::Writer w;
    for (const gguf::MetadataEntry& e : source.metadata()) {
        if (!without.contains(e.key)) {
            w.set(e.key, e.value);
        }
    }
    change(w);
    for (const gguf::FileTensor& t : source.tensors()) {
        if (!without.contains(t.name)) {
            w.add(t.name, t.type, t.ne, std::span(t.data, t.bytes));
        }
    }
    return std::make_shared<gguf::File>(gguf::File::from_bytes(w.to_bytes(), "eye.gguf"));
}

struct EncoderFiles : ::testing::Test {
    std::string refusal(const std::shared_ptr<gguf::File>& file) const {
        try {
            const auto devices = registry.select("cpu");
            const vision::VisionModel model(file, devices, PlacementOptions{}, LoadMode::data);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
            return e.what();
        }
        return "";
    }
    std::string with(const std::function<void(gguf::Writer&)>& change, const std::string& kind = "mlp") const {
        return refusal(changed(*random_encoder(kind, 1).file(), change));
    }
    std::string without(const std::string& what, const std::string& kind = "mlp") const {
        return refusal(changed(*random_encoder(kind, 1).file(), [](gguf::Writer&) {}, {what}));
    }
    Registry registry;
};

TEST_F(EncoderFiles, AreTakenAsTheyAre) {
    EXPECT_EQ(with([](gguf::Writer&) {}), "");
}

TEST_F(EncoderFiles, NeedTheirKeys) {
    for (const char* key : {"image_size", "patch_size", "embedding_length", "feed_forward_length", "block_count",
                            "attention.head_count", "attention.layer_norm_epsilon", "image_mean", "image_std"}) {
        EXPECT_THAT(without(std::string("clip.vision.") + key),
                    AllOf(HasSubstr("eye.gguf: "), HasSubstr(key), Not(HasSubstr("\n"))));
    }
}

TEST_F(EncoderFiles, NeedTheirTensors) {
    for (const char* name : {"v.patch_embd.weight", "v.position_embd.weight", "v.blk.1.attn_k.weight", "v.blk.0.ln2.weight",
                             "v.blk.1.ffn_down.weight", "mm.0.weight"}) {
        EXPECT_THAT(without(name), AllOf(HasSubstr("eye.gguf: "), HasSubstr(name), HasSubstr("missing")));
    }
    EXPECT_THAT(without("mm.model.mb_block.2.block.1.fc1.bias", "ldp"), HasSubstr("mm.model.mb_block.2.block.1.fc1.bias"));
    EXPECT_THAT(without("mm.model.peg.0.weight", "ldpv2"), HasSubstr("mm.model.peg.0.weight"));
    EXPECT_THAT(without("resampler.query", "resampler"), HasSubstr("resampler.query"));
}

TEST_F(EncoderFiles, HaveSizesThatMakeSense) {
    const auto size = [&](const char* key, uint32_t v) {
        return with([&](gguf::Writer& w) { w.set(std::string("clip.vision.") + key, v); });
    };
    EXPECT_THAT(size("image_size", 0), HasSubstr("clip.vision.image_size can't be 0"));
    EXPECT_THAT(size("image_size", 2049), HasSubstr("clip.vision.image_size can't be 2049"));
    EXPECT_THAT(size("patch_size", 1000), HasSubstr("clip.vision.patch_size can't be 1000"));
    EXPECT_THAT(size("block_count", 4000000000U), HasSubstr("clip.vision.block_count can't be 4000000000"));
    EXPECT_THAT(size("block_count", 3), HasSubstr("v.blk.2."));
    EXPECT_THAT(size("attention.head_count", 5), HasSubstr("clip.vision.attention.head_count does not divide"));
    EXPECT_THAT(size("embedding_length", 64), HasSubstr("v.patch_embd.weight has shape [7, 7, 3, 32], expected [7, 7, 3, 64]"));
    EXPECT_THAT(size("image_size", 56), HasSubstr("v.position_embd.weight has shape [32, 17], expected [32, 65]"));
}

TEST_F(EncoderFiles, HaveListsThatMakeSense) {
    EXPECT_THAT(with([](gguf::Writer& w) {
                    w.set("clip.vision.image_std", std::vector<float>{1, 0, 1});
                }),
                HasSubstr("image_std must be three numbers"));
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("clip.vision.image_mean", std::vector<float>{1}); }),
                HasSubstr("image_mean must be three numbers"));
    for (const std::vector<int32_t>& bad :
         {std::vector<int32_t>{28}, {28, 30}, {-28, 28}, {28 * 100, 28 * 100}, {28 * 65, 28}, {28, 28, 0, 0}}) {
        EXPECT_THAT(with([&](gguf::Writer& w) { w.set("clip.vision.image_grid_pinpoints", bad); }),
                    HasSubstr("image_grid_pinpoints"));
    }
    EXPECT_EQ(with([](gguf::Writer& w) { w.set("clip.vision.image_grid_pinpoints", std::vector<int32_t>{0, 0}); }), "");
    EXPECT_EQ(with([](gguf::Writer& w) { w.set("clip.vision.image_grid_pinpoints", std::vector<int32_t>{28 * 8, 28 * 8}); }), "");
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("clip.vision.feature_layer", std::vector<int32_t>{3}); }),
                HasSubstr("feature_layer"));
}

TEST_F(EncoderFiles, AskForTilesThatFitIntoMemory) {
    const auto tiles = [&](int32_t image_size, const std::vector<int32_t>& pinpoints) {
        return with([&](gguf::Writer& w) {
            w.set("clip.vision.image_size", static_cast<uint32_t>(image_size));
            w.set("clip.vision.image_grid_pinpoints", pinpoints);
        });
    };
    EXPECT_THAT(tiles(2048, {2048, 4096}), HasSubstr("v.position_embd.weight")); // the pinpoint is taken
    EXPECT_THAT(tiles(2048, {2048, 2048, 4096, 4096}), HasSubstr("image_grid_pinpoints can't be 4096 x 4096"));
    EXPECT_THAT(tiles(384, {2304, 2304}), HasSubstr("v.position_embd.weight"));
}

TEST_F(EncoderFiles, AreOfAKnownKind) {
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("general.architecture", "llama"); }), HasSubstr("not an image encoder"));
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("clip.has_vision_encoder", false); }), HasSubstr("not an image encoder"));
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("clip.projector_type", "gemma3"); }),
                HasSubstr("'gemma3' is not supported (mlp, mlp_norm, ldp, ldpv2, resampler)"));
    EXPECT_THAT(with([](gguf::Writer& w) { w.set("clip.minicpmv_version", int32_t{-1}); }, "resampler"),
                HasSubstr("minicpmv_version"));
}

TEST_F(EncoderFiles, KeepTheEndOfARowForWhoAsks) {
    const auto source = random_encoder("mlp", 1).file();
    gguf::Writer w;
    for (const gguf::MetadataEntry& e : source->metadata()) {
        w.set(e.key, e.value);
    }
    for (const gguf::FileTensor& t : source->tensors()) {
        w.add(t.name, t.type, t.ne, std::span(t.data, t.bytes));
    }
    w.add("model.image_newline", {64, 1, 1, 1}, std::vector<float>(64, 0.25F), Type::F16);
    const auto devices = registry.select("cpu");
    const auto file = std::make_shared<gguf::File>(gguf::File::from_bytes(w.to_bytes(), "eye.gguf"));
    const vision::VisionModel model(file, devices, PlacementOptions{}, LoadMode::data);
    EXPECT_EQ(model.image_newline(), std::vector<float>(64, 0.25F));
    EXPECT_TRUE(vision::VisionModel(source, devices, PlacementOptions{}, LoadMode::data).image_newline().empty());
}

} // namespace
} // namespace schedscope::test
