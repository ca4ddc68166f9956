#pragma once

#include "runtime/planner/records.h"

#include <map>
#include <string>

namespace schedscope::diff {

/// What of b is called otherwise in a: two programs give one device two names, and two machines have other devices. Backends are
/// the same where their names are; of those left over, accelerators, host libraries and CPUs are each paired in order. Where a
/// backend computes is the same memory then.
struct SameDevices {
    std::map<std::string, std::string> backends, buffer_types; ///< a's name by b's; names that agree are not there

    std::string host_in_a, host_in_b; ///< the host's memory in which plans compute; empty: not known

    SameDevices() = default;
    SameDevices(const SessionInfo& a, const SessionInfo& b);

    const std::string& backend(const std::string& name) const { return in_a(backends, name); }
    const std::string& buffer_type(const std::string& name) const { return in_a(buffer_types, name); }
    /// The same of compute buffers, to show them beside each other: on the host llama.cpp has them in memory that a device can
    /// read ("Vulkan_Host"), we in the CPU's. Their sizes differ by what each memory aligns.
    const std::string& compute_memory(const std::string& name) const {
        return name == host_in_b && !host_in_a.empty() ? host_in_a : buffer_type(name);
    }

private:
    static const std::string& in_a(const std::map<std::string, std::string>& names, const std::string& name) {
        const auto found = names.find(name);
        return found == names.end() ? name : found->second;
    }
};

} // namespace schedscope::diff
