#include "runtime/planner/placement/policy.h"

#include "runtime/error.h"
#include "runtime/system/number_words.h"

#include <cmath>

namespace schedscope {

namespace {

/// By place among the holders of layers, cumulated and scaled so that the last is 1.
std::vector<float> cumulated_shares(std::span<const PlacedDevice> devices, std::span<const int32_t> holders,
                                    std::span<const float> asked) {
    std::vector<float> shares(holders.size(), 0.0F);
    const bool given = std::any_of(asked.begin(), asked.end(), [](float s) { return s > 0; });
    const bool known = std::all_of(holders.begin(), holders.end(), [&](int32_t home) { return devices[home].memory_bytes > 0; });
    for (size_t i = 0; i < holders.size(); ++i) {
        if (given) {
            shares[i] = i < asked.size() ? asked[i] : 0.0F;
        } else {
            shares[i] = known ? to_float(devices[holders[i]].memory_bytes) : 1.0F;
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

void check_shares(std::span<const float> shares, size_t n_holders, std::string_view option) {
    if (shares.size() > n_holders && n_holders > 0) {
        throw Error(ErrorKind::usage, std::string(option) + ": " + words::counted(shares.size(), "share") + " for " +
                                          words::counted(n_holders, "device") + " that can hold layers");
    }
    for (const float share : shares) {
        if (!(share >= 0) || !std::isfinite(share)) {
            throw Error(ErrorKind::usage, std::string(option) + ": a share must be a number that is not negative");
        }
    }
}

std::vector<int32_t> holders_among(std::span<const PlacedDevice> devices) {
    std::vector<int32_t> holders;
    for (size_t i = 0; i + 1 < devices.size(); ++i) { // the last one is the host
        if (holds_layers(devices[i].kind)) {
            holders.push_back(int_of(i));
        }
    }
    return holders;
}

std::vector<std::string> names_of(std::span<const PlacedDevice> devices) {
    std::vector<std::string> names;
    for (const PlacedDevice& device : devices) {
        names.push_back(device.name);
    }
    return names;
}

} // namespace

PlacementPolicy::PlacementPolicy(const PlacementOptions& options, std::vector<PlacedDevice> devices, int32_t n_layers,
                                 const PlacementWords& words)
    : devices_(std::move(devices)), overrides_(options.overrides, names_of(devices_), words.overrides),
      cache_on_host_(options.cache_on_host) {
    const std::vector<int32_t> holders = holders_among(devices_);
    check_shares(options.tensor_split, holders.size(), words.tensor_split);
    place_layers(options, n_layers, holders);
}

void PlacementPolicy::place_layers(const PlacementOptions& options, int32_t n_layers, std::span<const int32_t> holders) {
    const int32_t offloaded = holders.empty() ? 0 : std::clamp(options.n_gpu_layers, 0, n_layers + 1);
    const std::vector<float> shares = cumulated_shares(devices_, holders, options.tensor_split);
    const auto reasoned = [&](const std::string& what, int32_t home) {
        const std::string where = what + (home == host() ? " is not offloaded" : " is offloaded to " + devices_[home].name);
        return ReasonedHome{home, where,
                            where + (holders.empty() ? " (no other device holds layers)"
                                                     : " (-ngl " + gpu_layers_text(options.n_gpu_layers) + ")")};
    };
    for (int32_t layer = 0; layer <= n_layers; ++layer) {
        const int32_t i = layer - (options.output_last ? std::max(n_layers - offloaded, 0) : n_layers + 1 - offloaded);
        int32_t home = host();
        if (i >= 0 && i < offloaded) {
            const float position = to_float(i) / to_float(offloaded);
            home = holders[std::upper_bound(shares.begin(), shares.end() - 1, position) - shares.begin()];
        }
        layers_.push_back(reasoned(
            layer == n_layers ? "the output layer" : "block " + std::to_string(layer) + " of " + std::to_string(n_layers), home));
    }
    // An encoder is not cut into layers.
    encoder_ = reasoned("the image encoder", options.n_gpu_layers > 0 && !holders.empty() ? holders.front() : host());
    full_offload_ = offloaded == n_layers + 1;
}

HomeChoice PlacementPolicy::of_layer(int32_t layer) const noexcept {
    return is_index(layer, layers_) ? HomeChoice{layers_[layer].home, layers_[layer].why} : HomeChoice{host(), {}};
}

std::string_view PlacementPolicy::where_is_layer(int32_t layer) const noexcept {
    return is_index(layer, layers_) ? std::string_view(layers_[layer].where) : std::string_view();
}

HomeChoice PlacementPolicy::cache(int32_t layer) const noexcept {
    return cache_on_host_ ? HomeChoice{host(), "the KV cache is kept on the host (-nkvo)"} : of_layer(layer);
}

HomeChoice PlacementPolicy::sampling(int32_t layer, int32_t matrix) const noexcept {
    const HomeChoice output = of_layer(layer);
    return matrix < 0 || matrix == output.home ? output : HomeChoice{matrix, "what samplers read lies with the output's matrix"};
}

WeightHome PlacementPolicy::weight(std::string_view name, ModelPart part, const Runs& runs) const {
    HomeChoice place = of_layer(part.layer);
    if (part.role == Role::embedding) {
        place = {host(), "the token embedding is looked up on the host"};
    } else if (part.role == Role::encoder) {
        place = {encoder_.home, encoder_.why};
    }
    if (const TensorOverrides::Entry* entry = overrides_.first_for(name)) {
        place = {entry->home, entry->why};
    }
    if (runs(place.home)) {
        return {place, place.home, repacks() && !place.why.empty()};
    }
    return {{host(), "its device can't run the operator that reads it, so it stays on the host"}, place.home};
}

HomeChoice PlacementPolicy::pin(Op op, ModelPart part, int32_t n_tokens, const Runs& runs) const {
    if (part.role == Role::attended && cache_on_host_) {
        return {host(), why_pinned(part.role, n_tokens < small_batch)};
    }
    if (part.role != Role::norm || part.layer < 0 || (op != Op::RMS_NORM && op != Op::NORM)) {
        return {};
    }
    const bool small = n_tokens < small_batch;
    if (!small && !full_offload_) {
        return {-1, "not pinned to its layer's device: the batch has 32 tokens or more, and not all layers are offloaded"};
    }
    const int32_t home = layer_home(part.layer);
    if (!runs(home)) {
        return {-1, "not pinned to its layer's device, which can't run it"};
    }
    return {home, why_pinned(part.role, small)};
}

std::string_view why_pinned(Role role, bool is_small) noexcept {
    return role == Role::attended ? "what lies between the cache and the projection stays where the cache is (-nkvo)"
           : role != Role::norm   ? ""
           : is_small             ? "norms of a layer are pinned to its device when the batch has fewer than 32 tokens"
                                  : "norms of a layer are pinned to its device when all layers are offloaded";
}

} // namespace schedscope
