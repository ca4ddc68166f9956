#pragma once

#include "runtime/planner/recorder.h"
#include "traces/format/interner.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace schedscope {

/// Prints the values of watched tensors as they come, a line each, and keeps nothing: for a run that is not recorded.
class ValuePrinter final : public Recorder {
public:
    explicit ValuePrinter(std::ostream& out) : out_(out) {}

    void session(const SessionInfo&) override {}
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override { return texts_.intern(text); }
    void keep(const Record& record) override;

private:
    std::ostream& out_;
    Interner texts_;
    std::vector<std::string> names_; ///< of the graph that was planned last, by id
};

} // namespace schedscope
