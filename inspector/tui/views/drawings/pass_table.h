#pragma once

#include "inspector/tui/views/drawings/drawing.h"
#include "traces/history/accounts/passes.h"

#include <map>
#include <vector>

namespace schedscope::tui {

/// The passes side by side: how many leafs and nodes have a backend after each, how many assignments it made, how long it took.
/// Those that are not over at the session's step are dots.
class PassTable final : public Drawing {
public:
    void update(InspectorSession& session);

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession& session) const override;
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int, int) const override { return -1; }

private:
    std::vector<accounts::PassRow> passes_;
    EvaluationId planned_ = -1;                                   ///< whose passes they are
    std::map<EvaluationId, std::vector<accounts::PassRow>> kept_; ///< of complete evaluations: nothing comes to them
};

} // namespace schedscope::tui
