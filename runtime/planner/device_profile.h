#pragma once

#include "runtime/planner/answer.h"
#include "runtime/planner/graph_view.h"
#include "runtime/planner/records.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Devices that are not here: how people describe them, and what knows their answers.
namespace schedscope {

/// A part of a list of devices that describes one: `NAME=vulkan:24GiB` (all that our Vulkan backend supports) or
/// `NAME=from:T/DEVICE[:24GiB]` (as DEVICE answered when T was recorded).
struct DeviceDescription {
    std::string text;         ///< the whole part
    std::string name;         ///< as shown: "big", "Vulkan0", "CPU"
    std::string trace;        ///< its path; empty: our Vulkan backend
    std::string device;       ///< in the trace, in any case
    int64_t memory_bytes = 0; ///< 0: what the trace knows
};

/// Does the part describe a device, rather than name one?
inline bool is_description(std::string_view part) noexcept { return part.find('=') != std::string_view::npos; }

/// Throws Error(usage) saying what is wrong with the text; `option` is how the sentence begins: "--device ".
DeviceDescription parse_device_description(std::string_view text, std::string_view option = "--device ");

/// What a device is asked about: a node (or leaf) and what it reads. Nothing of where data lies.
struct OpQuestion {
    const TensorInfo* node = nullptr;
    std::array<const TensorInfo*, max_sources> src{}; ///< inner holes are possible
    bool reads_host_weight = false; ///< only then a scheduler asks whether the work is taken over; counted, not answered by

    static OpQuestion about(const GraphView& graph, TensorId id, const std::vector<BufferTypeInfo>& types);
};

/// How many different questions a profile was asked, by what it knew of them.
struct ProfileCounts {
    int64_t exact = 0;    ///< the device was asked the same
    int64_t inferred = 0; ///< it was asked the same at another size
    int64_t unknown = 0;  ///< it never was: "no"
    int64_t assumed = 0;  ///< it never was whether it takes work over: from a batch on, as ggml's devices do

    std::string text() const; ///< "120 answers as recorded, 3 inferred from another size, 1 unknown (taken as no)"
};

/// What is known of a device that is not here. Const and thread-safe; the details of its answers live as long as it does.
class DeviceProfile {
public:
    static constexpr std::string_view not_known = "unknown: "; ///< begins the detail of a no that is none of the device's

    virtual ~DeviceProfile() = default;
    virtual const BackendInfo& backend() const = 0;   ///< its kind, description and memory; its numbers mean nothing
    virtual const BufferTypeInfo& memory() const = 0; ///< in which it computes
    virtual bool uses_host_memory() const = 0;        ///< also computes on what lies in the host's own
    virtual bool is_ours() const = 0;                 ///< orders and fuses nodes as this program's backend of that kind
    virtual Answer supports_op(const OpQuestion& question) const = 0;
    virtual bool wants_offload(const OpQuestion& question, int64_t min_batch) const = 0;
    virtual ProfileCounts counts() const = 0;
};

/// Throws Error(usage) where a CPU is described by another name than "cpu", or another device by that one.
void require_fitting_name(const DeviceDescription& description, const DeviceProfile& profile,
                          std::string_view option = "--device ");

/// Finds what is known of a described device. Throws Error.
using ProfileSource = std::function<std::shared_ptr<const DeviceProfile>(const DeviceDescription&)>;

} // namespace schedscope
