#include "runtime/backend/statistics.h"

#include "runtime/backend/tensor_rows.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedscope {

namespace {

/// Where x lies between two numbers, 0 to 1, even if their difference is beyond what a double can hold.
double share(double x, double min, double max) noexcept {
    const double range = max - min;
    return std::isfinite(range) ? (x - min) / range : (x / 2 - min / 2) / (max / 2 - min / 2);
}

void add_row(Statistics& s, std::span<const double> row, size_t n_first, double& sum, double& squares) {
    for (const double x : row) {
        if (s.first.size() < n_first) {
            s.first.push_back(x);
        }
        if (std::isnan(x)) {
            ++s.n_nan;
        } else if (std::isinf(x)) {
            ++s.n_inf;
        } else {
            s.min = std::min(s.min, x);
            s.max = std::max(s.max, x);
            sum += x;
            squares += x * x;
        }
    }
}

void count_row(Statistics& s, std::span<const double> row) {
    for (const double x : row) {
        if (std::isfinite(x)) {
            const auto part = static_cast<size_t>(share(x, s.min, s.max) * n_histogram_parts);
            ++s.histogram[std::min(part, n_histogram_parts - 1)];
        }
    }
}

} // namespace

Statistics statistics(const Tensor& tensor, size_t n_first) {
    Statistics s;
    TensorRows rows(tensor);
    s.n_elements = n_elements(tensor);
    s.min = std::numeric_limits<double>::infinity();
    s.max = -s.min;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < rows.n_rows(); ++i) {
        add_row(s, rows.row(i), n_first, sum, squares);
    }
    const int64_t n_finite = s.n_elements - s.n_nan - s.n_inf;
    if (n_finite == 0) {
        s.min = s.max = s.mean = s.norm = std::numeric_limits<double>::quiet_NaN();
        return s;
    }
    s.mean = sum / to_double(n_finite);
    s.norm = std::sqrt(squares);
    if (s.min == s.max) {
        s.histogram[0] = n_finite;
        return s;
    }
    for (int64_t i = 0; i < rows.n_rows(); ++i) {
        count_row(s, rows.row(i));
    }
    return s;
}

} // namespace schedscope
