#include "runtime/model/synth/synth.h"

#include "runtime/error.h"
#include "runtime/model/known_architectures.h"
#include "runtime/model/synth/synth_model.h"
#include "runtime/system/joined.h"

#include <array>
#include <memory>

namespace schedscope {

#define X(name) extern const SynthArchitecture synth_##name;
SCHEDSCOPE_ARCHITECTURES(X)
#undef X

namespace {

#define X(name) &synth_##name,
const std::array known{SCHEDSCOPE_ARCHITECTURES(X)};
#undef X

const SynthArchitecture& find(std::string_view name) {
    for (const SynthArchitecture* a : known) {
        if (a->name == name) {
            return *a;
        }
    }
    throw Error(ErrorKind::usage, "synth: there is no architecture '" + std::string(name) + "' (" +
                                      joined(known, ", ", &SynthArchitecture::name) + ")");
}

std::unique_ptr<const SynthModel> make(const SynthShape& shape, Type type, uint64_t seed) {
    const SynthArchitecture& architecture = find(shape.architecture);
    auto model = std::make_unique<SynthModel>(shape, type, seed);
    architecture.make(*model);
    return model;
}

} // namespace

std::span<const SynthArchitecture* const> synth_architectures() noexcept { return known; }

SynthShape synth_preset(std::string_view architecture, std::string_view name) {
    const SynthArchitecture& a = find(architecture);
    for (const SynthPreset& p : a.presets) {
        if (p.name == name) {
            SynthShape shape = p.shape;
            shape.architecture = a.name;
            return shape;
        }
    }
    throw Error(ErrorKind::usage, "synth " + std::string(architecture) + ": there is no preset '" + std::string(name) + "' (" +
                                      joined(a.presets, ", ", &SynthPreset::name) + ")");
}

std::string synthesise(const SynthShape& shape, Type type, uint64_t seed, const std::string& path) {
    const auto model = make(shape, type, seed);
    model->writer().write(path);
    return model->note();
}

int64_t synthesised_bytes(const SynthShape& shape, Type type) { return make(shape, type, 0)->writer().file_bytes(); }

std::string synthesise_header(const SynthShape& shape, Type type, uint64_t seed, const std::string& path) {
    const auto model = make(shape, type, seed);
    model->writer().write_header(path);
    return model->note();
}

gguf::File synthesise_in_memory(const SynthShape& shape, Type type, uint64_t seed, std::string name) {
    return gguf::File::from_bytes(make(shape, type, seed)->writer().to_bytes(), std::move(name));
}

} // namespace schedscope
