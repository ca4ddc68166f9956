#pragma once

#include "runtime/scheduler/watch.h"
#include "viz/query/query.h"

#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// The patterns of --watch, in the language of the inspector's searches: a tensor is watched when one of them matches it. What is
/// not known of a tensor before it runs (its time, the pass that decided …) can't be asked about.
class WatchPatterns final : public Watcher {
public:
    /// Throws Error(usage) for a pattern that can't be understood.
    explicit WatchPatterns(const std::vector<std::string>& patterns);

    void check_backends(std::span<const std::string_view> names) const override;
    bool wants(const WatchCandidate& candidate) override;
    void check_found() const override;

private:
    struct WatchPattern {
        query::Query query;
        bool found = false;
    };
    std::vector<WatchPattern> patterns_;
    query::Facts facts_;
};

} // namespace schedscope
