#include "traces/import/backend_names.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::import {

namespace {

constexpr size_t most_backends = 1024; ///< beyond that it is not a log but noise

bool shown(std::string_view full, std::string_view text, size_t width) noexcept {
    return width != 0 && text.size() < width ? full == text : full.starts_with(text);
}

/// 0: devices; 1: the host's accelerators; 2: the CPU, which the scheduler wants last.
int rank(std::string_view name) noexcept { return name == "CPU" ? 2 : name == "BLAS" ? 1 : 0; }

} // namespace

void BackendNames::add_full(std::string_view name) {
    if (full_.size() < most_backends && std::find(full_.begin(), full_.end(), name) == full_.end()) {
        full_.emplace_back(name);
    }
}

void BackendNames::add_device(std::string_view name, std::string_view description) {
    const auto same = [&](const LoggedDevice& d) { return d.name == name; };
    if (devices_.size() < most_backends && std::none_of(devices_.begin(), devices_.end(), same)) {
        devices_.push_back({std::string(name), std::string(description)});
    }
}

void BackendNames::add_cut(const LoggedTensor& tensor) {
    if (tensor.backend.empty() || tensor.backend == "NULL" || cut_.size() >= most_backends) {
        return;
    }
    const auto same = [&](const auto& c) { return c.first == tensor.backend; };
    if (std::none_of(cut_.begin(), cut_.end(), same)) {
        cut_.emplace_back(tensor.backend, tensor.backend_width);
    }
}

void BackendNames::settle() {
    names_.clear();
    const auto known = [&](std::string_view name) { return std::find(names_.begin(), names_.end(), name) != names_.end(); };
    const auto used = [&](const std::string& name) {
        return std::find(full_.begin(), full_.end(), name) != full_.end() ||
               std::any_of(cut_.begin(), cut_.end(), [&](const auto& c) { return shown(name, c.first, c.second); });
    };
    for (const LoggedDevice& device : devices_) {
        if (used(device.name)) {
            names_.push_back(device.name);
        }
    }
    for (const std::string& name : full_) {
        if (!known(name)) {
            names_.push_back(name);
        }
    }
    const size_t n_full = names_.size();
    for (const auto& [text, width] : cut_) {
        const auto fits = [&](const std::string& name) { return shown(name, text, width); };
        if (std::none_of(names_.begin(), names_.begin() + n_full, fits) && !known(text)) {
            names_.push_back(text);
        }
    }
    std::vector<std::string> sure(names_.begin(), names_.begin() + n_full);
    std::stable_sort(names_.begin(), names_.end(), [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    maybe_cut_.clear();
    for (const std::string& name : names_) {
        const bool in_full = std::find(sure.begin(), sure.end(), name) != sure.end();
        const auto fills = [&](const auto& c) { return c.first == name && c.first.size() >= c.second; };
        maybe_cut_.push_back(!in_full && std::any_of(cut_.begin(), cut_.end(), fills) ? 1 : 0);
    }
}

std::string_view BackendNames::description(BackendId id) const {
    const std::string& name = names_[id];
    const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const LoggedDevice& d) { return d.name == name; });
    return found == devices_.end() ? std::string_view() : found->description;
}

bool BackendNames::maybe_cut(BackendId id) const { return maybe_cut_[id] != 0; }

BackendId BackendNames::find(std::string_view full) const noexcept {
    const auto found = std::find(names_.begin(), names_.end(), full);
    return found == names_.end() ? no_backend : narrow<BackendId>(found - names_.begin());
}

bool BackendNames::shown_as(BackendId id, const LoggedTensor& tensor) const noexcept {
    return id != no_backend && shown(names_[id], tensor.backend, tensor.backend_width);
}

BackendId BackendNames::resolve(const LoggedTensor& tensor) const noexcept {
    BackendId found = no_backend;
    if (tensor.backend.empty() || tensor.backend == "NULL") {
        return found;
    }
    for (size_t b = 0; b < names_.size(); ++b) {
        if (shown(names_[b], tensor.backend, tensor.backend_width)) {
            if (found != no_backend) {
                return no_backend;
            }
            found = narrow<BackendId>(b);
        }
    }
    return found;
}

} // namespace schedscope::import
