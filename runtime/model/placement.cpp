#include "runtime/model/placement.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace schedscope {

namespace {

bool holds_layers(const Device& d) noexcept { return d.kind() == DeviceKind::gpu || d.kind() == DeviceKind::software; }

bool same_name(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

/// Shares of the holders, cumulated and scaled so that the last is 1.
std::vector<float> cumulated_shares(const std::vector<float>& asked, const std::vector<const Device*>& holders) {
    std::vector<float> shares(holders.size(), 0.0F);
    const bool given = std::any_of(asked.begin(), asked.end(), [](float s) { return s > 0; });
    const bool known = std::all_of(holders.begin(), holders.end(), [](const Device* d) { return d->memory_bytes() > 0; });
    for (size_t i = 0; i < holders.size(); ++i) {
        if (given) {
            shares[i] = i < asked.size() ? asked[i] : 0.0F;
        } else {
            shares[i] = known ? static_cast<float>(holders[i]->memory_bytes()) : 1.0F;
        }
    }
    float sum = 0;
    for (float& s : shares) {
        s = sum += s;
    }
    for (float& s : shares) {
        s /= sum;
    }
    return shares;
}

} // namespace

Placement::Placement(const PlacementOptions& options, std::span<Device* const> devices, int32_t n_layer)
    : devices_(devices.begin(), devices.end()) {
    std::vector<const Device*> holders;
    std::vector<int32_t> homes;
    for (size_t i = 0; i < devices.size(); ++i) {
        if (holds_layers(*devices[i])) {
            holders.push_back(devices[i]);
            homes.push_back(static_cast<int32_t>(i));
        }
    }
    if (options.tensor_split.size() > holders.size() && !holders.empty()) {
        throw Error(ErrorKind::usage, "-ts: " + std::to_string(options.tensor_split.size()) + " shares for " +
                                          std::to_string(holders.size()) + " devices that can hold layers");
    }
    for (const float share : options.tensor_split) {
        if (!(share >= 0) || !std::isfinite(share)) {
            throw Error(ErrorKind::usage, "-ts: a share must be a number that is not negative");
        }
    }
    layer_home_.assign(static_cast<size_t>(n_layer) + 1, host());
    const int32_t offloaded = holders.empty() ? 0 : std::clamp(options.n_gpu_layers, 0, n_layer + 1);
    full_offload_ = offloaded == n_layer + 1;
    if (offloaded > 0) {
        const std::vector<float> shares = cumulated_shares(options.tensor_split, holders);
        for (int32_t i = 0; i < offloaded; ++i) {
            const float position = static_cast<float>(i) / static_cast<float>(offloaded);
            const auto at = std::upper_bound(shares.begin(), shares.end() - 1, position) - shares.begin();
            layer_home_[static_cast<size_t>(n_layer + 1 - offloaded + i)] = homes[static_cast<size_t>(at)];
        }
    }
    for (const std::string& text : options.overrides) {
        parse_override(text);
    }
}

void Placement::parse_override(const std::string& text) {
    // A pattern may contain '=', a device's name can't.
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0) {
        throw Error(ErrorKind::usage, "-ot " + text + ": expected PATTERN=DEVICE");
    }
    const std::string pattern = text.substr(0, at);
    const std::string name = text.substr(at + 1);
    const auto found =
        std::find_if(devices_.begin(), devices_.end(), [&](const Device* d) { return same_name(d->name(), name); });
    if (found == devices_.end()) {
        std::string known;
        for (const Device* d : devices_) {
            known += (known.empty() ? "" : ", ") + std::string(d->name());
        }
        throw Error(ErrorKind::usage, "-ot " + text + ": there is no device '" + name + "' (" + known + ")");
    }
    try {
        overrides_.push_back(
            {std::regex(pattern, std::regex::ECMAScript | std::regex::optimize), static_cast<int32_t>(found - devices_.begin())});
    } catch (const std::regex_error& e) {
        throw Error(ErrorKind::usage, "-ot " + text + ": not a regular expression: " + e.what());
    }
    reports_.push_back({pattern, std::string((*found)->name()), 0, 0});
}

int32_t Placement::tensor_home(std::string_view tensor, int32_t home) {
    bool placed = false;
    for (size_t i = 0; i < overrides_.size(); ++i) {
        if (!std::regex_search(tensor.begin(), tensor.end(), overrides_[i].pattern)) {
            continue;
        }
        ++(placed ? reports_[i].shadowed : reports_[i].matched);
        home = placed ? home : overrides_[i].home;
        placed = true;
    }
    return home;
}

void Placement::require_matches() const {
    for (const OverrideReport& r : reports_) {
        if (r.matched + r.shadowed == 0) {
            throw Error(ErrorKind::usage, "-ot " + r.pattern + "=" + r.device + ": the pattern matches no tensor of the model");
        }
    }
}

} // namespace schedscope
