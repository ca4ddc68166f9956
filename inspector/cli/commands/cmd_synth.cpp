#include "inspector/cli/commands/commands.h"

#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/synth/synth.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "runtime/system/number_words.h"
#include "runtime/system/output_file.h"
#include "runtime/system/read_number.h"
#include "runtime/tensor/convert.h"
#include "runtime/vision/synth_llava.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

namespace schedscope {

namespace {

struct SynthArguments {
    std::string architecture, preset = "tiny", type = "f16", output;
    uint64_t seed = 1;
    bool header_only = false, force = false;
};

constexpr std::string_view image_encoder = "llava";

/// "llama, qwen2, … and llava"
std::string architectures() {
    return joined(synth_architectures(), ", ", &SynthArchitecture::name) + " and " + std::string(image_encoder);
}

template <typename Preset> void describe(std::ostream& out, std::string_view architecture, std::span<const Preset> presets) {
    for (const Preset& p : presets) {
        out << "\n  " << std::left << std::setw(10) << architecture << std::setw(18) << p.name << p.description;
        architecture = "";
    }
}

std::string all_presets() {
    std::ostringstream out;
    out << "Architectures and their presets:";
    for (const SynthArchitecture* a : synth_architectures()) {
        describe(out, a->name, a->presets);
    }
    describe(out, image_encoder, vision::encoder_presets());
    return out.str();
}

/// "f32, f16, … and iq4_xs": those of matrices.
std::string types() {
    std::vector<std::string_view> names = type_names();
    std::erase_if(names, [](std::string_view name) { return !can_expand(*type_from_name(name)); });
    const std::string_view last = names.back();
    names.pop_back();
    return joined(names, ", ") + " and " + std::string(last);
}

Type type_of_matrices(const std::string& name) {
    if (const std::optional<Type> type = type_from_name(name)) {
        return *type;
    }
    std::string stem = name;
    std::replace(stem.begin(), stem.end(), 'k', 'K');
    const std::optional<Type> mixed = type_from_name(stem.substr(0, stem.find("_K_") + 2)); // "Q4_K_M"
    const std::string among = " (" + types() + ")";
    throw Error(ErrorKind::usage, "--type " + name + ": " +
                                      (mixed ? "llama.cpp's mixes of types are not made" + among + "; the nearest is " +
                                                   std::string(type_name(*mixed))
                                             : "there is no such type" + among + did_you_mean(type_names(), name)));
}

/// Of a large file with weights: how long it gets, before it is made. Throws Error(device) where there is no room for it.
void tell_size(const SynthArguments& o, Type type, int64_t bytes) {
    constexpr int64_t large = int64_t{1} << 30;
    if (o.header_only || bytes < large) {
        return;
    }
    const std::string size = words::bytes(bytes);
    std::error_code unknown;
    const std::filesystem::path place = without_links(o.output), folder = place.parent_path();
    const bool on_disk = !std::filesystem::exists(place, unknown) || std::filesystem::is_regular_file(place, unknown);
    const std::filesystem::space_info disk = std::filesystem::space(folder.empty() ? "." : folder, unknown);
    if (on_disk && !unknown && disk.available < static_cast<uint64_t>(bytes)) {
        throw Error(ErrorKind::device,
                    joined({o.output, ": its weights in ", type_name(type), " take ", size, ", and ",
                            words::bytes(static_cast<int64_t>(disk.available)),
                            " are free there: --header-only makes a sparse file for plans, another --type a smaller one"}));
    }
    tell(joined({o.output, ": ", size, " of random weights in ", type_name(type),
                 " are written; for plans alone (record --dry-run) --header-only makes a sparse file"}));
}

/// Returns what is to be told about the file.
std::string synthesise(const SynthArguments& o, Type type) {
    if (o.architecture == image_encoder) {
        const vision::EncoderShape& shape = vision::encoder_preset(o.preset);
        tell_size(o, type, vision::synthesised_encoder_bytes(shape, type));
        return o.header_only ? vision::synthesise_encoder_header(shape, type, o.output)
                             : vision::synthesise_encoder(shape, type, o.seed, o.output);
    }
    const auto texts = synth_architectures();
    if (std::none_of(texts.begin(), texts.end(), [&](const auto* a) { return a->name == o.architecture; })) {
        throw Error(ErrorKind::usage, "synth " + o.architecture + ": there are " + architectures());
    }
    const SynthShape shape = synth_preset(o.architecture, o.preset);
    tell_size(o, type, synthesised_bytes(shape, type));
    return o.header_only ? synthesise_header(shape, type, o.seed, o.output) : synthesise(shape, type, o.seed, o.output);
}

/// Did synth make it? Its header says so.
bool is_synthetic(const std::string& path) {
    try {
        const gguf::File file = gguf::File::open(path);
        return file.get_string("general.name").value_or("").starts_with("synthetic ");
    } catch (const Error&) {
        return false; // no model
    }
}

/// Models are worth more than what is made up in seconds.
void check_replaced(const std::string& path) {
    std::error_code none;
    if (std::filesystem::is_regular_file(path, none) && std::filesystem::file_size(path, none) > 0 && !is_synthetic(path)) {
        throw Error(ErrorKind::usage,
                    path + ": was not made by synth and would be overwritten; choose another name or add --force");
    }
}

/// CLI11 takes -1 for the largest number of an unsigned type, and what is larger, too.
std::string complaint_about_seed(const std::string& text) {
    return read_number<uint64_t>(text) ? "" : text + " is no number from 0 to 2^64 - 1";
}

} // namespace

CommandAction add_synth(CommandOptions& app) {
    auto options = std::make_shared<SynthArguments>();
    app.footer(all_presets());
    app.add_option("architecture", options->architecture, "Of a text model; or llava: an image encoder for --mmproj").required();
    app.add_option("--preset", options->preset, "Sizes, see below").show_default();
    app.add_option("--type", options->type, "Type of the matrices: " + types()).show_default();
    app.add_option("--seed", options->seed, "Seed of the weights").show_default().check(complaint_about_seed);
    app.add_flag("--header-only", options->header_only,
                 "No weights: a sparse file that plans (record --dry-run) can be made from");
    app.add_option("-o,--output", options->output, "GGUF file to write").required().names_a_file();
    app.add_flag("--force", options->force, "The file may replace one that synth has not made");
    return [options] {
        const Type type = type_of_matrices(options->type);
        if (!options->force) {
            check_replaced(options->output);
        }
        if (const std::string note = synthesise(*options, type); !note.empty()) {
            tell(options->output + ": " + note);
        }
        return 0;
    };
}

} // namespace schedscope
