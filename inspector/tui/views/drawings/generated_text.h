#pragma once

#include "inspector/tui/views/drawings/drawing.h"

#include <map>
#include <string>
#include <vector>

namespace schedscope::tui {

/// What each sequence has generated up to this step, the present evaluation's part marked; "…" where tokens are not recorded.
class GeneratedText final : public Drawing {
public:
    /// Looks at each token of the trace once, those after the present step not yet.
    void update(InspectorSession& session);

    int rows(InspectorSession& session, int body_rows, int width) const override;
    std::string title(const InspectorSession&) const override { return "generated"; }
    std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) override;
    int row_at(int, int) const override { return -1; }

private:
    struct Piece {
        Step step;
        EvaluationId evaluation;
        int32_t position;
        std::string text;
    };
    std::map<int32_t, std::vector<Piece>> sequences_; ///< none is empty
    Step read_ = no_step;                             ///< those up to here are known
};

} // namespace schedscope::tui
