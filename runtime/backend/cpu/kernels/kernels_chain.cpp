#include "runtime/backend/cpu/kernels/kernel.h"
#include "runtime/backend/order/fusion_parts.h"

#include <algorithm>

namespace schedscope::cpu {

void run_add_chain(const Work& work) {
    const fused::Chain parts = fused::chain_parts(work.nodes);
    const Tensor& result = *parts.result;
    const VectorOps& v = work.vector;
    const auto [first, end] = work.share(n_rows(result));
    for (int64_t r = first; r < end; ++r) {
        const RowIndex i = row_index(result, r);
        const float* row[std::size(parts.operand)];
        for (size_t k = 0; k < parts.n; ++k) {
            row[k] = reinterpret_cast<const float*>(repeated_row(*parts.operand[k], i));
        }
        auto* out = reinterpret_cast<float*>(row_data(result, i));
        // Piece by piece through the cache: out may be any of the rows.
        float piece[256];
        for (int64_t j = 0; j < result.ne[0]; j += 256) {
            const int64_t n = std::min<int64_t>(256, result.ne[0] - j);
            const float* sum = row[0] + j;
            for (size_t k = 1; k < parts.n; ++k) {
                float* to = k + 1 < parts.n ? piece : out + j;
                v.add(sum, row[k] + j, to, n);
                sum = to;
            }
        }
    }
}

} // namespace schedscope::cpu
