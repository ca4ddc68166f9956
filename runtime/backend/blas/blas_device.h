#pragma once

#include "runtime/backend/device.h"

#include <memory>
#include <string>

namespace schedscope {

/// OpenBLAS as a device "BLAS": takes large products, computes in the CPU's memory, so that it and the CPU need no copies between
/// them. A product is one library call: there is nothing for it to fuse. Null (and why in `missing`) when the library is not
/// there.
std::unique_ptr<Device> make_blas_device(std::string& missing);

} // namespace schedscope
