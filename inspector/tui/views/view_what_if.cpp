#include "inspector/tui/background/comparison_sums.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// What-if and diff: every decision that is not the same when the trace is planned again with other settings, or in another trace; in two columns. Above, what
/// the plans come to.
class WhatIfView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        const auto& result = session.comparison().result();
        n_rows_ = result ? n_of(result->rows) : 0;
        left_ = result ? result->left : "recorded";
        right_ = result ? result->right : "changed";
        columns_ = {{"eval", 4, true, 64, Field::evaluation},
                    {"what", 10, false, 56},
                    {"name", 0, false, 0},
                    {left_, 13, false, 0, Field::count, 40},
                    {right_, 13, false, 0, Field::count, 40}};
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const Comparison::Row& r = at(session, index);
        return {{r.evaluation < 0 ? "-" : std::to_string(r.evaluation), dim},
                {r.what},
                {r.name},
                {r.left.empty() ? "-" : r.left},
                {r.right.empty() ? "-" : r.right, bold}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const Comparison::Row& r = at(session, row);
        if (column == left_column || column == right_column) {
            const auto& number = column == left_column ? r.left_number : r.right_number;
            return number ? std::optional(to_double(*number)) : std::nullopt;
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        const ComparisonRun& run = session.comparison();
        if (run.running()) {
            return "comparing …";
        }
        if (!run.result() && !run.error().empty()) {
            return run.error();
        }
        if (!run.result()) {
            const std::string diff = "\n:diff OTHER.trace puts another trace beside this one.";
            if (session.imported()) {
                return cannot_plan_again + ("." + diff);
            }
            return "w asks what would change. Settings are those of `replay --set`, with spaces between:\n"
                   "  ngl=20 refuse=vulkan0:SOFT_MAX device-order=vulkan0,cpu fa=off\n"
                   "  stages=4 op-offload=off offload-min-batch=1\n"
                   "None of them: the trace is planned again as recorded." +
                   diff;
        }
        const Comparison& c = *run.result();
        std::string text = "nothing changes: all " + counted(c.n_compared, "decision") + " come out the same";
        for (const std::string& why : c.nothing) {
            text += ". " + why;
        }
        return text;
    }
    std::string title(const InspectorSession& session) const override {
        const auto& result = session.comparison().result();
        return result ? joined({result->title, ": ", counted(result->n_differences, "difference")}) : "what if";
    }
    Drawing* drawing() override { return &sums_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto& result = session.comparison().result();
        if (!result || id == no_tensor) {
            return -1;
        }
        const auto found = std::find_if(result->rows.begin(), result->rows.end(), [&](const Comparison::Row& r) {
            return r.tensor == id && r.evaluation == session.state().planned_in;
        });
        return found == result->rows.end() ? -1 : int_of(found - result->rows.begin());
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override {
        const Comparison::Row& r = at(session, row);
        return r.evaluation == session.state().planned_in && session.row_of(r.tensor) >= 0 ? r.tensor : no_tensor;
    }
    TensorId own_tensor(const InspectorSession& session, int row) const override { return tensor_of(session, row); }
    bool changed(const InspectorSession&, int) const override { return false; }

    std::string detail_title(InspectorSession& session, int row) const override { return at(session, row).name; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Comparison& c = *session.comparison().result();
        const Comparison::Row& r = at(session, row);
        std::vector<Line> lines;
        const int label = std::min(std::max(text_width(c.left), text_width(c.right)) + 1, 14);
        add_wrapped(lines, width, "what", label,
                    r.what + (r.evaluation < 0 ? std::string() : " in evaluation " + std::to_string(r.evaluation)), {},
                    r.evaluation < 0 ? Target{} : Target::evaluation(r.evaluation));
        add_wrapped(lines, width, c.left, label, r.left.empty() ? "nothing" : r.left);
        add_wrapped(lines, width, c.right, label, r.right.empty() ? "nothing" : r.right, bold);
        if (!r.note.empty()) {
            add_wrapped(lines, width, "", label, r.note);
        }
        for (const Comparison::ComparedPlan& plan : c.plans) {
            add_heading(lines, plan.title);
            for (const Comparison::Figure& figure : plan.figures) {
                add_wrapped(lines, width, figure.name, std::min(24, width / 2),
                            figure.differs()
                                ? (figure.left.empty() ? "-" : figure.left) + " → " + (figure.right.empty() ? "-" : figure.right)
                                : figure.left,
                            figure.differs() ? bold : dim, Target::evaluation(plan.evaluation));
            }
        }
        if (const TensorId id = tensor_of(session, row); id != no_tensor) {
            add_heading(lines, "as recorded");
            add_tensor_detail(lines, session, id, width);
        }
        return lines;
    }

    Target open(InspectorSession& session, int row) const override {
        const TensorId id = tensor_of(session, row);
        return id != no_tensor                   ? Target::tensor(id)
               : at(session, row).evaluation < 0 ? Target{}
                                                 : Target::evaluation(at(session, row).evaluation);
    }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const Comparison::Row& r = at(session, row);
        facts.clear();
        facts.set(Field::name, r.name);
        facts.set(Field::kind, r.what);
        facts.set(Field::from, r.left);
        facts.set(Field::backend, r.right);
        facts.set_known(Field::evaluation, r.evaluation);
    }

private:
    static constexpr size_t left_column = 3, right_column = 4;
    static const Comparison::Row& at(const InspectorSession& session, int row) {
        return session.comparison().result()->rows[row];
    }

    int n_rows_ = 0;
    std::string left_, right_; ///< heads of the columns
    ComparisonSums sums_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_what_if_view() { return std::make_unique<WhatIfView>(); }

} // namespace schedscope::tui
