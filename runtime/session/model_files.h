#pragma once

#include "runtime/session/run_options.h"

#include <memory>

namespace schedscope {
namespace gguf {
class File;
}

/// The files of a run, opened. Devices are looked for behind that: what drivers load is more than a file that is refused may
/// cost.
struct ModelFiles {
    std::shared_ptr<const gguf::File> text;
    std::shared_ptr<const gguf::File> encoder; ///< null without an image encoder
};

/// Opens options.model and options.mmproj, and checks of what kinds they are and which sizes they give. Throws Error(input).
ModelFiles open_models(const RunOptions& options);

} // namespace schedscope
