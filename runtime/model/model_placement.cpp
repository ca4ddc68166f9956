#include "runtime/model/model_placement.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/planner/placement/layer_homes.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <cmath>

namespace schedscope {

namespace {

std::vector<LayerHolder> holders_among(std::span<Device* const> devices) {
    std::vector<LayerHolder> holders;
    for (size_t i = 0; i < devices.size(); ++i) {
        if (holds_layers(device_kind_name(devices[i]->kind()))) {
            holders.push_back({int_of(i), static_cast<int64_t>(devices[i]->memory_bytes())});
        }
    }
    return holders;
}

} // namespace

ModelPlacement::ModelPlacement(const PlacementOptions& options, std::span<Device* const> devices)
    : devices_(devices.begin(), devices.end()) {
    for (const std::string& text : options.overrides) {
        parse_override(text);
    }
}

ModelPlacement ModelPlacement::of_encoder(const PlacementOptions& options, std::span<Device* const> devices) {
    ModelPlacement p(options, devices);
    const int32_t home = encoder_home(options.n_gpu_layers, holders_among(devices), p.host());
    p.layer_home_ = {home};
    p.layer_why_.push_back(
        "the image encoder is " +
        (home == p.host() ? std::string("not offloaded") : "offloaded to " + std::string(devices[home]->name())) + " (-ngl " +
        std::to_string(options.n_gpu_layers) + ")");
    p.full_offload_ = home != p.host();
    return p;
}

ModelPlacement::ModelPlacement(const PlacementOptions& options, std::span<Device* const> devices, int32_t n_layer)
    : ModelPlacement(options, devices) {
    const std::vector<LayerHolder> holders = holders_among(devices);
    if (options.tensor_split.size() > holders.size() && !holders.empty()) {
        throw Error(ErrorKind::usage, "-ts: " + std::to_string(options.tensor_split.size()) + " shares for " +
                                          std::to_string(holders.size()) + " devices that can hold layers");
    }
    for (const float share : options.tensor_split) {
        if (!(share >= 0) || !std::isfinite(share)) {
            throw Error(ErrorKind::usage, "-ts: a share must be a number that is not negative");
        }
    }
    layer_home_ = layer_homes(n_layer, options.n_gpu_layers, holders, options.tensor_split, host());
    full_offload_ = all_offloaded(n_layer, options.n_gpu_layers, holders);
    give_reasons(options.n_gpu_layers, n_layer);
}

void ModelPlacement::give_reasons(int32_t n_gpu_layers, int32_t n_layer) {
    const std::string rule = " (-ngl " + std::to_string(n_gpu_layers) + ")";
    for (int32_t layer = 0; layer <= n_layer; ++layer) {
        const int32_t home = layer_home(layer);
        layer_why_.push_back(
            (layer == n_layer ? "the output layer" : "block " + std::to_string(layer) + " of " + std::to_string(n_layer)) +
            (home == host() ? " is not offloaded" : " is offloaded to " + std::string(devices_[home]->name())) + rule);
    }
}

void ModelPlacement::parse_override(const std::string& text) {
    // A pattern may contain '=', a device's name can't.
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0) {
        throw Error(ErrorKind::usage, "-ot " + text + ": expected PATTERN=DEVICE");
    }
    const std::string pattern = text.substr(0, at);
    const std::string name = text.substr(at + 1);
    const auto found =
        std::find_if(devices_.begin(), devices_.end(), [&](const Device* d) { return same_ignoring_case(d->name(), name); });
    if (found == devices_.end()) {
        throw Error(ErrorKind::usage,
                    "-ot " + text + ": there is no device '" + name + "' (" + joined(devices_, ", ", &Device::name) + ")");
    }
    try {
        overrides_.push_back(
            {std::regex(pattern, std::regex::ECMAScript | std::regex::optimize), int_of(found - devices_.begin())});
    } catch (const std::regex_error& e) {
        throw Error(ErrorKind::usage, "-ot " + text + ": not a regular expression: " + e.what());
    }
    reports_.push_back({pattern, std::string((*found)->name()), 0, 0});
    override_why_.push_back("-ot " + text);
}

int32_t ModelPlacement::tensor_home(std::string_view tensor, int32_t home, std::string_view* why) {
    bool placed = false;
    for (size_t i = 0; i < overrides_.size(); ++i) {
        if (!std::regex_search(tensor.begin(), tensor.end(), overrides_[i].pattern)) {
            continue;
        }
        ++(placed ? reports_[i].shadowed : reports_[i].matched);
        home = placed ? home : overrides_[i].home;
        if (!placed && why != nullptr) {
            *why = override_why_[i];
        }
        placed = true;
    }
    return home;
}

std::string override_note(const OverrideReport& r) {
    return "-ot " + r.pattern + "=" + r.device + ": " + std::to_string(r.matched) + " tensors" +
           (r.shadowed > 0 ? ", " + std::to_string(r.shadowed) + " more were placed by a pattern before it" : "");
}

void require_matches(std::span<const OverrideReport> reports) {
    for (const OverrideReport& r : reports) {
        if (r.matched + r.shadowed == 0) {
            throw Error(ErrorKind::usage, "-ot " + r.pattern + "=" + r.device + ": the pattern matches no tensor of the model");
        }
    }
}

} // namespace schedscope
