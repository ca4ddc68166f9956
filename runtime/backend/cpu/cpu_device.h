#pragma once

#include "runtime/backend/device.h"

#include <memory>
#include <string>
#include <string_view>

namespace schedscope {

/// The processor: always there, runs every operator that any model needs.
std::unique_ptr<Device> make_cpu_device();

/// May weights be laid out for its backends (Device::repack_buffer_type) that are made with these options?
bool may_lay_out(const BackendOptions& options) noexcept;

/// The instruction set that its backends compute with: "avx2".
std::string_view cpu_instructions() noexcept;

/// "AMD EPYC 9354", from the system.
std::string processor_name();

} // namespace schedscope
