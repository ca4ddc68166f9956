#pragma once

#include "runtime/planner/recorder.h"

#include <map>
#include <string>
#include <vector>

namespace schedscope::test {

/// Keeps all that is recorded in memory, with the texts behind their numbers. Graphs are not kept.
class Notebook : public Recorder {
public:
    void session(const SessionInfo& info) override { info_ = info; }
    void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
    StringId intern(std::string_view text) override {
        const auto [at, added] = numbers_.try_emplace(std::string(text), static_cast<StringId>(texts.size()));
        if (added) {
            texts.emplace_back(text);
        }
        return at->second;
    }
    void keep(const Record& record) override { records.push_back(record); }

    const SessionInfo& info() const noexcept { return info_; }
    const std::string& text(StringId id) const { return texts.at(static_cast<size_t>(id)); }
    /// The facts of one kind, in their order.
    template <typename T> std::vector<T> all() const {
        std::vector<T> found;
        for (const Record& r : records) {
            if (const T* fact = std::get_if<T>(&r.fact)) {
                found.push_back(*fact);
            }
        }
        return found;
    }

    std::vector<Record> records;
    std::vector<std::string> texts{""}; ///< by number; 0 is the empty one

protected:
    SessionInfo info_;

private:
    std::map<std::string, StringId> numbers_{{"", 0}};
};

} // namespace schedscope::test
