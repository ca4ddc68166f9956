#include "runtime/planner/placement/tensor_overrides.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"
#include "runtime/system/number_words.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Matching may not take longer than a name's length times a pattern's: patterns may come from a trace, and some would take
/// forever.
constexpr auto syntax = std::regex::ECMAScript | std::regex::optimize
#ifdef __GLIBCXX__
                        | std::regex_constants::__polynomial
#endif
    ;
constexpr size_t longest_pattern = 1000; ///< the library goes as deep as a pattern is long

bool is_found(const std::regex& pattern, std::string_view name) { return std::regex_search(name.begin(), name.end(), pattern); }

} // namespace

TensorOverride TensorOverride::parse(std::string_view text, std::string_view option) {
    // A pattern may contain '=', a device's name can't.
    const size_t at = text.rfind('=');
    if (at == std::string_view::npos || at == 0) {
        throw Error(ErrorKind::usage, std::string(option) + std::string(text) + ": expected PATTERN=DEVICE");
    }
    return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

TensorOverrides::TensorOverrides(std::span<const TensorOverride> asked, const std::vector<std::string>& devices,
                                 std::string_view option) {
    for (const TensorOverride& one : asked) {
        const auto refuse = [&](const std::string& why) {
            throw Error(ErrorKind::usage, std::string(option) + one.text() + ": " + why);
        };
        const auto device = std::find_if(devices.begin(), devices.end(),
                                         [&](const std::string& name) { return same_ignoring_case(name, one.device); });
        if (device == devices.end()) {
            const std::vector<std::string_view> names(devices.begin(), devices.end());
            refuse("there is no device '" + one.device + "' (" + joined(devices, ", ") + ")" + did_you_mean(names, one.device));
        }
        if (one.pattern.size() > longest_pattern) {
            refuse("a pattern has at most " + std::to_string(longest_pattern) + " characters");
        }
        try {
            entries_.push_back(
                {one, std::regex(one.pattern, syntax), int_of(device - devices.begin()), *device, "-ot " + one.text()});
        } catch (const std::regex_error& e) {
            refuse(std::string("not a regular expression: ") + e.what());
        }
    }
}

const TensorOverrides::Entry* TensorOverrides::first_for(std::string_view weight) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return is_found(entry.pattern, weight); });
    return found == entries_.end() ? nullptr : &*found;
}

std::vector<OverrideReport> override_reports(const TensorOverrides& overrides) {
    std::vector<OverrideReport> reports;
    for (const TensorOverrides::Entry& entry : overrides.entries()) {
        reports.push_back({entry.asked.pattern, entry.device});
    }
    return reports;
}

void count_matches(const TensorOverrides& overrides, std::string_view weight, std::vector<OverrideReport>& reports) {
    bool placed = false;
    for (size_t i = 0; i < reports.size(); ++i) {
        if (is_found(overrides.entries()[i].pattern, weight)) {
            ++(placed ? reports[i].shadowed : reports[i].matched);
            placed = true;
        }
    }
}

std::string override_note(const OverrideReport& r) {
    return "-ot " + r.pattern + "=" + r.device + ": " + words::counted(r.matched, "tensor") +
           (r.shadowed > 0 ? ", " + std::to_string(r.shadowed) + " more were placed by a pattern before it" : "");
}

void require_matches(std::span<const OverrideReport> reports, std::string_view where, std::string_view option) {
    for (const OverrideReport& r : reports) {
        if (r.matched + r.shadowed == 0) {
            throw Error(ErrorKind::usage, std::string(option) + r.pattern + "=" + r.device +
                                              ": the pattern matches no weight of " + std::string(where));
        }
    }
}

} // namespace schedscope
