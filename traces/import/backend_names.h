#pragma once

#include "runtime/planner/graph_view.h"
#include "traces/import/scheduler_line.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope::import {

/// The backends that a log speaks of. Split headers and device lines name them in full, node lines only by their first bytes.
class BackendNames {
public:
    void add_full(std::string_view name);
    void add_device(std::string_view name, std::string_view description); ///< "using device …", in order of priority
    void add_cut(const LoggedTensor& tensor); ///< from a node line; counts where nothing longer is known
    /// Puts them in order: devices as listed, others as they came, accelerators of the host behind them, the CPU last.
    void settle();

    const std::vector<std::string>& names() const noexcept { return names_; }
    std::string_view description(BackendId id) const;
    bool maybe_cut(BackendId id) const; ///< its name is known from node lines alone
    BackendId find(std::string_view full) const noexcept;
    /// The only backend whose name a node line would show so; none: there are several ("Vulka"), or the scheduler knew none
    /// ("NULL").
    BackendId resolve(const LoggedTensor& tensor) const noexcept;
    /// Would a node line show this backend so?
    bool shown_as(BackendId id, const LoggedTensor& tensor) const noexcept;

private:
    struct LoggedDevice {
        std::string name, description;
    };
    std::vector<std::string> full_;
    std::vector<LoggedDevice> devices_;
    std::vector<std::pair<std::string, uint8_t>> cut_; ///< and the width that it was cut to
    std::vector<std::string> names_;
    std::vector<uint8_t> maybe_cut_;
};

} // namespace schedscope::import
