#pragma once

#include "runtime/planner/device_profile.h"

#include <string>
#include <vector>

namespace schedscope {

/// What of a question decides its answer, as texts to compare.
///
/// exact: all that a device is told. form: the same whatever the size: operator, kind (of a UNARY, a GLU, a ROPE, …), which
/// sources there are, and of each tensor its type and layout. Layout is the order of the dimensions in memory, and whether there
/// are gaps. operation: of what computes nothing, leafs and views, the operator alone; else empty.
struct OpForm {
    std::string exact, form, operation;
    std::vector<float> sizes; ///< logarithms of all extents, in order

    /// Throws nothing; what is not known of a tensor stands as such.
    explicit OpForm(const OpQuestion& question);
};

/// How far two questions of one form lie apart.
float distance(const OpForm& a, const OpForm& b);

/// "MUL_MAT of q4_0 and f32", for sentences.
std::string words_of(const OpQuestion& question);

} // namespace schedscope
