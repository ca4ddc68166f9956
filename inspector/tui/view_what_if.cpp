#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// What-if: every decision that comes out differently when the trace is planned again with other settings.
class WhatIfView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        const auto& result = session.what_if().result();
        n_rows_ = result ? static_cast<int>(result->differences.size()) : 0;
        columns_ = {{"eval", 4, true, 60},
                    {"what", 10, false, 0},
                    {"name", 0, false, 0},
                    {"recorded", 12, false, 0},
                    {"now", 12, false, 0}};
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(Session& session, int index, int) const override {
        const ReplayDifference& d = at(session, index);
        return {{std::to_string(d.evaluation), dim},
                {d.what},
                {d.name},
                {d.recorded.empty() ? "-" : d.recorded},
                {d.now.empty() ? "-" : d.now, bold}};
    }

    std::string empty_text(const Session& session) const override {
        const WhatIfRun& run = session.what_if();
        if (run.running())
            return "planning again …";
        if (!run.error().empty())
            return run.error();
        if (!run.result())
            return "w asks what would change: settings as `replay --set` takes them, with spaces between, e.g. ngl=20 "
                   "refuse=vulkan0:SOFT_MAX "
                   "device-order=vulkan0,cpu fa=off stages=4 op-offload=off offload-min-batch=1; none plans again as recorded";
        return "nothing: all " + counted(run.result()->compared, "decision") + " of " + counted(run.result()->plans, "plan") +
               " come out the same";
    }
    std::string title(const Session& session) const override {
        const WhatIfRun& run = session.what_if();
        if (!run.result())
            return "what if";
        return joined({"what if ", run.settings().empty() ? "planned again" : run.settings(), ": ",
                       counted(run.result()->n_differences, "difference")});
    }

    int row_of(const Session& session, TensorId id) const override {
        const auto& result = session.what_if().result();
        if (!result || id == no_tensor)
            return -1;
        const auto end = result->differences.begin() + n_rows_;
        const auto found = std::find_if(result->differences.begin(), end, [&](const ReplayDifference& d) {
            return d.tensor == id && d.evaluation == session.state().planned_in;
        });
        return found == end ? -1 : static_cast<int>(found - result->differences.begin());
    }
    TensorId tensor_of(const Session& session, int row) const override {
        const ReplayDifference& d = at(session, row);
        return d.evaluation == session.state().planned_in && session.row_of(d.tensor) >= 0 ? d.tensor : no_tensor;
    }
    bool changed(const Session&, int) const override { return false; }

    std::string detail_title(Session& session, int row) const override { return at(session, row).name; }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const ReplayDifference& d = at(session, row);
        std::vector<Line> lines;
        add_wrapped(lines, width, "what", 9, d.what + " in evaluation " + std::to_string(d.evaluation), {},
                    Target::evaluation(d.evaluation));
        add_wrapped(lines, width, "recorded", 9, d.recorded.empty() ? "-" : d.recorded);
        add_wrapped(lines, width, "now", 9, d.now.empty() ? "-" : d.now, bold);
        if (const TensorId id = tensor_of(session, row); id != no_tensor) {
            add_heading(lines, "as recorded");
            const std::vector<Line> all = tensor_detail(session, id, width);
            lines.insert(lines.end(), all.begin(), all.end());
        }
        return lines;
    }

    Target open(Session& session, int row) const override {
        const TensorId id = tensor_of(session, row);
        return id != no_tensor ? Target::tensor(id) : Target::evaluation(at(session, row).evaluation);
    }

    void facts(Session& session, int row, Facts& facts) const override {
        const ReplayDifference& d = at(session, row);
        facts.clear();
        facts.set(Field::name, d.name);
        facts.set(Field::kind, d.what);
        facts.set(Field::from, d.recorded);
        facts.set(Field::backend, d.now);
        facts.set(Field::evaluation, d.evaluation);
    }

private:
    static const ReplayDifference& at(const Session& session, int row) {
        return session.what_if().result()->differences[static_cast<size_t>(row)];
    }

    int n_rows_ = 0;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_what_if_view() { return std::make_unique<WhatIfView>(); }

} // namespace schedscope::tui
