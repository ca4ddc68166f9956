#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/error_chart.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/values.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {
namespace {

/// The rows of a state: its differences in the order they were recorded, with the values of watched nodes, which lie before them.
class RowMaker {
public:
    RowMaker(InspectorSession& session, std::vector<ComparedRow>& rows)
        : history_(session.history()), until_(session.step()), rows_(rows) {}

    void make(const PlanState& state) {
        rows_.clear();
        auto value = state.values.begin();
        for (const DifferenceState& d : state.differences) {
            for (; value != state.values.end() && value->step < d.step; ++value) {
                add(*value);
            }
            add(d);
        }
        for (; value != state.values.end(); ++value) {
            add(*value);
        }
    }

private:
    void add(const ValueState& state) {
        tables::ValueRow value = tables::value_row(history_, state, until_);
        if (rows_.empty() || rows_.back().id != value.id || rows_.back().difference.step != no_step) {
            rows_.emplace_back();
            rows_.back().id = value.id;
            rows_.back().name = value.tensor;
        }
        (state.value.device == 0 ? rows_.back().reference : rows_.back().device) = std::move(value);
    }
    void add(const DifferenceState& state) {
        if (rows_.empty() || rows_.back().id != state.difference.tensor || rows_.back().difference.step != no_step) {
            rows_.emplace_back();
            rows_.back().id = state.difference.tensor;
        }
        rows_.back().difference = tables::difference_row(history_, state);
        rows_.back().name = rows_.back().difference.tensor;
    }

    History& history_;
    Step until_;
    std::vector<ComparedRow>& rows_;
};

/// Values on two backends: of each node that was compared the error, in evaluation order, up to this step; above, all errors beside what is tolerated; on the
/// right, where they differ most, and what both backends held if the node was watched.
class ComparedValues final : public View {
public:
    std::span<const Column> columns() const override {
        static constexpr Column list[] = {
            {"name", 0, false, 0},      {"op", 10, false, 76, Field::count, 16},    {"nmse", 8, true, 0, Field::error, 10},
            {"tolerated", 9, true, 58}, {"largest", 8, true, 66, Field::count, 10}, {"at", 12, false, 96, Field::count, 20},
            {"verdict", 8, false, 0},
        };
        return list;
    }

    void update(InspectorSession& session) override {
        RowMaker(session, rows_).make(session.state());
        if (const Step last = session.last_step(); last != counted_to_) {
            counted_to_ = last;
            count_ = tables::count_differences(session.history().source(), last);
        }
    }

    int n_rows() const override { return n_of(rows_); }

    std::vector<Text> row(InspectorSession&, int index, int) const override {
        const ComparedRow& r = at(index);
        const record::Difference& d = r.difference.difference;
        if (r.difference.step == no_step) {
            return {{r.name}, {}, {}, {}, {}, {}, {"watched", dim}};
        }
        const bool differs = d.element >= 0;
        const Style style = d.beyond ? bad : Style{};
        return {{r.name, style},
                {r.difference.op, dim},
                {d.compared ? words::rough(d.nmse) : "", style},
                {d.compared ? words::rough(d.tolerance) : "", dim},
                {differs && !std::isnan(d.max_error) ? words::rough(d.max_error) : ""},
                {differs ? words::place(d.element, r.difference.ne) : ""},
                {(is_first(r) ? "▸" : "") + std::string(words::verdict(d)), d.beyond ? bad : dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const record::Difference& d = at(row).difference.difference;
        const std::string_view title = columns()[column].title;
        if (title == "tolerated") {
            return d.compared ? std::optional(d.tolerance) : std::nullopt;
        }
        if (title == "largest") {
            return d.element >= 0 && !std::isnan(d.max_error) ? std::optional(d.max_error) : std::nullopt;
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession&) const override {
        return "nothing was compared in this evaluation up to this step (t goes on to its token, behind what is compared)";
    }
    std::string title(const InspectorSession&) const override {
        return joined({"values ", words::count(rows_.size()), ", ",
                       count_.compared == 0 ? "none compared"
                       : count_.beyond == 0 ? "none beyond in all"
                                            : joined({words::count(count_.beyond), " beyond in all"})});
    }
    Drawing* drawing() override { return &chart_; }

    int row_of(const InspectorSession&, TensorId id) const override {
        const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const ComparedRow& r) { return r.id == id; });
        return found == rows_.rend() ? -1 : int_of(rows_.rend() - found) - 1;
    }
    TensorId tensor_of(const InspectorSession&, int row) const override { return at(row).id; }
    TensorId own_tensor(const InspectorSession& session, int row) const override { return tensor_of(session, row); }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const FactSet kinds = fact_set<record::Value, record::ValueElement, record::ValueBucket, record::Difference>();
        return (fact_bit(fact) & kinds) != 0 && subject(fact) == at(row).id && row_of(session, at(row).id) == row;
    }

    std::string detail_title(InspectorSession&, int row) const override { return at(row).name; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const ComparedRow& r = at(row);
        std::vector<Line> lines;
        if (r.difference.step != no_step) {
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

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const ComparedRow& r = at(row);
        session.describer().tensor(session.state(), r.id, facts);
        if (r.difference.step != no_step) {
            facts.set(Field::why, words::verdict(r.difference.difference));
            facts.set(Field::error, r.difference.difference.nmse);
            facts.set(Field::step, r.difference.step);
        }
    }

private:
    const ComparedRow& at(int row) const { return rows_[row]; }
    bool is_first(const ComparedRow& r) const { return r.difference.step != no_step && r.difference.step == count_.first_beyond; }

    static void add_difference(std::vector<Line>& lines, const ComparedRow& r, int width, bool now) {
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
    void add_first(InspectorSession& session, std::vector<Line>& lines, const ComparedRow& r, int width) const {
        if (count_.first_beyond == no_step) {
            return;
        }
        if (is_first(r)) {
            add_wrapped(lines, width, "▸", 9, "the first one beyond tolerance in this run", bad);
            return;
        }
        const Record first = session.history().record(count_.first_beyond);
        add_wrapped(lines, width, "▸", 9,
                    joined({"the first beyond: ", session.history().tensor_name_at(first.step, subject(first.fact)),
                            " in evaluation ", std::to_string(first.evaluation)}),
                    dim, Target::step(first.step));
    }

    static void add_values(std::vector<Line>& lines, const ComparedRow& r, int width) {
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
            const auto who = [&](const tables::ValueRow& v) { return v.device.empty() ? r.difference.names.backend : v.device; };
            line_of("", who, bold);
        }
        line_of("min", [](const tables::ValueRow& v) { return words::number(v.value.min); });
        line_of("max", [](const tables::ValueRow& v) { return words::number(v.value.max); });
        line_of("mean", [](const tables::ValueRow& v) { return words::number(v.value.mean); });
        line_of("norm", [](const tables::ValueRow& v) { return words::number(v.value.norm); });
        const auto bad_ones = [](const tables::ValueRow& v) { return v.value.n_nan + v.value.n_inf; };
        if ((r.device && bad_ones(*r.device) > 0) || (r.reference && bad_ones(*r.reference) > 0)) {
            line_of(
                "NaN", [](const tables::ValueRow& v) { return words::count(v.value.n_nan); }, warning);
            line_of(
                "infinite", [](const tables::ValueRow& v) { return words::count(v.value.n_inf); }, warning);
        }
        const size_t n_first = std::max(r.device ? r.device->first.size() : 0, r.reference ? r.reference->first.size() : 0);
        for (size_t i = 0; i < n_first; ++i) {
            line_of(("[" + std::to_string(i) + "]").c_str(),
                    [i](const tables::ValueRow& v) { return i < v.first.size() ? words::exact(v.first[i]) : std::string(); });
        }
        for (const auto* v : {r.device ? &*r.device : nullptr, r.reference ? &*r.reference : nullptr}) {
            if (v != nullptr) {
                add_wrapped(lines, width, "spread", label, "▕" + words::bars(v->histogram) + "▏");
            }
        }
    }

    std::vector<ComparedRow> rows_;
    ErrorChart chart_{rows_};
    tables::DifferenceCount count_;
    Step counted_to_ = no_step; ///< the last step that `count_` knows of
};

} // namespace

std::unique_ptr<View> make_compared_values() { return std::make_unique<ComparedValues>(); }

} // namespace schedscope::tui
