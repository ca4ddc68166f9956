#include "inspector/cli/run/device_profiles.h"

#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/lines.h"
#include "runtime/backend/described_device.h"
#include "runtime/scheduler/optimised_order.h"
#include "traces/replay/profile/recorded_profile.h"

#include <algorithm>

namespace schedscope {

ProfileSource DeviceProfiles::source() {
    return [this](const DeviceDescription& d) { return read_.emplace_back(d, read_profile(d)).second; };
}

void DeviceProfiles::report(const std::function<void(std::string what, std::string value)>& add_fact) const {
    for (const auto& [d, profile] : read_) {
        const ProfileCounts counts = profile->counts();
        const std::string from = d.trace.substr(d.trace.rfind('/') + 1) + "/" + profile->backend().name;
        add_fact("profile of " + d.name, from + ": " + counts.text());
        if (counts.inferred + counts.unknown > 0) {
            tell(d.name + ", as " + from + " answered: " + counts.text());
        }
    }
}

BackendKnowledge backend_knowledge() { return {optimised_nodes, profile_of_vulkan}; }

void add_described(NamedFiles& files, std::string_view devices) {
    while (!devices.empty()) {
        const std::string_view part = devices.substr(0, devices.find(','));
        devices.remove_prefix(std::min(devices.size(), part.size() + 1));
        if (is_description(part)) {
            files.reads("--device", parse_device_description(part).trace);
        }
    }
}

} // namespace schedscope
