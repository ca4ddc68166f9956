#include "runtime/model/architecture.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"

#include <array>
#include <string>

namespace schedscope {

extern const Architecture llama_architecture;

namespace {

const std::array known{
    &llama_architecture,
};

} // namespace

std::span<const Architecture* const> architectures() noexcept { return known; }

const Architecture& find_architecture(const gguf::File& file) {
    const std::string_view name = file.require_string("general.architecture");
    std::string names;
    for (const Architecture* a : known) {
        if (a->name == name) {
            return *a;
        }
        names += (names.empty() ? "" : ", ") + std::string(a->name);
    }
    throw Error(ErrorKind::input, file.path() + ": architecture '" + std::string(name) + "' is not supported (" + names + ")");
}

} // namespace schedscope
