#pragma once

#include "runtime/context/generate.h"

#include <optional>
#include <string>
#include <vector>

namespace schedscope {

/// A node that was computed on both backends from the same inputs.
struct NodeCheck {
    int32_t evaluation = 0; ///< in the order they ran, from 0
    TensorId id = no_tensor;
    std::string node, op; ///< name; "MUL_MAT"
    double nmse = 0;      ///< see compare.h; infinite: where `why` says so, or nothing of the reference is there to measure by
    double tolerance = 0; ///< see tolerance.h
    std::string why;      ///< "NaN differs"; empty: the error says it all
    bool beyond() const noexcept { return !(nmse <= tolerance); }
};
/// A node that was not compared.
struct NodeSkipped {
    int32_t evaluation = 0;
    TensorId id = no_tensor;
    std::string node, op, why;
};
struct Verification {
    std::vector<NodeCheck> checks; ///< in the order they ran; views compute nothing and are in neither list
    std::vector<NodeSkipped> skipped;
    size_t n_beyond = 0;
    std::optional<size_t> first_beyond; ///< index in checks
    std::string ended_by; ///< why the generation ended before its time, after nodes beyond their tolerance; empty: it did not
};

/// Generates with the reference's session, and computes each node that its first backend runs on `checked` as well, with the values that the
/// reference produced as inputs: so each error is that of one node. Throws as generate does,
/// unless some node is beyond its tolerance: then that is the answer.
Verification verify(Session& reference, Device& checked, const GenerateRequest& request);

} // namespace schedscope
