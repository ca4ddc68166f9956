#include "runtime/planner/placement/plan_settings.h"

#include "runtime/system/joined.h"

#include <sstream>

namespace schedscope {

namespace {

std::string on_off(bool on) { return on ? "on" : "off"; }

} // namespace

std::optional<FlashAttention> flash_attention_from_name(std::string_view name) noexcept {
    for (const FlashAttention asked : {FlashAttention::off, FlashAttention::on, FlashAttention::automatic}) {
        if (name == flash_attention_name(asked)) {
            return asked;
        }
    }
    return std::nullopt;
}

std::string gpu_layers_text(int32_t n_gpu_layers) {
    return n_gpu_layers == all_gpu_layers ? "all" : std::to_string(n_gpu_layers);
}

std::string shares_text(const std::vector<float>& shares) {
    return joined(shares, ",", [](float share) {
        std::ostringstream text; // 0.5 and not 0.500000
        text << share;
        return text.str();
    });
}

std::vector<std::pair<std::string, std::string>> settings_in_words(const PlanSettings& s) {
    std::vector<std::pair<std::string, std::string>> words;
    const ContextSettings& context = s.context;
    for (const auto& [name, n] :
         {std::pair{"n_ctx", context.n_ctx}, {"n_batch", context.n_batch}, {"n_ubatch", context.n_ubatch}}) {
        if (n) {
            words.emplace_back(name, std::to_string(*n));
        }
    }
    for (const auto& [name, type] : {std::pair{"cache_type_k", context.cache_type_k}, {"cache_type_v", context.cache_type_v}}) {
        if (type) {
            words.emplace_back(name, type_name(*type));
        }
    }
    words.emplace_back("n_layers", std::to_string(s.n_layers));
    words.emplace_back("n_gpu_layers", gpu_layers_text(s.placement.n_gpu_layers));
    if (!s.placement.tensor_split.empty()) {
        words.emplace_back("tensor_split", shares_text(s.placement.tensor_split));
    }
    if (!s.placement.overrides.empty()) {
        words.emplace_back("override_tensor", joined(s.placement.overrides, " ", &TensorOverride::text));
    }
    words.emplace_back("op_offload", on_off(s.op_offload));
    words.emplace_back("offload_min_batch", std::to_string(s.offload_min_batch));
    words.emplace_back("stages", std::to_string(s.n_stages));
    words.emplace_back("fusion", on_off(s.fusion));
    if (s.flash_attention) {
        words.emplace_back("flash_attention", on_off(*s.flash_attention));
        if (s.flash_attention_asked == FlashAttention::automatic) {
            words.emplace_back("flash_attention_asked", "auto");
        }
        words.emplace_back("cache_on_host", s.placement.cache_on_host ? "yes" : "no");
    }
    if (!s.laid_out.empty()) {
        words.emplace_back("cpu_lays_out", joined(s.laid_out, " ", [](const LaidOutType& l) { return type_name(l.type); }) +
                                               " (where it is alone)");
    }
    return words;
}

} // namespace schedscope
