#pragma once

#include "runtime/tensor/tensor.h"

#include <random>
#include <vector>

namespace schedscope::test {

/// Another order of the nodes in which nothing changes: neighbours are exchanged where neither speaks of the memory of the other.
void shuffle(std::vector<Tensor*>& nodes, std::mt19937& random);

} // namespace schedscope::test
