#pragma once

#include "runtime/planner/recorder.h"
#include "traces/format/interner.h"

#include <initializer_list>
#include <vector>

namespace schedscope {

/// One recorder that feeds several: the same records with the same steps, the same numbers of texts. The parts are borrowed and
/// must be new: what they are given before would be numbered apart.
class TeeRecorder final : public Recorder {
public:
    TeeRecorder(std::initializer_list<Recorder*> parts);

    void session(const SessionInfo& info) override;
    void graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) override;
    StringId intern(std::string_view text) override;
    void keep(const Record& record) override;
    void keep_part(const PartRecord& record) override;
    Grain grain() const override; ///< the finest that a part asks for
    void flush() override;
    void attach_to(Recorder& root) override;

private:
    template <typename Give> void deliver(const Give& give);

    std::vector<Recorder*> parts_;
    Interner texts_;
    bool delivering_ = false;
    std::vector<Record> postponed_; ///< added by a part while another record was delivered
};

} // namespace schedscope
