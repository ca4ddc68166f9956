#pragma once

#include "runtime/planner/capability_table.h"

#include <span>
#include <vector>

namespace schedscope {

/// The backends that one plan had to choose from, by its own numbers: those of the session are the union of all schedulers'.
class OwnBackends {
public:
    /// `own`: as recorded, in any order; none: all of the session's. Throws Error(input) where a place is missing or there twice.
    OwnBackends(const SessionInfo& session, std::span<const record::PlanBackend> own);

    /// Are they numbered as the session's?
    bool are_all(const SessionInfo& session) const;
    const std::vector<BackendId>& order() const noexcept { return order_; } ///< [place] the session's number
    BackendId in_session(BackendId own) const { return own == no_backend ? no_backend : order_[own]; }
    BackendId own(BackendId of_session) const; ///< none: the plan did not have it

    /// The three things that name backends, by the plan's own numbers. Where a buffer type was said, it is the default there.
    SessionInfo session(const SessionInfo& session) const;
    CapabilityTable answers(const CapabilityTable& all) const;
    void renumber(OwnedGraph& graph) const; ///< who is pinned to a backend that the plan does not have, is pinned no more
    /// And back: backends of a record that was made with the plan's numbers.
    void to_session(Fact& fact) const;

private:
    std::vector<BackendId> order_;
    std::vector<BufferTypeId> types_; ///< [place] none: the backend's default
};

} // namespace schedscope
