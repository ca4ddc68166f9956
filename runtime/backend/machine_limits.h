#pragma once

namespace schedscope {

/// What this machine's processors can do at best, measured where and when it is asked: what kernels are held against.
struct MachineLimits {
    double read_bytes_per_s = 0; ///< reading memory that no cache holds, from its begin to its end, in large pages
    double flops = 0;            ///< F32 multiply-adds that depend on nothing near; a multiply and an add count as two
    double bf16_flops = 0;       ///< the same of numbers of BF16; as `flops` where no instruction multiplies those
    double int8_ops = 0;         ///< the same of whole numbers of 8 bits that are added up in 32, by vector instructions
};

/// Measures for a second or two. n_threads (1 to 256) read memory of their own at once, then compute at once. Throws
/// Error(device) where there is no memory for it.
MachineLimits measure_machine(int n_threads);

/// The machine with n threads (more than 256 as with 256), measured once per program. Not thread-safe.
const MachineLimits& machine_limits(int n_threads);

} // namespace schedscope
