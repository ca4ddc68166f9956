#pragma once

#include "runtime/session/generate.h"

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
    double max_error = 0; ///< the largest difference of two elements; NaN where `why` is not empty
    int64_t element = -1; ///< that differs most, see compare.h; −1: none differs
    double value = 0, expected = 0; ///< what the two backends have there
    Shape ne{1, 1, 1, 1};           ///< the node's
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

/// Generates with the reference's session, and computes each node that its first backend runs on `checked` as well, with the
/// values that the reference produced as inputs: so each error is that of one node. The session's recorder (if any) gets a
/// record::Difference for each node behind what is recorded of its run, and of a watched one the values that `checked` computed.
/// Once the request is stopped, nothing more is compared. Throws as generate does, unless some node is beyond its tolerance: then
/// that is the answer. Where a file was cut short there is none.
Verification verify(Session& reference, Device& checked, const GenerateRequest& request);

} // namespace schedscope
