#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

class ThreadPool;
namespace gguf {
struct FileTensor;
}

enum class LoadMode : uint8_t {
    data,  ///< with memory
    header ///< only described: graphs can be planned, not run
};

/// Bytes of weights that are there, and all of them.
using LoadProgress = std::function<void(int64_t done, int64_t total)>;

/// How weights come into memory.
struct LoadOptions {
    LoadOptions(LoadMode mode) noexcept : mode(mode) {} // NOLINT(google-explicit-constructor): the rest as usual
    LoadMode mode;
    bool mapped = true;            ///< the host's stay in the file, which is mapped; else they are read into memory of their own
    bool repacks = false;          ///< what the CPU multiplies may be laid out, or copied from the file, in memory of its own
    int64_t bytes_beside = 0;      ///< of the weights of other files, which are loaded as well
    bool locked = false;           ///< the host's are kept from being paged out, as far as the system allows
    LoadProgress progress = {};    ///< may be empty; called on the thread that loads
    ThreadPool* threads = nullptr; ///< that lay weights out together; null: the one that loads
};

/// A file's weights in memory.
struct LoadedWeights {
    std::vector<std::unique_ptr<Buffer>> buffers;
    int64_t bytes_in_file = 0; ///< of those that stay there, which is mapped
    /// What is mapped for now, although each token reads all of it: see Model::move_to_large_pages.
    std::vector<const gguf::FileTensor*> streamed;
    /// For the user, one sentence each: how many weights each device left to the CPU, what of them could not be locked.
    std::vector<std::string> notes;
    std::vector<LaidOutType> laid_out; ///< as these options have it where the CPU is alone
};

/// Gives tensors buffers of one type, one behind the other; more than one buffer when the type limits their size. Throws
/// Error(device) when there is no memory.
std::vector<std::unique_ptr<Buffer>> give_buffers(const BufferType& type, std::span<Tensor* const> tensors, BufferUsage usage,
                                                  LoadMode mode);

} // namespace schedscope
