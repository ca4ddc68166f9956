#pragma once

#include "runtime/context/kv_cells.h"

#include <algorithm>

namespace schedscope::test {

/// Of a sequence in the cache; −1: it has none.
inline int32_t last_position(const KvCells& cells, int32_t sequence) {
    int32_t last = -1;
    for (int32_t cell = 0; cell < cells.size(); ++cell) {
        if ((cells.sequences(cell) & only_sequence(sequence)) != 0) {
            last = std::max(last, cells.position(cell));
        }
    }
    return last;
}

} // namespace schedscope::test
