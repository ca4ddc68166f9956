#include "traces/diff/same_devices.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <vector>

namespace schedscope::diff {

namespace {

enum class Sort : uint8_t { accelerator, library, host, count };

Sort sort_of(const BackendInfo& b) {
    if (b.kind == "cpu") {
        return Sort::host;
    }
    return b.kind == "blas" || b.kind == "accel" ? Sort::library : Sort::accelerator;
}

using BySort = std::array<std::vector<const BackendInfo*>, ordinal(Sort::count)>;

/// Those whose names the other has not.
BySort left_over(const SessionInfo& session, const SessionInfo& other) {
    BySort found;
    for (const BackendInfo& b : session.backends) {
        const auto same = [&](const BackendInfo& o) { return o.name == b.name; };
        if (std::none_of(other.backends.begin(), other.backends.end(), same)) {
            found[ordinal(sort_of(b))].push_back(&b);
        }
    }
    return found;
}

/// Of the memory in which a backend computes; empty: it is not known.
std::string memory_of(const SessionInfo& session, const BackendInfo& backend) {
    const BufferTypeId type = or_none(backend.default_buffer_type);
    return is_index(type, session.buffer_types) ? session.buffer_types[type].name : "";
}

/// The host's memory in which plans compute; of a log, which does not say whose memory is whose, the only one that it names.
/// Empty: not known.
std::string host_memory(const SessionInfo& session) {
    const std::string own = session.backends.empty() ? "" : memory_of(session, session.backends.back());
    std::vector<std::string_view> named;
    for (const BufferTypeInfo& type : session.buffer_types) {
        if (type.is_host) {
            named.push_back(type.name);
        }
    }
    return !own.empty() ? own : named.size() == 1 ? std::string(named.front()) : "";
}

} // namespace

SameDevices::SameDevices(const SessionInfo& a, const SessionInfo& b) {
    const BySort in_a = left_over(a, b), in_b = left_over(b, a);
    for (size_t sort = 0; sort < in_a.size(); ++sort) {
        for (size_t i = 0; i < std::min(in_a[sort].size(), in_b[sort].size()); ++i) {
            const BackendInfo &x = *in_a[sort][i], &y = *in_b[sort][i];
            backends.emplace(y.name, x.name);
            const std::string memory_a = memory_of(a, x), memory_b = memory_of(b, y);
            if (!memory_a.empty() && !memory_b.empty() && memory_a != memory_b) {
                buffer_types.emplace(memory_b, memory_a);
            }
        }
    }
    host_in_a = host_memory(a);
    host_in_b = host_memory(b);
}

} // namespace schedscope::diff
