#pragma once

#include "runtime/backend/processors.h"
#include "runtime/backend/products.h"
#include "runtime/model/tensor_buffers.h"
#include "runtime/ops/type.h"
#include "runtime/planner/device_profile.h"
#include "runtime/planner/placement/plan_settings.h"
#include "runtime/planner/records.h"
#include "runtime/sampling/params.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class Watcher;

/// Everything a user can say about how a model runs; names and defaults are the command line's.
struct RunOptions {
    std::string model;                  ///< path of the GGUF file
    std::string devices;                ///< comma-separated, by priority; empty: every GPU, then the CPU. With header_only also
                                        ///< described ones: device_profile.h
    ProfileSource profiles;             ///< reads devices that are described as recorded; empty: none is read
    int32_t n_gpu_layers = 99;          ///< the output layer and the last n − 1 blocks
    std::vector<float> tensor_split;    ///< shares of the devices; empty: by memory
    std::vector<std::string> overrides; ///< "PATTERN=DEVICE"
    bool cache_on_host = false;         ///< -nkvo
    bool op_offload = true;
    int64_t offload_min_batch = 32;
    int stages = 1;
    FlashAttention flash_attention = FlashAttention::automatic;
    Type cache_type_k = Type::F16;
    Type cache_type_v = Type::F16;
    int32_t n_ctx = -1; ///< 0: the model's training length; −1: 4096, or that if it is smaller
    int32_t n_batch = 2048;
    int32_t n_ubatch = 512;
    int n_threads = 0;       ///< 0: physical cores
    int n_threads_batch = 0; ///< in evaluations of several tokens; 0: as many
    ProcessorSet processors; ///< that these threads stay on; of none: any
    bool fusion = true;
    Products products = Products::int8;
    std::optional<uint32_t> seed; ///< absent: random
    SamplingOptions sampling;
    std::string mmproj;                      ///< path of the image encoder's GGUF file; empty: none
    bool image_newline = false;              ///< of tiled images, as vision::Arrangement says
    bool sample_in_graph = false;            ///< -bs: as many samplers of each chain as can run in the graph do
    bool context_shift = false;              ///< when the context is full, forget half of what follows the first token
    bool mmap = true;                        ///< the host's weights stay in the file, which is mapped
    bool repack = true;                      ///< weights that the CPU alone multiplies are laid out
    bool mlock = false;                      ///< the host's weights are kept from being paged out
    LoadProgress on_load;                    ///< told of the weights as they are read; empty: none is
    bool header_only = false;                ///< plan from the file's header: no weights are loaded, nothing can be computed
    std::shared_ptr<Watcher> watcher;        ///< whose tensors' values are recorded; null: none are
    bool record_text = true;                 ///< prompts and generated text go into the records
    std::optional<KernelTimes> kernel_times; ///< that are recorded; absent: kernels of CPU and BLAS, splits of other devices
    std::vector<std::pair<std::string, std::string>> facts; ///< the caller's own for the session, in front: "command", …
};

} // namespace schedscope
