#pragma once

#include "runtime/backend/device.h"
#include "tests/runtime/backend/ops/op_cases.h"

#include <cstddef>
#include <string>
#include <vector>

namespace schedscope::test {

/// Largest Σ(result − expected)² / Σ expected² by what a node works on. Integers must be equal.
struct Tolerances {
    double f32 = 1e-7;
    double half = 1e-5;      ///< a source or the result is F16 or BF16
    double quantised = 5e-4; ///< blocks: expected are the same blocks expanded, times the same floats
};

/// A case with memory: its leafs filled, and what must be there when it has been computed.
class PreparedCase {
public:
    explicit PreparedCase(const OpCase& c);
    /// Moves the last node onto one of its sources, as plans do where nothing else reads that. False if their layouts differ or
    /// the source is no leaf.
    bool run_in_place_of(size_t source);

    Graph& graph() noexcept { return graph_; }
    /// Moves the last node onto a leaf of its type and layout, which nothing else reads when that is written.
    void run_in_place_of(const Tensor& leaf);

    /// Gives all tensors a place in one buffer of the type, with the leafs' data in it.
    void load(const BufferType& type);
    /// The differences between the buffer and what must be in it, one line each; empty: none. Bytes outside of results must be
    /// untouched.
    std::string compare(const Tolerances& tolerances);
    /// The same for nodes that ran as one kernel: only the last one's result may have been written.
    std::string compare_last(const Tolerances& tolerances);

private:
    std::string compare_from(size_t first, const Tolerances& tolerances);
    void expect(); ///< fills expected_ from before_, once it is asked for
    std::string compare_node(const Tensor& node, std::span<const std::byte> found, const Tolerances& tolerances) const;

    Graph graph_;
    size_t alignment_ = 256;
    std::vector<std::byte> before_, expected_; ///< the buffer's bytes before and after
    std::unique_ptr<Buffer> buffer_;
};

enum class Verdict { right, wrong, refused };
struct Outcome {
    Verdict verdict = Verdict::right;
    std::string why; ///< what differs, or the refusal
};

/// Asks the device; if it takes every node, computes the case on the backend and compares.
Outcome check_case(Backend& backend, PreparedCase& prepared, const Tolerances& tolerances = {});
Outcome check_case(Backend& backend, const OpCase& c, const Tolerances& tolerances = {});

} // namespace schedscope::test
