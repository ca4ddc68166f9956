#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/histogram.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/values.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {
namespace {

/// What the watched tensors held in this evaluation, up to this step; above, how the elements of the selected one are spread; on the right, all that is
/// known of it, and what it held in the evaluations before.
class WatchedValues final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        columns_ = {{"name", 0, false, 0},
                    {"backend", backend_width(session), false, 60},
                    {"min", 9, true, 0, Field::count, 13},
                    {"max", 9, true, 0, Field::count, 13},
                    {"mean", 9, true, 66, Field::count, 13},
                    {"norm", 9, true, 78, Field::count, 13},
                    {"not finite", 10, true, 90},
                    {"spread", record::n_value_buckets, false, 126}};
        const PlanState& state = session.state();
        if (state.evaluation != of_ || state.values.size() != rows_.size() || session.step() != at_step_) {
            of_ = state.evaluation;
            at_step_ = session.step();
            rows_.clear();
            for (const ValueState& value : state.values) {
                rows_.push_back(tables::value_row(session.history(), value, session.step()));
            }
        }
    }

    int n_rows() const override { return n_of(rows_); }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const tables::ValueRow& r = at(index);
        const record::Value& v = r.value;
        const int64_t bad_ones = v.n_nan + v.n_inf;
        return {{r.tensor},
                backend_text(session, backend_of(session, r.id)),
                {words::number(v.min)},
                {words::number(v.max)},
                {words::number(v.mean)},
                {words::number(v.norm)},
                {bad_ones == 0 ? "" : words::count(bad_ones), warning},
                {words::bars(r.histogram), dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const record::Value& v = at(row).value;
        const std::string_view title = columns_[column].title;
        for (const auto& [name, number] :
             {std::pair{"min", v.min}, std::pair{"max", v.max}, std::pair{"mean", v.mean}, std::pair{"norm", v.norm}}) {
            if (title == name) {
                return number;
            }
        }
        if (title == "not finite") {
            return v.n_nan + v.n_inf;
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.step() == no_step
                   ? "nothing is recorded yet"
                   : "no tensor was watched in this evaluation up to this step: `run`, `record` and `inspect -m` "
                     "record the values of those that --watch PATTERN names; `verify --record` compares two backends";
    }
    std::string title(const InspectorSession&) const override {
        return rows_.empty() ? "values" : joined({"values ", std::to_string(rows_.size())});
    }
    Drawing* drawing() override { return &histogram_; }

    int row_of(const InspectorSession&, TensorId id) const override {
        const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const tables::ValueRow& r) { return r.id == id; });
        return found == rows_.rend() ? -1 : int_of(rows_.rend() - found) - 1;
    }
    TensorId tensor_of(const InspectorSession&, int row) const override { return at(row).id; }
    TensorId own_tensor(const InspectorSession& session, int row) const override { return tensor_of(session, row); }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const bool of_values = std::holds_alternative<record::Value>(fact) ||
                               std::holds_alternative<record::ValueElement>(fact) ||
                               std::holds_alternative<record::ValueBucket>(fact);
        return of_values && subject(fact) == at(row).id && row_of(session, at(row).id) == row;
    }

    std::string detail_title(InspectorSession&, int row) const override { return at(row).tensor; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const tables::ValueRow& r = at(row);
        const record::Value& v = r.value;
        std::vector<Line> lines;
        add_wrapped(lines, width, "range", 8, joined({words::number(v.min), " … ", words::number(v.max)}));
        add_wrapped(lines, width, "mean", 8, words::number(v.mean));
        add_wrapped(lines, width, "norm", 8, words::number(v.norm));
        add_wrapped(lines, width, "finite", 8,
                    joined({words::count(v.n_elements - v.n_nan - v.n_inf), " of ", words::count(v.n_elements)}));
        if (v.n_nan + v.n_inf > 0) {
            add_wrapped(lines, width, "", 8, joined({words::count(v.n_nan), " NaN, ", words::count(v.n_inf), " infinite"}),
                        warning);
        }
        add_first_elements(lines, width, r.first);
        add_evaluations_before<record::Value>(session, lines, r.id, width, [](const record::Value& then) {
            return std::optional(
                Text{joined({words::number(then.min), " … ", words::number(then.max), ", mean ", words::number(then.mean)})});
        });
        lines.push_back({});
        add_tensor_detail(lines, session, r.id, width, false);
        return lines;
    }

    Target open(InspectorSession&, int row) const override { return Target::tensor(at(row).id); }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        session.describer().tensor(session.state(), at(row).id, facts);
    }

private:
    const tables::ValueRow& at(int row) const { return rows_[row]; }
    static BackendId backend_of(const InspectorSession& session, TensorId id) {
        const auto& tensors = session.state().tensors;
        return is_index(id, tensors) ? tensors[id].backend : no_backend;
    }

    std::vector<tables::ValueRow> rows_;
    Histogram histogram_{rows_};
    EvaluationId of_ = -1;
    Step at_step_ = no_step;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_watched_values() { return std::make_unique<WatchedValues>(); }

} // namespace schedscope::tui
