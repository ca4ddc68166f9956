#include "inspector/cli/commands.h"

#include "runtime/error.h"
#include "runtime/model/synth.h"

#include <iostream>

namespace schedscope {

namespace {

struct Options {
    std::string architecture, preset = "tiny", type = "f16", output;
    uint64_t seed = 1;
    bool header_only = false;
};

std::string preset_names() {
    std::string names;
    for (const SynthPreset& p : synth_presets()) {
        names += (names.empty() ? "" : "|") + std::string(p.name);
    }
    return names;
}

} // namespace

Action add_synth(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("architecture", options->architecture, "llama")->required();
    app.add_option("--preset", options->preset, preset_names())->capture_default_str();
    app.add_option("--type", options->type, "Type of the matrices: f32, f16, q8_0, …")->capture_default_str();
    app.add_option("--seed", options->seed, "Seed of the weights")->capture_default_str();
    app.add_flag("--header-only", options->header_only,
                 "No weights: a sparse file that plans (record --dry-run) can be made from");
    app.add_option("-o,--output", options->output, "GGUF file to write")->required();
    return [options] {
        if (options->architecture != "llama") {
            throw Error(ErrorKind::usage, "synth " + options->architecture + ": there is llama");
        }
        const std::optional<Type> type = type_from_name(options->type);
        if (!type) {
            throw Error(ErrorKind::usage, "--type " + options->type + ": there is no such type");
        }
        if (options->header_only) {
            synthesise_llama_header(synth_preset(options->preset), *type, options->output);
            return 0;
        }
        synthesise_llama(synth_preset(options->preset), *type, options->seed, options->output);
        return 0;
    };
}

} // namespace schedscope
