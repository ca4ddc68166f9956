#pragma once

#include "runtime/planner/graph_view.h"
#include "runtime/planner/records.h"
#include "traces/import/stream/stream_layout.h"

#include <map>

namespace schedscope::import {

/// What a stream says of the whole trace: backends, buffer types, facts.
class StreamSession {
public:
    StreamSession();
    /// False: the record is of no kind that speaks of that. Throws Damage.
    /// `unknown`: gets its words that stand for nothing here.
    bool take(const StreamFields& f, UnknownWords& unknown);
    /// A tensor's words that this build does not have. Throws Damage.
    void add_words(const ForeignWords& words);
    /// Behind the records of a block. True: something but facts changed since. Throws Damage where ids lead nowhere; `info`
    /// is then as it was before that block.
    bool settle();
    void set_knowledge(const Knowledge& knows) { info_.knows = said_.knows = knows; }
    const SessionInfo& info() const noexcept { return info_; } ///< but for the facts
    const std::vector<std::pair<std::string, std::string>>& facts() const noexcept { return said_.facts; }
    /// The settings are left out, because these of them never came; empty: they are there, or none came at all.
    std::vector<std::string> missing_settings() const;

private:
    void take_meta(const StreamFields& f);
    void take_settings(const StreamFields& f, UnknownWords& unknown);
    void say(const StreamFields& f, std::string_view name, std::string& text);

    SessionInfo info_, said_;                              ///< said_: with what came since
    std::map<std::string, size_t> fact_of_;                ///< index into the facts
    std::vector<std::pair<BackendId, BufferTypeId>> uses_; ///< that came since
    PlanSettings settings_;
    std::vector<std::string> settings_to_come_;
    bool has_settings_ = false; ///< one came
    bool changed_ = false;
    int64_t kept_bytes_ = 0; ///< of all that was given on
    int64_t text_bytes_ = 0; ///< that were said
};

} // namespace schedscope::import
