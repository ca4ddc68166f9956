#include "runtime/backend/registry.h"

#include "runtime/backend/blas/blas_device.h"
#include "runtime/backend/cpu/cpu_device.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/described_device.h"
#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/system/joined.h"
#include "runtime/system/nearest_words.h"

#include <algorithm>
#include <utility>

namespace schedscope {

Registry::Registry() {
    devices_.push_back(make_cpu_device());
    cpu_ = devices_.front().get();
}

Registry::~Registry() = default;

const Registry& Registry::kept() {
    static const Registry& one = *new Registry;
    return one;
}

void Registry::look_for_vulkan() const {
    if (std::exchange(looked_for_vulkan_, true)) {
        return;
    }
    for (auto& device : find_vulkan_devices(missing_)) {
        devices_.push_back(std::move(device));
    }
}

void Registry::look_for_blas() const {
    if (std::exchange(looked_for_blas_, true)) {
        return;
    }
    std::string why;
    if (auto blas = make_blas_device(why)) {
        devices_.insert(devices_.begin() + 1, std::move(blas));
    } else {
        missing_.insert(missing_.begin(), why);
    }
}

void Registry::look_for_all() const {
    const std::lock_guard lock(mutex_);
    look_for_vulkan();
    look_for_blas();
}

const std::vector<std::unique_ptr<Device>>& Registry::devices() const {
    look_for_all();
    return devices_;
}

const std::vector<std::string>& Registry::missing() const {
    look_for_all();
    return missing_;
}

Device* Registry::find(std::string_view name) const {
    if (same_ignoring_case(name, cpu_->name())) {
        return cpu_;
    }
    const std::lock_guard lock(mutex_);
    if (same_ignoring_case(name, "blas")) {
        look_for_blas();
    } else {
        look_for_vulkan();
    }
    for (const auto& device : devices_) {
        if (same_ignoring_case(device->name(), name)) {
            return device.get();
        }
    }
    return nullptr;
}

std::vector<Device*> Registry::select(std::string_view list) const { return select(list, nullptr, {}); }

std::vector<Device*> Registry::select(std::string_view list, std::vector<std::unique_ptr<Device>>& described,
                                      const ProfileSource& profiles) const {
    return select(list, &described, profiles);
}

void Registry::refuse(std::string_view name, const std::vector<std::unique_ptr<Device>>* described) const {
    std::vector<std::string_view> names;
    const auto add = [&names](const auto& d) { names.push_back(d->name()); };
    if (described != nullptr) {
        std::for_each(described->begin(), described->end(), add);
    }
    std::for_each(devices().begin(), devices().end(), add);
    std::string sentence = "--device " + std::string(name) + ": there is no such device here; there is " + joined(names, ", ");
    for (const std::string& missing : missing()) {
        sentence += " (" + missing + ")";
    }
    throw Error(ErrorKind::usage, sentence + did_you_mean(names, name));
}

Device* Registry::again(Device& device, std::ptrdiff_t nth, std::vector<std::unique_ptr<Device>>* described) const {
    const std::string name = std::string(device.name()) + "." + std::to_string(nth);
    const std::lock_guard lock(mutex_);
    const bool is_here = std::any_of(devices_.begin(), devices_.end(), [&](const auto& d) { return d.get() == &device; });
    std::vector<std::unique_ptr<Device>>& kept = is_here ? again_ : *described;
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& d) { return d->name() == name; });
    if (found != kept.end()) {
        return found->get();
    }
    std::unique_ptr<Device> made = device.another(name);
    return made == nullptr ? &device : kept.emplace_back(std::move(made)).get();
}

std::vector<Device*> Registry::select(std::string_view list, std::vector<std::unique_ptr<Device>>* described,
                                      const ProfileSource& profiles) const {
    std::vector<Device*> chosen, named;
    if (list.empty()) {
        const std::lock_guard lock(mutex_);
        look_for_vulkan();
        for (const auto& device : devices_) {
            if (device->kind() == DeviceKind::gpu) {
                chosen.push_back(device.get());
            }
        }
    }
    const auto find_described = [described](std::string_view name) -> Device* {
        for (size_t i = 0; described != nullptr && i < described->size(); ++i) {
            if (same_ignoring_case((*described)[i]->name(), name)) {
                return (*described)[i].get();
            }
        }
        return nullptr;
    };
    while (!list.empty()) {
        const std::string_view name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), name.size() + 1));
        if (is_description(name)) {
            if (described == nullptr) {
                throw Error(ErrorKind::usage,
                            "--device " + std::string(name) +
                                ": a device that is only described can be planned with (record --dry-run), not run on");
            }
            std::unique_ptr<Device> device = describe_device(parse_device_description(name), profiles);
            if (find_described(device->name()) != nullptr) {
                throw Error(ErrorKind::usage,
                            "--device " + std::string(name) + ": '" + std::string(device->name()) + "' was described before");
            }
            chosen.push_back(device.get());
            named.push_back(device.get());
            described->push_back(std::move(device));
            continue;
        }
        Device* device = find_described(name);
        device = device != nullptr ? device : find(name);
        if (device == nullptr) {
            refuse(name, described);
        }
        const auto before = std::count(named.begin(), named.end(), device);
        named.push_back(device);
        chosen.push_back(before == 0 ? device : again(*device, before, described));
    }
    // The scheduler needs the CPU as its last backend.
    Device* const described_cpu = find_described(cpu().name());
    const auto is_cpu = [&](const Device* d) { return d == &cpu() || d == described_cpu; };
    chosen.erase(std::remove_if(chosen.begin(), chosen.end(), is_cpu), chosen.end());
    chosen.push_back(described_cpu != nullptr ? described_cpu : &cpu());
    return chosen;
}

std::vector<std::unique_ptr<Backend>> make_backends(std::span<Device* const> devices, const BackendOptions& options) {
    std::vector<std::unique_ptr<Backend>> backends;
    BackendOptions own = options;
    const auto computes_on_threads = [](const Device* d) {
        return d->kind() == DeviceKind::cpu || d->kind() == DeviceKind::blas;
    };
    if (std::any_of(devices.begin(), devices.end(), computes_on_threads)) {
        own.threads = threads_of(options);
    }
    for (size_t i = 0; i < devices.size(); ++i) {
        own.name = devices[i]->name();
        if (const auto before = std::count(devices.begin(), devices.begin() + i, devices[i]); before > 0) {
            own.name.append(".").append(std::to_string(before));
        }
        backends.push_back(devices[i]->make_backend(own));
    }
    return backends;
}

std::vector<std::string> caveats_of(std::span<Device* const> devices) {
    std::vector<std::string> caveats;
    for (const Device* device : devices) {
        std::string caveat = device->caveat();
        if (!caveat.empty() && std::find(caveats.begin(), caveats.end(), caveat) == caveats.end()) { // named twice
            caveats.push_back(std::move(caveat));
        }
    }
    return caveats;
}

} // namespace schedscope
