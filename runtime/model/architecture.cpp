#include "runtime/model/architecture.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/hparams.h"
#include "runtime/model/known_architectures.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"

#include <array>
#include <set>
#include <string>

namespace schedscope {

#define X(name) extern const Architecture name##_architecture;
SCHEDSCOPE_ARCHITECTURES(X)
#undef X

namespace {

#define X(name) &name##_architecture,
const std::array known{SCHEDSCOPE_ARCHITECTURES(X)};
#undef X

} // namespace

std::span<const Architecture* const> architectures() noexcept { return known; }

const Architecture& find_architecture(const gguf::File& file) {
    const std::string_view name = file.require_string("general.architecture");
    std::set<std::string_view> names;
    for (const Architecture* a : known) {
        if (a->name == name) {
            return *a;
        }
        names.insert(a->name);
    }
    throw Error(ErrorKind::input,
                file.path() + ": architecture '" + visible_name(name) + "' is not supported (" + joined(names, ", ") + ")");
}

Hparams hparams_of(const gguf::File& file) {
    const Architecture& architecture = find_architecture(file);
    Hparams h = read_hparams(file);
    if (architecture.hparams != nullptr) {
        architecture.hparams(h, file);
    }
    return h;
}

} // namespace schedscope
