#include "inspector/cli/commands.h"

#include "runtime/error.h"
#include "runtime/model/synth.h"
#include "runtime/vision/synth_llava.h"

#include <iostream>

namespace schedscope {

namespace {

struct Options {
    std::string architecture, preset = "tiny", type = "f16", output;
    uint64_t seed = 1;
    bool header_only = false;
};

template <typename Preset> std::string names_of(std::span<const Preset> presets) {
    std::string names;
    for (const Preset& p : presets) {
        names += (names.empty() ? "" : "|") + std::string(p.name);
    }
    return names;
}

void synthesise(const Options& o, Type type) {
    if (o.architecture == "llama") {
        const LlamaShape& shape = synth_preset(o.preset);
        o.header_only ? synthesise_llama_header(shape, type, o.output) : synthesise_llama(shape, type, o.seed, o.output);
    } else if (o.architecture == "llava") {
        const vision::EncoderShape& shape = vision::encoder_preset(o.preset);
        o.header_only ? vision::synthesise_encoder_header(shape, type, o.output)
                      : vision::synthesise_encoder(shape, type, o.seed, o.output);
    } else {
        throw Error(ErrorKind::usage, "synth " + o.architecture + ": there are llama and llava");
    }
}

} // namespace

Action add_synth(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("architecture", options->architecture, "llama, or llava: an image encoder for --mmproj")->required();
    app.add_option("--preset", options->preset,
                   "llama: " + names_of(synth_presets()) + "; llava: " + names_of(vision::encoder_presets()))
        ->capture_default_str();
    app.add_option("--type", options->type, "Type of the matrices: f32, f16, q8_0, …")->capture_default_str();
    app.add_option("--seed", options->seed, "Seed of the weights")->capture_default_str();
    app.add_flag("--header-only", options->header_only,
                 "No weights: a sparse file that plans (record --dry-run) can be made from");
    app.add_option("-o,--output", options->output, "GGUF file to write")->required();
    return [options] {
        const std::optional<Type> type = type_from_name(options->type);
        if (!type) {
            throw Error(ErrorKind::usage, "--type " + options->type + ": there is no such type");
        }
        synthesise(*options, *type);
        return 0;
    };
}

} // namespace schedscope
