#include "runtime/vision/projector.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/system/joined.h"

#include <array>

namespace schedscope::vision {

extern const Projector mlp_projector, mlp_norm_projector, ldp_projector, ldpv2_projector, resampler_projector;

std::span<const Projector* const> projectors() noexcept {
    static constexpr std::array all = {&mlp_projector, &mlp_norm_projector, &ldp_projector, &ldpv2_projector,
                                       &resampler_projector};
    return all;
}

const Projector& find_projector(const gguf::File& file) {
    std::string_view name = file.get_string("clip.projector_type").value_or("mlp");
    if (name == "mlp" && file.find_tensor("mm.3.weight") != nullptr) {
        name = "mlp_norm"; // the converters don't tell the two apart
    }
    for (const Projector* p : projectors()) {
        if (p->name == name) {
            return *p;
        }
    }
    throw Error(ErrorKind::input, file.path() + ": clip.projector_type '" + std::string(name) + "' is not supported (" +
                                      joined(projectors(), ", ", &Projector::name) + ")");
}

int32_t one_row_per_patch(const ProjectorWeights& /*weights*/, Size patches) { return patches.width * patches.height; }

} // namespace schedscope::vision
