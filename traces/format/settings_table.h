#pragma once

#include "runtime/planner/placement/plan_settings.h"
#include "traces/format/fields.h"

#include <limits>

namespace schedscope {

// What numbers of a trace may be at most.
constexpr int64_t farthest_number = int64_t{1} << 61; ///< differences of two can be computed; of times as well
constexpr int64_t most_backends = 4096;               ///< and buffer types
constexpr int64_t most_layers = int64_t{1} << 20;
constexpr int64_t most_tensor_bytes = int64_t{1} << 46;
constexpr int64_t most_memory = int64_t{1} << 60;
constexpr int64_t most_alignment = int64_t{1} << 40;
constexpr int32_t most_stages = 64;
constexpr size_t most_laid_out = ordinal(Type::count); ///< types
constexpr int64_t most_laid_out_rows = int64_t{1} << 20;

/// The columns of the table `settings`, each once, in order: the file's schema, its writer, its reader and streams are made from
/// them. Calls `f(name, value, least, most)`: what a number or a flag may be. A word has a type of its own. What is optional may
/// be NULL.
template <typename Settings, typename F> void for_each_setting(Settings&& s, F&& f) {
    using Number = std::numeric_limits<int32_t>;
    f("n_layers", s.n_layers, int64_t{0}, most_layers);
    f("n_gpu_layers", s.placement.n_gpu_layers, int64_t{Number::min()}, int64_t{Number::max()});
    f("cache_on_host", s.placement.cache_on_host, int64_t{0}, int64_t{1});
    f("flash_attention_asked", s.flash_attention_asked, int64_t{0}, int64_t{0});
    f("flash_attention", s.flash_attention, int64_t{0}, int64_t{1});
    f("op_offload", s.op_offload, int64_t{0}, int64_t{1});
    f("offload_min_batch", s.offload_min_batch, int64_t{0}, most_memory);
    f("n_stages", s.n_stages, int64_t{1}, most_backends);
    f("fusion", s.fusion, int64_t{0}, int64_t{1});
    f("n_ctx", s.context.n_ctx, int64_t{1}, int64_t{Number::max()});
    f("n_batch", s.context.n_batch, int64_t{1}, int64_t{Number::max()});
    f("n_ubatch", s.context.n_ubatch, int64_t{1}, int64_t{Number::max()});
    f("cache_type_k", s.context.cache_type_k, int64_t{0}, int64_t{0});
    f("cache_type_v", s.context.cache_type_v, int64_t{0}, int64_t{0});
}

/// The type of a setting's value, and whether the file has a word for it.
template <typename T> using SettingValue = typename KnownValue<T>::Type;
template <typename T> constexpr bool may_lack_setting = !std::is_same_v<SettingValue<T>, T>;
template <typename T>
constexpr bool is_word_setting = std::is_same_v<SettingValue<T>, FlashAttention> || std::is_same_v<SettingValue<T>, Type>;
inline std::string_view word_of_setting(FlashAttention asked) noexcept { return flash_attention_name(asked); }
inline std::string_view word_of_setting(Type type) noexcept { return type_name(type); }
template <typename T> std::optional<SettingValue<T>> setting_from_word(std::string_view word) noexcept {
    if constexpr (std::is_same_v<SettingValue<T>, FlashAttention>) {
        return flash_attention_from_name(word);
    } else {
        return type_from_name(word);
    }
}

/// What a row of the table `device_share` may hold.
constexpr bool is_share(double share) noexcept { return share >= 0 && share <= std::numeric_limits<float>::max(); }

} // namespace schedscope
