#include "inspector/cli/run/deferred_session.h"

#include <utility>

namespace schedscope {

void DeferredSession::session(const SessionInfo& info) {
    if (begun_) {
        behind_.session(info);
    } else {
        waiting_ = info;
    }
}

void DeferredSession::begin() {
    if (const auto info = std::exchange(waiting_, std::nullopt)) {
        begun_ = true;
        behind_.session(*info);
    }
}

void DeferredSession::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    begin();
    behind_.graph(id, graph, answers);
}

void DeferredSession::keep(const Record& record) {
    begin();
    behind_.keep(record);
}

void DeferredSession::keep_part(const PartRecord& record) {
    begin();
    behind_.keep_part(record);
}

} // namespace schedscope
