#include "viz/pictures/palette.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace schedscope {

namespace {

struct Tint {
    std::string_view fill, pale, line;
};

constexpr Tint cpu_tint{"#cfe8f8", "#f1f8fd", "#1f6f9f"};                 // sky blue
constexpr std::array<Tint, 6> tints{{{"#fbdfae", "#fef6e6", "#9a6a00"},   // orange
                                     {"#c2e8db", "#eef9f5", "#00694d"},   // bluish green
                                     {"#f1d7e6", "#fbf2f7", "#8f4570"},   // reddish purple
                                     {"#f8f3b4", "#fdfbe6", "#7d7300"},   // yellow
                                     {"#f7cdb2", "#fdf0e8", "#964200"},   // vermillion
                                     {"#c6d6ee", "#f0f4fb", "#004a7a"}}}; // blue

std::string initial(const std::string& name) {
    return name.empty() ? "?" : std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(name[0]))));
}

/// "0" of "Vulkan0", "0.1" of "Vulkan0.1".
std::string number_behind(const std::string& name) {
    const size_t last_letter = name.find_last_not_of("0123456789.");
    return last_letter == std::string::npos ? name : name.substr(last_letter + 1);
}

} // namespace

Palette::Palette(const SessionInfo& session) : unassigned_{"–", "#ffffff", "#ffffff", "#8a8a8a"} {
    const auto& backends = session.backends;
    size_t next_tint = 0;
    for (const BackendInfo& backend : backends) {
        std::string letter = initial(backend.name);
        const auto same_initial = std::count_if(backends.begin(), backends.end(),
                                                [&](const BackendInfo& other) { return initial(other.name) == letter; });
        if (same_initial > 1) {
            letter += number_behind(backend.name);
        }
        if (std::any_of(styles_.begin(), styles_.end(), [&](const BackendStyle& style) { return style.letter == letter; })) {
            letter += "/" + std::to_string(styles_.size());
        }
        const bool is_cpu = backend.kind == "cpu" || (&backend == &backends.back() && backend.kind.value_or("").empty());
        const Tint& tint = is_cpu ? cpu_tint : tints[next_tint++ % tints.size()];
        styles_.push_back({letter, tint.fill, tint.pale, tint.line});
    }
}

const BackendStyle& Palette::operator[](BackendId backend) const noexcept {
    return is_index(backend, styles_) ? styles_[backend] : unassigned_;
}

} // namespace schedscope
