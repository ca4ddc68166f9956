#include "runtime/planner/placement/layer_homes.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

/// Cumulated and scaled so that the last is 1.
std::vector<float> cumulated_shares(std::span<const LayerHolder> holders, std::span<const float> asked) {
    std::vector<float> shares(holders.size(), 0.0F);
    const bool given = std::any_of(asked.begin(), asked.end(), [](float s) { return s > 0; });
    const bool known = std::all_of(holders.begin(), holders.end(), [](const LayerHolder& h) { return h.memory_bytes > 0; });
    for (size_t i = 0; i < holders.size(); ++i) {
        if (given) {
            shares[i] = i < asked.size() ? asked[i] : 0.0F;
        } else {
            shares[i] = known ? to_float(holders[i].memory_bytes) : 1.0F;
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

int32_t n_offloaded(int32_t n_layer, int32_t n_gpu_layers, std::span<const LayerHolder> holders) noexcept {
    return holders.empty() ? 0 : std::clamp(n_gpu_layers, 0, n_layer + 1);
}

} // namespace

std::vector<int32_t> layer_homes(int32_t n_layer, int32_t n_gpu_layers, std::span<const LayerHolder> holders,
                                 std::span<const float> asked, int32_t host) {
    std::vector<int32_t> homes(static_cast<size_t>(n_layer) + 1, host);
    const int32_t offloaded = n_offloaded(n_layer, n_gpu_layers, holders);
    if (offloaded == 0) {
        return homes;
    }
    const std::vector<float> shares = cumulated_shares(holders, asked);
    for (int32_t i = 0; i < offloaded; ++i) {
        const float position = to_float(i) / to_float(offloaded);
        const auto at = std::upper_bound(shares.begin(), shares.end() - 1, position) - shares.begin();
        homes[n_layer + 1 - offloaded + i] = holders[at].home;
    }
    return homes;
}

int32_t encoder_home(int32_t n_gpu_layers, std::span<const LayerHolder> holders, int32_t host) noexcept {
    return n_gpu_layers > 0 && !holders.empty() ? holders.front().home : host;
}

bool all_offloaded(int32_t n_layer, int32_t n_gpu_layers, std::span<const LayerHolder> holders) noexcept {
    return n_offloaded(n_layer, n_gpu_layers, holders) == n_layer + 1;
}

} // namespace schedscope
