#include "runtime/backend/cpu/vectors/vector_ops.h"

#include "runtime/backend/processor_features.h"
#include "runtime/error.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace schedscope {

namespace {

constexpr const char *wanted_set = "SCHEDSCOPE_CPU", *wanted_fetches = "SCHEDSCOPE_CPU_FETCHES";

/// Null: nothing is asked for.
const char* setting(const char* name) noexcept {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

} // namespace

bool fetches_in_order() noexcept {
    static const bool fetches = [] {
        if (const char* const wanted = setting(wanted_fetches)) {
            return std::string_view(wanted) != "off";
        }
        return !is_zen4();
    }();
    return fetches;
}

std::span<const VectorOps* const> usable_vector_ops() noexcept {
    static const std::vector<const VectorOps*> usable = [] {
        std::vector<const VectorOps*> all{&vector_ops_portable};
        [[maybe_unused]] const auto add = [&all](bool can, const VectorOps& ops) {
            if (can) {
                all.push_back(&ops);
            }
        };
#if defined(__x86_64__)
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
        const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
        add(avx2, vector_ops_avx2);
        add(avx2 && has_avx_vnni(), vector_ops_avxvnni);
        add(avx512, vector_ops_avx512);
        const bool avx512vnni = avx512 && __builtin_cpu_supports("avx512vnni");
        add(avx512vnni, vector_ops_avx512vnni);
        add(avx512vnni && has_avx512_bf16(), vector_ops_avx512bf16);
#elif defined(__aarch64__)
        add(true, vector_ops_neon);
        add(has_neon_dot(), vector_ops_neon_dot);
        add(has_neon_dot() && has_neon_i8mm(), vector_ops_neon_i8mm);
#endif
        return all;
    }();
    return usable;
}

const VectorOps& best_vector_ops() noexcept {
    const auto usable = usable_vector_ops();
    if (const char* wanted = setting(wanted_set)) {
        for (const VectorOps* ops : usable) {
            if (ops->name == wanted) {
                return *ops;
            }
        }
    }
    return *usable.back();
}

void require_known_settings() {
    const auto refuse = [](const char* name, const std::string& value, const std::string& known) {
        throw Error(ErrorKind::usage, std::string(name) + "=" + value + ": " + known);
    };
    const char *const set = setting(wanted_set), *const fetches = setting(wanted_fetches);
    const auto usable = usable_vector_ops();
    if (set != nullptr && std::none_of(usable.begin(), usable.end(), [set](const VectorOps* ops) { return ops->name == set; })) {
        std::string names;
        for (const VectorOps* ops : usable) {
            names += (names.empty() ? "" : ", ") + std::string(ops->name);
        }
        refuse(wanted_set, set, "is none of those that this processor has: " + names);
    }
    if (fetches != nullptr && std::string_view(fetches) != "on" && std::string_view(fetches) != "off") {
        refuse(wanted_fetches, fetches, "is neither on nor off");
    }
}

} // namespace schedscope
