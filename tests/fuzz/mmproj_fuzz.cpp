// Image encoders and their projectors. An input is which sound file it begins with (1 byte), the image's size and what it shows
// (4 bytes), then a list of edits (edited_gguf.h). What can be loaded prepares the image. One in eight, by chance (a sum of the
// input), encodes it as long as that takes no longer than a tiny one should: that takes twenty times as long, and inputs that do
// it would soon be most.

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/vision/encoder.h"
#include "runtime/vision/synth_llava.h"
#include "tests/fuzz/edited_gguf.h"
#include "tests/fuzz/one_processor.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fuzzer/FuzzedDataProvider.h>
#include <string_view>

namespace schedscope::fuzz {

namespace {

using namespace vision;

std::vector<EditedGguf> sound_files() {
    EncoderShape shape;
    shape.image_size = 8;
    shape.patch_size = 2;
    shape.n_embd = shape.n_ff = 8;
    shape.n_head = 2;
    shape.n_layer = 1;
    shape.n_embd_text = 8;
    std::vector<EditedGguf> files;
    std::string folder = "/tmp/schedscope-fuzz-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
        fail("no temporary folder", folder.c_str());
    }
    const auto add = [&](const EncoderShape& s, Type type) {
        const std::string path = folder + "/encoder.gguf";
        synthesise_encoder(s, type, 1, path);
        files.emplace_back(gguf::File::open(path));
    };
    for (const char* projector : {"mlp", "mlp_norm", "ldp", "ldpv2"}) {
        EncoderShape s = shape;
        s.projector = projector;
        add(s, s.projector == "ldp" ? Type::F32 : Type::F16);
    }
    EncoderShape tiled = shape;
    tiled.tiled = true;
    add(tiled, Type::F32);
    for (const int32_t version : {2, 3}) {
        EncoderShape s = shape;
        s.projector = "resampler";
        s.minicpmv_version = version;
        s.n_queries = 4;
        s.n_embd_text = 128; // heads of this one are as long
        add(s, Type::F16);
    }
    std::filesystem::remove_all(folder);
    return files;
}

Image small_image(uint8_t width, uint8_t height, uint8_t seed) {
    Image image(1 + width % 40, 1 + height % 40);
    uint8_t value = seed;
    for (uint8_t& v : image.rgb) {
        v = value = static_cast<uint8_t>(value * 5 + 3);
    }
    return image;
}

bool is_short_work(const Views& views, const VisionModel& model) {
    constexpr int64_t most_views = 6, most_patches = 64;
    const int64_t patch = model.hparams().patch_size;
    if (static_cast<int64_t>(views.views.size()) > most_views) {
        return false;
    }
    for (const ImageView& v : views.views) {
        if ((v.width / patch) * (v.height / patch) > most_patches) {
            return false;
        }
    }
    return true;
}

void use(const std::shared_ptr<const gguf::File>& file, const Image& image, bool newline, bool encodes) {
    static Machine machine;
    const VisionModel model(file, machine.devices, {}, LoadMode::data);
    constexpr int32_t most_pixels = 1 << 16;
    if (model.hparams().image_size * model.hparams().image_size > most_pixels) {
        return;
    }
    const Views views = prepare(image, model.hparams(), "image");
    if (!encodes || !is_short_work(views, model)) {
        return;
    }
    Scheduler scheduler(machine.backends, {});
    EvaluationId number = 0;
    const bool has_newline = !model.image_newline().empty() && model.hparams().unpad;
    Encoder encoder(model, scheduler, {.image_newline = newline && has_newline}, [&] { return number++; });
    const Views* one[] = {&views};
    const std::vector<float> rows = encoder.encode(one).front();
    if (rows.size() != static_cast<size_t>(encoder.n_rows(views)) * static_cast<size_t>(model.n_embd_text())) {
        fail("not the rows that it promised", std::to_string(rows.size()).c_str());
    }
    description(views, encoder.n_rows(views));
}

} // namespace

void run(FuzzedDataProvider& input, bool encodes) {
    static const std::vector<EditedGguf> sound = sound_files();
    EditedGguf edited = sound[input.ConsumeIntegral<uint8_t>() % sound.size()];
    const auto width = input.ConsumeIntegral<uint8_t>(), height = input.ConsumeIntegral<uint8_t>(),
               seed = input.ConsumeIntegral<uint8_t>();
    const bool newline = input.ConsumeBool();
    edited.edit(input);
    goes_well([&] {
        const auto file = std::make_shared<const gguf::File>(gguf::File::from_bytes(edited.bytes(), "encoder"));
        use(file, small_image(width, height, seed), newline, encodes);
    });
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    FuzzedDataProvider input(data, size);
    schedscope::fuzz::run(input, schedscope::fuzz::chance_of({reinterpret_cast<const char*>(data), size}) % 8 == 0);
    return 0;
}
