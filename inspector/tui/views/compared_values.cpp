#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/error_chart.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/values.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/values.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {
namespace {

/// Values on two backends: of each node that was compared the error, in evaluation order, up to this step; above, all errors
/// beside what is tolerated; on the right, where they differ most, and what both backends held if the node was watched.
class ComparedValues final : public View {
public:
    explicit ComparedValues(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override { table_.update(session.state()); }

    std::string title(const InspectorSession&) const override {
        return joined({"values ", words::count(n_rows()), ", ",
                       table_.count().compared == 0 ? "none compared"
                       : table_.count().beyond == 0 ? "none beyond in all"
                                                    : joined({words::count(table_.count().beyond), " beyond in all"})});
    }
    Drawing* drawing() override { return &chart_; }

    int row_of(const InspectorSession&, TensorId id) const override {
        const auto& rows = table_.rows();
        const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const tables::ComparedRow& r) { return r.id == id; });
        return found == rows.rend() ? -1 : int_of(rows.rend() - found) - 1;
    }
    TensorId tensor_of(const InspectorSession&, int row) const override { return at(row).id; }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const FactSet kinds = fact_set<record::Value, record::ValueElement, record::ValueBucket, record::Difference>();
        return (fact_bit(fact) & kinds) != 0 && subject(fact) == at(row).id && row_of(session, at(row).id) == row;
    }

    std::string detail_title(InspectorSession&, int row) const override { return at(row).name; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const tables::ComparedRow& r = at(row);
        std::vector<Line> lines;
        if (r.is_difference()) {
            add_difference(lines, r, width, r.difference.step == session.step());
        }
        add_first(session, lines, r, width);
        add_values(lines, r, width);
        add_evaluations_before<record::Difference>(session, lines, r.id, width, [](const record::Difference& d) {
            return d.compared ? std::optional(
                                    Text{joined({words::verdict(d), ", nmse ", words::number(d.nmse)}), d.beyond ? bad : Style{}})
                              : std::nullopt;
        });
        lines.push_back({});
        add_tensor_detail(lines, session, r.id, width, false);
        return lines;
    }

    Target open(InspectorSession&, int row) const override { return Target::tensor(at(row).id); }

private:
    const tables::ComparedRow& at(int row) const { return table_.rows()[row]; }

    static void add_difference(std::vector<Line>& lines, const tables::ComparedRow& r, int width, bool now) {
        const record::Difference& d = r.difference.difference;
        const words::DifferenceNames& names = r.difference.names;
        if (!d.compared) {
            add_wrapped(lines, width, "skipped", 9, names.why, warning, {}, now);
            return;
        }
        const std::string both = joined({names.device, " against ", names.backend, d.element < 0 ? ", every element" : ""});
        add_wrapped(lines, width, words::verdict(d), 9, both, d.beyond ? bad : Style{}, {}, now);
        if (!names.why.empty()) {
            add_wrapped(lines, width, "why", 9, names.why, bad);
        } else {
            add_wrapped(lines, width, "nmse", 9, joined({words::number(d.nmse), ", tolerated ", words::number(d.tolerance)}));
        }
        if (d.element < 0) {
            return;
        }
        const std::string place = joined({"at ", words::place(d.element, r.difference.ne)});
        add_wrapped(lines, width, names.why.empty() ? "largest" : "first", 9,
                    names.why.empty() ? joined({words::number(d.max_error), " ", place}) : place);
        const int wide = std::max(text_width(names.device), text_width(names.backend)) + 2;
        add_wrapped(lines, width, "", 9, padded(names.device, wide) + words::exact(d.value));
        add_wrapped(lines, width, "", 9, padded(names.backend, wide) + words::exact(d.expected));
    }

    /// Where to look: at the first node of the run whose error no rounding explains.
    void add_first(InspectorSession& session, std::vector<Line>& lines, const tables::ComparedRow& r, int width) const {
        if (table_.count().first_beyond == no_step) {
            return;
        }
        if (table_.is_first(r)) {
            add_wrapped(lines, width, "▸", 9, "the first one beyond tolerance in this run", bad);
            return;
        }
        const Record first = session.history().record(table_.count().first_beyond);
        add_wrapped(lines, width, "▸", 9,
                    joined({"the first beyond: ", session.history().tensor_name_at(first.step, subject(first.fact)),
                            " in evaluation ", std::to_string(first.evaluation)}),
                    dim, Target::step(first.step));
    }

    static void add_values(std::vector<Line>& lines, const tables::ComparedRow& r, int width) {
        if (!r.reference && !r.device) {
            if (r.compared()) {
                add_wrapped(lines, width, "", 9, "statistics of both: verify --watch NAME", dim);
            }
            return;
        }
        constexpr int label = 9, column = 15;
        const auto line_of = [&](const char* name, auto&& text_of, Style style = {}) {
            Line l;
            l.parts.push_back({padded(name, label), dim});
            if (r.device) {
                l.parts.push_back({padded(text_of(*r.device), column), style});
            }
            if (r.reference) {
                l.parts.push_back({text_of(*r.reference), style});
            }
            lines.push_back(std::move(l));
        };
        add_heading(lines, "values");
        if (r.device) {
            const auto who = [&](const accounts::ValueRow& v) {
                return v.device.empty() ? r.difference.names.backend : v.device;
            };
            line_of("", who, bold);
        }
        line_of("min", [](const accounts::ValueRow& v) { return words::number(v.value.min); });
        line_of("max", [](const accounts::ValueRow& v) { return words::number(v.value.max); });
        line_of("mean", [](const accounts::ValueRow& v) { return words::number(v.value.mean); });
        line_of("norm", [](const accounts::ValueRow& v) { return words::number(v.value.norm); });
        const auto bad_ones = [](const accounts::ValueRow& v) { return v.value.n_nan + v.value.n_inf; };
        if ((r.device && bad_ones(*r.device) > 0) || (r.reference && bad_ones(*r.reference) > 0)) {
            line_of(
                "NaN", [](const accounts::ValueRow& v) { return words::count(v.value.n_nan); }, warning);
            line_of(
                "infinite", [](const accounts::ValueRow& v) { return words::count(v.value.n_inf); }, warning);
        }
        const size_t n_first = std::max(r.device ? r.device->first.size() : 0, r.reference ? r.reference->first.size() : 0);
        for (size_t i = 0; i < n_first; ++i) {
            line_of(("[" + std::to_string(i) + "]").c_str(),
                    [i](const accounts::ValueRow& v) { return i < v.first.size() ? words::exact(v.first[i]) : std::string(); });
        }
        for (const auto* v : {r.device ? &*r.device : nullptr, r.reference ? &*r.reference : nullptr}) {
            if (v != nullptr) {
                add_wrapped(lines, width, "spread", label, "▕" + words::bars(v->histogram) + "▏");
            }
        }
    }

    tables::DifferencesTable table_;
    ErrorChart chart_{table_.rows()};
};

} // namespace

std::unique_ptr<View> make_compared_values(InspectorSession& session) { return std::make_unique<ComparedValues>(session); }

} // namespace schedscope::tui
