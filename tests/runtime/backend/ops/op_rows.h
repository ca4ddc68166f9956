#pragma once

#include "tests/runtime/backend/ops/op_families.h"

#include <functional>

namespace schedscope::test {

// What operators on rows are tested with.

using Row = std::vector<double>;

struct RowPlace {
    int64_t i1, i2, i3;
};

/// Each row of source 0 to a row of the result. Returns true.
bool by_row(Operands& o, const std::function<Row(const Row&, RowPlace)>& f);

double total(const Row& x);
double mean(const Row& x);
double squares(const Row& x); ///< their sum
Row affine(Row x, double factor, double bias);
Row centred(const Row& x);

using Make = std::function<Tensor*(Graph&, Tensor*)>;

/// From one element to many rows.
const std::vector<Shape>& row_shapes();
/// Over those shapes; over views with gaps and permuted sources; of a transposed source.
void add_over_shapes(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low = -2,
                     float high = 3);
void add_over_layouts(std::vector<OpCase>& cases, Op op, const std::string& prefix, const Make& make, float low = -2,
                      float high = 3);
void add_transposed(std::vector<OpCase>& cases, Op op, const Make& make);

} // namespace schedscope::test
