#pragma once

#include "runtime/numbers.h"

#include <cstdint>
#include <deque>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope {

class Device;

/// Which tensors go to which device, as a user says it.
struct PlacementOptions {
    int32_t n_gpu_layers = 99;            ///< the output layer and the last n − 1 blocks go to devices
    std::vector<float> tensor_split = {}; ///< shares of the devices; empty: by their memory
    /// "PATTERN=DEVICE", regular expressions on tensor names; the first that matches wins.
    std::vector<std::string> overrides = {};
    bool overrides_are_shared = false; ///< with another model: a pattern that matches nothing in this one is no error
};

/// How an override fared.
struct OverrideReport {
    std::string pattern;
    std::string device;
    int32_t matched = 0;  ///< tensors that it placed
    int32_t shadowed = 0; ///< tensors that it matches, too, but that an earlier one placed
};

/// Decides the home of each layer and tensor. Homes are indices into `devices` (by priority, the last one the CPU).
///
/// Layers are counted from 0; layer n_layer is the output. With several devices that can hold layers, each gets a run of layers: layer i of the n offloaded
/// ones goes to the first device whose cumulated share exceeds i/n.
class ModelPlacement {
public:
    /// Throws Error(usage) for a pattern or a device that is not understood and for a split that does not fit the devices.
    ModelPlacement(const PlacementOptions& options, std::span<Device* const> devices, int32_t n_layer);

    /// Of an image encoder, which is not cut into layers: all is layer 0, and lives where encoder_home says.
    static ModelPlacement of_encoder(const PlacementOptions& options, std::span<Device* const> devices);

    int32_t layer_home(int32_t layer) const noexcept { return layer_home_[layer]; }
    int32_t host() const noexcept { return n_of(devices_) - 1; } ///< the CPU: home of the input layer
    /// Every layer and the output are on devices.
    bool full_offload() const noexcept { return full_offload_; }

    /// For people: why a layer lives where it does. As long as the placement.
    std::string_view layer_why(int32_t layer) const noexcept { return layer_why_[layer]; }

    /// Where a tensor goes that belongs to a layer at `home`. why: filled when an override decides, "-ot PATTERN=DEVICE".
    int32_t tensor_home(std::string_view tensor, int32_t home, std::string_view* why = nullptr);

    std::span<const OverrideReport> overrides() const noexcept { return reports_; }

private:
    ModelPlacement(const PlacementOptions& options, std::span<Device* const> devices);
    struct Override {
        std::regex pattern;
        int32_t home;
    };
    void parse_override(const std::string& text);
    void give_reasons(int32_t n_gpu_layers, int32_t n_layer);

    std::vector<Device*> devices_;
    std::vector<int32_t> layer_home_; ///< [n_layer + 1]
    std::vector<Override> overrides_;
    std::vector<OverrideReport> reports_;  ///< beside overrides_
    std::deque<std::string> layer_why_;    ///< beside layer_home_
    std::deque<std::string> override_why_; ///< beside overrides_
    bool full_offload_ = false;
};

/// For people: "-ot PATTERN=DEVICE: 3 tensors".
std::string override_note(const OverrideReport& report);
/// Throws Error(usage) when a pattern matched nothing.
void require_matches(std::span<const OverrideReport> reports);

} // namespace schedscope
