#pragma once

#include "runtime/backend/device.h"

#include <memory>

namespace schedscope {

/// The processor: always there, runs every operator that any model needs.
std::unique_ptr<Device> make_cpu_device();

/// "AMD EPYC 9354", from the system.
std::string processor_name();

} // namespace schedscope
