#include "traces/store/tee.h"

#include "runtime/error.h"

#include <algorithm>

namespace schedscope {

TeeRecorder::TeeRecorder(std::initializer_list<Recorder*> parts) : parts_(parts) { attach_to(*this); }

void TeeRecorder::attach_to(Recorder& root) {
    for (Recorder* part : parts_) {
        part->attach_to(root);
    }
}

void TeeRecorder::session(const SessionInfo& info) {
    for (Recorder* part : parts_) {
        part->session(info);
    }
}

void TeeRecorder::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    for (Recorder* part : parts_) {
        part->graph(id, graph, answers);
    }
}

StringId TeeRecorder::intern(std::string_view text) {
    if (texts_.knows(text)) {
        return texts_.intern(text);
    }
    const StringId id = texts_.intern(text);
    for (Recorder* part : parts_) {
        if (part->intern(text) != id) {
            throw Error(ErrorKind::usage, "recording: a recorder that was used before can't share its records");
        }
    }
    return id;
}

/// Calls give(part) for each part, then gives them what parts added of their own.
template <typename Give> void TeeRecorder::deliver(const Give& give) {
    delivering_ = true;
    try {
        std::for_each(parts_.begin(), parts_.end(), give);
        for (size_t i = 0; i < postponed_.size(); ++i) {
            const Record next = postponed_[i]; // the list may grow meanwhile
            for (Recorder* part : parts_) {
                part->keep(next);
            }
        }
    } catch (...) {
        delivering_ = false;
        postponed_.clear();
        throw;
    }
    postponed_.clear();
    delivering_ = false;
}

void TeeRecorder::keep(const Record& record) {
    if (delivering_) { // a part adds a fact of its own: all parts get this record first
        postponed_.push_back(record);
    } else {
        deliver([&](Recorder* part) { part->keep(record); });
    }
}

void TeeRecorder::keep_part(const PartRecord& record) {
    deliver([&](Recorder* part) { part->keep_part(record); });
}

Recorder::Grain TeeRecorder::grain() const {
    Grain finest = Grain::graph;
    for (const Recorder* part : parts_) {
        finest = std::max(finest, part->grain());
    }
    return finest;
}

void TeeRecorder::flush() {
    for (Recorder* part : parts_) {
        part->flush();
    }
}

} // namespace schedscope
