#include "runtime/verify/compare.h"

#include "runtime/backend/tensor_rows.h"

#include <cmath>
#include <limits>

namespace schedscope {

Difference compare(const Tensor& a, const Tensor& b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    TensorRows rows_a(a), rows_b(b);
    double errors = 0, squares = 0;
    for (int64_t r = 0; r < rows_b.n_rows(); ++r) {
        const auto row_a = rows_a.row(r), row_b = rows_b.row(r);
        for (size_t i = 0; i < row_b.size(); ++i) {
            const double x = row_a[i], y = row_b[i];
            if (std::isnan(x) || std::isnan(y)) {
                if (std::isnan(x) != std::isnan(y)) {
                    return {infinity, "NaN differs"};
                }
            } else if (std::isinf(x) || std::isinf(y)) {
                if (x != y) {
                    return {infinity, "infinity differs"};
                }
            } else {
                errors += (x - y) * (x - y);
                squares += y * y;
            }
        }
    }
    if (errors == 0) {
        return {};
    }
    return {squares > 0 ? errors / squares : infinity, {}};
}

} // namespace schedscope
