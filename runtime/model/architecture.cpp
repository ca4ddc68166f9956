#include "runtime/model/architecture.h"

#include "runtime/error.h"
#include "runtime/gguf/gguf.h"
#include "runtime/system/visible_text.h"

#include <array>
#include <string>

namespace schedscope {

extern const Architecture falcon_architecture;
extern const Architecture gemma_architecture;
extern const Architecture gemma2_architecture;
extern const Architecture gemma3_architecture;
extern const Architecture llama_architecture;
extern const Architecture phi3_architecture;
extern const Architecture qwen2_architecture;
extern const Architecture qwen3_architecture;
extern const Architecture qwen3moe_architecture;

namespace {

const std::array known{
    &falcon_architecture, &gemma_architecture, &gemma2_architecture, &gemma3_architecture,   &llama_architecture,
    &phi3_architecture,   &qwen2_architecture, &qwen3_architecture,  &qwen3moe_architecture,
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
    throw Error(ErrorKind::input, file.path() + ": architecture '" + visible_name(name) + "' is not supported (" + names + ")");
}

} // namespace schedscope
