#include "runtime/backend/registry.h"

#include "runtime/backend/blas/blas_device.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/error.h"

#include <algorithm>
#include <cctype>

namespace schedscope {

namespace {

bool same_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

} // namespace

Registry::Registry() {
    devices_.push_back(make_cpu_device());
    std::string why;
    if (auto blas = make_blas_device(why)) {
        devices_.push_back(std::move(blas));
    } else {
        missing_.push_back(why);
    }
    for (auto& device : find_vulkan_devices(missing_)) {
        devices_.push_back(std::move(device));
    }
}

Registry::~Registry() = default;

Device* Registry::find(std::string_view name) const noexcept {
    for (const auto& device : devices_) {
        if (same_ignoring_case(device->name(), name)) {
            return device.get();
        }
    }
    return nullptr;
}

Device& Registry::cpu() const noexcept { return *devices_.front(); }

std::vector<Device*> Registry::select(std::string_view list) const {
    std::vector<Device*> chosen;
    if (list.empty()) {
        for (const auto& device : devices_) {
            if (device->kind() == DeviceKind::gpu) {
                chosen.push_back(device.get());
            }
        }
    }
    while (!list.empty()) {
        const std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        Device* device = find(name);
        if (device == nullptr) {
            std::string names;
            for (const auto& d : devices_) {
                names += (names.empty() ? "" : ", ") + std::string(d->name());
            }
            std::string sentence = "--device " + std::string(name) + ": there is no such device here; there is " + names;
            for (const std::string& missing : missing_) {
                sentence += " (" + missing + ")";
            }
            throw Error(ErrorKind::usage, sentence);
        }
        chosen.push_back(device);
    }
    // The scheduler needs the CPU as its last backend.
    const auto is_cpu = [this](const Device* d) { return d == &cpu(); };
    chosen.erase(std::remove_if(chosen.begin(), chosen.end(), is_cpu), chosen.end());
    chosen.push_back(&cpu());
    return chosen;
}

} // namespace schedscope
