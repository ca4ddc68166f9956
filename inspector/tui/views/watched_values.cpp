#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/histogram.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/values.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/values.h"
#include "traces/history/words/words.h"
#include "viz/tables/values.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {
namespace {

/// What the watched tensors held in this evaluation, up to this step; above, how the elements of the selected one are spread; on
/// the right, all that is known of it, and what it held in the evaluations before.
class WatchedValues final : public View {
public:
    explicit WatchedValues(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override { table_.update(session.state()); }

    std::string title(const InspectorSession&) const override {
        return n_rows() == 0 ? "values" : joined({"values ", words::count(n_rows())});
    }
    Drawing* drawing() override { return &histogram_; }

    int row_of(const InspectorSession&, TensorId id) const override {
        const auto& rows = table_.rows();
        const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const accounts::ValueRow& r) { return r.id == id; });
        return found == rows.rend() ? -1 : int_of(rows.rend() - found) - 1;
    }
    TensorId tensor_of(const InspectorSession&, int row) const override { return at(row).id; }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const bool of_values = std::holds_alternative<record::Value>(fact) ||
                               std::holds_alternative<record::ValueElement>(fact) ||
                               std::holds_alternative<record::ValueBucket>(fact);
        return of_values && subject(fact) == at(row).id && row_of(session, at(row).id) == row;
    }

    std::string detail_title(InspectorSession&, int row) const override { return at(row).tensor; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const accounts::ValueRow& r = at(row);
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

private:
    const accounts::ValueRow& at(int row) const { return table_.rows()[row]; }

    tables::ValuesTable table_;
    Histogram histogram_{table_.rows()};
};

} // namespace

std::unique_ptr<View> make_watched_values(InspectorSession& session) { return std::make_unique<WatchedValues>(session); }

} // namespace schedscope::tui
