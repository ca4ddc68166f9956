#pragma once

#include "runtime/planner/device_profile.h"
#include "traces/replay/what_if.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class NamedFiles;

/// The recorded devices that a dry run's `--device` describes: reads their traces, and says afterwards how much of what they were
/// asked they knew.
class DeviceProfiles {
public:
    /// For RunOptions::profiles; not to outlive this.
    ProfileSource source();
    /// Notes how each was known as a fact of the session, and tells on standard error where something had to be inferred or was
    /// not known.
    void report(const std::function<void(std::string what, std::string value)>& add_fact) const;

private:
    std::vector<std::pair<DeviceDescription, std::shared_ptr<const DeviceProfile>>> read_;
};

/// For what-ifs.
BackendKnowledge backend_knowledge();

/// The traces that a list of devices names are read. Throws Error(usage) as parse_device_description does.
void add_described(NamedFiles& files, std::string_view devices);

} // namespace schedscope
