#pragma once

#include "runtime/planner/placement/plan_settings.h"

#include <cstdint>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// A list of overrides, ready to be asked.
class TensorOverrides {
public:
    struct Entry {
        TensorOverride asked;
        std::regex pattern;
        int32_t home = 0;   ///< index of the device
        std::string device; ///< its name
        std::string why;    ///< "-ot PATTERN=DEVICE"
    };

    /// option: how errors begin. Throws Error(usage) for a pattern that is no regular expression or too long, and for a device
    /// that there is not.
    TensorOverrides(std::span<const TensorOverride> asked, const std::vector<std::string>& devices, std::string_view option);

    /// The first whose pattern is found in a weight's name; null: none.
    const Entry* first_for(std::string_view weight) const;
    std::span<const Entry> entries() const noexcept { return entries_; }

private:
    std::vector<Entry> entries_;
};

/// How an override fared.
struct OverrideReport {
    std::string pattern;
    std::string device;
    int32_t matched = 0;  ///< weights that it placed
    int32_t shadowed = 0; ///< weights that it matches, too, but that an earlier one placed
};

/// One for each override, nothing counted.
std::vector<OverrideReport> override_reports(const TensorOverrides& overrides);
/// Each weight is to be counted once.
void count_matches(const TensorOverrides& overrides, std::string_view weight, std::vector<OverrideReport>& reports);
/// For people: "-ot PATTERN=DEVICE: 3 tensors".
std::string override_note(const OverrideReport& report);
/// where: what has no such tensor, "the model". Throws Error(usage), which begins with the option, when a pattern matched
/// nothing.
void require_matches(std::span<const OverrideReport> reports, std::string_view where = "the model",
                     std::string_view option = "-ot ");

} // namespace schedscope
