#include "runtime/verify/compare.h"

#include "runtime/backend/tensor_rows.h"

#include <cmath>
#include <limits>

namespace schedscope {

namespace {

/// The way two elements differ that no error can measure; empty: they don't.
std::string_view unmeasurable(double x, double y) noexcept {
    if (std::isnan(x) != std::isnan(y)) {
        return "NaN differs";
    }
    return (std::isinf(x) || std::isinf(y)) && x != y && !std::isnan(x) ? "infinity differs" : "";
}

} // namespace

TensorDistance compare(const Tensor& a, const Tensor& b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    TensorRows rows_a(a), rows_b(b);
    TensorDistance found;
    double errors = 0, squares = 0;
    int64_t element = 0;
    for (int64_t r = 0; r < rows_b.n_rows(); ++r) {
        const auto row_a = rows_a.row(r), row_b = rows_b.row(r);
        for (size_t i = 0; i < row_b.size(); ++i, ++element) {
            const double x = row_a[i], y = row_b[i];
            if (const std::string_view why = unmeasurable(x, y); !why.empty()) {
                return {infinity, why, std::numeric_limits<double>::quiet_NaN(), element, x, y};
            }
            if (!std::isfinite(x)) {
                continue;
            }
            const double error = std::abs(x - y);
            errors += error * error;
            squares += y * y;
            if (error > found.max_error) {
                found.max_error = error;
                found.element = element;
                found.a = x;
                found.b = y;
            }
        }
    }
    found.nmse = found.element < 0 ? 0 : squares > 0 ? errors / squares : infinity;
    return found;
}

} // namespace schedscope
