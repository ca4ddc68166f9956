#include "runtime/backend/described_device.h"

#include "runtime/backend/cpu/kernels/fused_kernels.h"
#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/backend/vulkan/vulkan_backend.h"
#include "runtime/error.h"
#include "runtime/letter_case.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

namespace schedscope {

namespace {

constexpr size_t longest_name = 24; ///< copies are named BACKEND#tensor#stage in 63 bytes

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw Error(ErrorKind::usage, "--device " + std::string(text) + ": " + why);
}

void check_name(std::string_view text, std::string_view name) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    });
    if (name.empty() || name.size() > longest_name || !plain) {
        refuse(text, "a name has 1 to " + std::to_string(longest_name) + " letters, digits, '-' or '_'");
    }
    if (lower(name) == "cpu" || lower(name) == "blas") {
        refuse(text, "'" + std::string(name) + "' is the name of another kind of device");
    }
}

/// Bytes; 0: not understood or too many.
size_t bytes_of(std::string_view size) {
    uint64_t n = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n);
    const std::string unit = lower(size.substr(end - size.data()));
    constexpr std::array units{std::pair{"b", 0}, std::pair{"kib", 10}, std::pair{"mib", 20}, std::pair{"gib", 30}};
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) { return unit == u.first; });
    constexpr uint64_t most = uint64_t{1} << 60U;
    if (error != std::errc() || found == units.end() || n > most >> found->second) {
        return 0;
    }
    return n << found->second;
}

} // namespace

std::unique_ptr<Device> describe_device(std::string_view text) {
    const size_t equals = text.find('=');
    const size_t colon = text.find(':', equals == std::string_view::npos ? 0 : equals);
    if (equals == std::string_view::npos || colon == std::string_view::npos) {
        refuse(text, "NAME=vulkan:SIZE is wanted, as in big=vulkan:24GiB");
    }
    const std::string_view name = text.substr(0, equals), kind = text.substr(equals + 1, colon - equals - 1);
    check_name(text, name);
    if (lower(kind) != "vulkan") {
        refuse(text, "there is no kind '" + std::string(kind) + "' of devices that can be described; there is vulkan");
    }
    const size_t bytes = bytes_of(text.substr(colon + 1));
    if (bytes == 0) {
        refuse(text, "'" + std::string(text.substr(colon + 1)) + "' is no size of a memory; 24GiB is, with B, KiB, MiB or GiB");
    }
    std::string shown(name);
    constexpr std::string_view found = "vulkan"; // as the devices that are here are called, so that traces of both agree
    if (lower(shown).starts_with(found) && shown.find_first_not_of("0123456789", found.size()) == std::string::npos) {
        shown = lower(shown);
        shown.front() = 'V';
    }
    return describe_vulkan_device(std::move(shown), bytes);
}

void optimise_like(std::string_view device_kind, SplitGraph& split) {
    const bool software = device_kind == device_kind_name(DeviceKind::software);
    if (software || device_kind == device_kind_name(DeviceKind::gpu)) {
        vulkan::optimise_split(split, vulkan::full_dispatch_options(software));
    } else if (device_kind == device_kind_name(DeviceKind::cpu)) {
        find_groups(split, cpu::fused_kernels());
    }
}

} // namespace schedscope
