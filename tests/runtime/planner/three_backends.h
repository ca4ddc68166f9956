#pragma once

#include "tests/support/graphs/sketch.h"
#include "tests/support/random/random_sketch.h"

namespace schedscope::test {

/// A random graph of about 100 nodes over three backends that two of them refuse parts of.
inline Sketch on_three_backends(unsigned seed) {
    Sketch s{"GPU0", "BLAS", "CPU"};
    s.shares_memory("BLAS", "CPU").refuse("BLAS", {Op::ADD, Op::RMS_NORM, Op::CPY, Op::SOFT_MAX});
    s.refuse("GPU0", {Op::MUL, Op::UNARY, Op::CONT, Op::ROPE}).offers_offload("GPU0", {Op::MUL_MAT});
    s.graph = test::random_sketch({seed, 50, 1 + seed % 6}, s.session);
    return s;
}

} // namespace schedscope::test
