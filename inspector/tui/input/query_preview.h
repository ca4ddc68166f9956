#pragma once

#include "inspector/tui/panes/list_pane.h"

#include <optional>
#include <string>

namespace schedscope::tui {

/// What a filter or a search will do to the list, shown while it is typed; then the list is as it was. The functions say what the
/// text comes to.
class QueryPreview {
public:
    QueryPreview(const InspectorSession& session, ListPane& list) : session_(session), list_(list) {}

    void begin() { before_ = list_.kept(); }
    /// Only the lines that match.
    std::string filter(const std::string& text);
    /// The list goes to the first line that matches; the selection stays until the search is accepted.
    std::string search(const std::string& text);
    void end();

private:
    const InspectorSession& session_;
    ListPane& list_;
    std::optional<ListPane::Kept> before_; ///< between begin and end
};

} // namespace schedscope::tui
