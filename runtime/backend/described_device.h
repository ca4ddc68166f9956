#pragma once

#include "runtime/backend/backend.h"
#include "runtime/backend/device.h"

#include <memory>
#include <string_view>

namespace schedscope {

/// Is this part of a `--device` list a device that is described (`NAME=KIND:SIZE`) and not the name of one that is here?
inline bool is_description(std::string_view part) noexcept { return part.find('=') != std::string_view::npos; }

/// The device that `NAME=vulkan:24GiB` describes: it has that name and that much memory, and supports what our Vulkan backend
/// supports on a device with all features. It can be planned with; its buffers have sizes and no memory, and nothing runs on it.
/// The size is a number with a unit, B, KiB, MiB or GiB. Throws Error(usage) saying what is wrong with the text.
std::unique_ptr<Device> describe_device(std::string_view text);

/// Orders and groups a split's nodes as a backend of a device of this kind (device_kind_name) would, without the device: for
/// plans that are made from records. A kind that has no step of its own leaves them as they are.
void optimise_like(std::string_view device_kind, SplitGraph& split);

} // namespace schedscope
