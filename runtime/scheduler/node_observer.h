#pragma once

#include "runtime/planner/plan.h"

namespace schedscope {

struct Tensor;

/// Looks at each node of an evaluation just before and just after it is computed. While there is one, nodes are computed one by
/// one and unfused, and all work is complete when it is called: it may read every tensor that the node reads or writes. Views are
/// nodes, too.
class NodeObserver {
public:
    virtual ~NodeObserver() = default;
    virtual void begin_evaluation() = 0;
    virtual void before(const Tensor& node, BackendId backend) = 0;
    virtual void after(const Tensor& node, BackendId backend) = 0;
};

} // namespace schedscope
