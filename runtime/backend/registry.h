#pragma once

#include "runtime/backend/device.h"
#include "runtime/planner/device_profile.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

/// All devices found on this machine: CPU (always), BLAS, then every Vulkan device. Finding them starts no queue and allocates
/// nothing on a device. What is loaded to find them takes memory (OpenBLAS also starts threads, drivers bring a compiler): none
/// is looked for before it, or all there is, is asked for. Devices live as long as the registry; buffers and backends must be
/// gone before it.
class Registry {
public:
    Registry();
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    /// One for a whole program, never destroyed: drivers, which are loaded later than it is made, end before a static one would.
    static const Registry& kept();

    const std::vector<std::unique_ptr<Device>>& devices() const;
    /// Any case. Null if there is none.
    Device* find(std::string_view name) const;
    Device& cpu() const noexcept { return *cpu_; }
    /// Why something was not found, for people: "no Vulkan loader (libvulkan.so.1)".
    const std::vector<std::string>& missing() const;

    /// A `--device` list to devices in priority order: cpu last, added if missing. Empty list: every GPU, then CPU.
    /// A GPU named again is a device of its own with its own memory, "Vulkan0.1", as if there were two: made once and kept.
    /// Throws Error(usage) for an unknown one, naming what there is.
    std::vector<Device*> select(std::string_view list) const;
    /// The same list, which may also describe devices that are not here (`NAME=vulkan:24GiB`, see device_profile.h): these are
    /// made, go to `described`, and may be named again behind their description. A described device hides one of the same name
    /// that is here, also the CPU. `profiles` reads recorded devices.
    std::vector<Device*> select(std::string_view list, std::vector<std::unique_ptr<Device>>& described,
                                const ProfileSource& profiles = {}) const;

private:
    /// Once each. The caller holds the mutex.
    void look_for_vulkan() const;
    void look_for_blas() const;
    void look_for_all() const; ///< the caller does not
    /// What the nth mention of a device stands for.
    Device* again(Device& device, std::ptrdiff_t nth, std::vector<std::unique_ptr<Device>>* described) const;
    [[noreturn]] void refuse(std::string_view name, const std::vector<std::unique_ptr<Device>>* described) const;
    std::vector<Device*> select(std::string_view list, std::vector<std::unique_ptr<Device>>* described,
                                const ProfileSource& profiles) const;

    Device* cpu_;
    mutable std::mutex mutex_;                             ///< of what follows
    mutable std::vector<std::unique_ptr<Device>> devices_; ///< stays as it is once all were looked for
    mutable std::vector<std::string> missing_;
    mutable bool looked_for_vulkan_ = false, looked_for_blas_ = false;
    mutable std::vector<std::unique_ptr<Device>> again_; ///< devices that were named more than once
};

/// A backend for each device of such a list, in its order: several of one device, whose memory is the host's, are "BLAS" and
/// "BLAS.1". Those that compute on the processor share its threads. options.name is not used.
std::vector<std::unique_ptr<Backend>> make_backends(std::span<Device* const> devices, const BackendOptions& options);
/// What their user should know although they work, one sentence each.
std::vector<std::string> caveats_of(std::span<Device* const> devices);

} // namespace schedscope
