#pragma once

namespace schedscope {

/// What this machine's processors can do at best, measured where and when it is asked: what kernels are held against.
struct MachineLimits {
    double read_bytes_per_s = 0; ///< reading memory that no cache holds, from its begin to its end, in large pages
    double flops = 0;            ///< F32 multiply-adds that depend on nothing near; a multiply and an add count as two
    double bf16_flops = 0;       ///< the same of numbers of BF16; as `flops` where no instruction multiplies those
    /// The same of whole numbers of 8 bits with those that are multiplied fastest, added up in 32, by vector instructions: with
    /// numbers of 8 bits, too, but on AVX2 of 4, of which eight products are added up in 16 first. Types of more bits stay below.
    double int8_ops = 0;
};

/// Measures for a second or two. n_threads (1 to 256) read memory of their own at once, then compute at once. Throws
/// Error(device) where there is no memory for it.
MachineLimits measure_machine(int n_threads);

/// The machine with n threads (more than 256 as with 256), measured once per program. Not thread-safe.
const MachineLimits& machine_limits(int n_threads);

} // namespace schedscope
