#include "inspector/tui/background/comparison_sums.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <numeric>

namespace schedscope::tui {
namespace {

/// The decisions that differ, in two columns.
class DecisionsTable final : public tables::TableOf<DecisionsTable, const Comparison::Row*> {
public:
    DecisionsTable() : TableOf("differences") {}
    void update(const Comparison* comparison) {
        rows_.clear();
        left_ = comparison == nullptr ? "recorded" : comparison->left;
        right_ = comparison == nullptr ? "changed" : comparison->right;
        columns_[tables::column_of(*this, "left")].title = left_;
        columns_[tables::column_of(*this, "right")].title = right_;
        for (size_t i = 0; comparison != nullptr && i < comparison->rows.size(); ++i) {
            rows_.push_back(&comparison->rows[i]);
        }
    }
    static std::span<const Entry> entries() {
        using T = const DecisionsTable&;
        using R = const Comparison::Row* const&;
        const static auto said = [](const std::string& text, const std::optional<int64_t>& number) {
            const tables::Cell cell = text.empty() ? tables::Cell::nothing(not_there_text) : tables::Cell(text);
            return number ? tables::Cell(cell).ordered_by(to_double(*number)) : cell;
        };
        static const Entry list[] = {
            {{.key = "eval",
              .title = "eval",
              .help = "the evaluation",
              .unit = tables::Unit::number,
              .width = 4,
              .from_width = 40, // two evaluations often have the same rows
              .field = Field::evaluation,
              .tone = tables::Tone::quiet},
             [](T, R r) { return tables::Cell::from_zero(r->evaluation); }},
            {{.key = "what",
              .title = "what",
              .help = "the kind of decision",
              .width = 11,
              .from_width = 56, // else names and backends need its room; the details say it
              .field = Field::kind},
             [](T, R r) -> tables::Cell { return r->what; }},
            {{.key = "name", .title = "name", .help = "what it is about"}, [](T, R r) -> tables::Cell { return r->name; }},
            {{.key = "names", .help = "all of them that are told together", .field = Field::name},
             [](T, R r) -> tables::Cell { return r->names.empty() ? r->name : r->names; }},
            {{.key = "tensors",
              .title = "tensors",
              .help = "how many decisions are told together",
              .unit = tables::Unit::count,
              .width = 7,
              .from_width = 50},
             [](T, R r) { return tables::Cell(r->n); }},
            {{.key = "left",
              .title = "recorded",
              .help = "as it is on the one side",
              .width = 13,
              .least = 9,
              .most = 40,
              .field = Field::from},
             [](T, R r) { return said(r->left, r->left_number); }},
            {{.key = "right",
              .title = "changed",
              .help = "as it is on the other",
              .width = 16,
              .least = 9,
              .most = 40,
              .field = Field::backend,
              .tone = tables::Tone::strong},
             [](T, R r) { return said(r->right, r->right_number); }},
        };
        return list;
    }

private:
    std::string left_, right_; ///< heads of the columns
};

/// What-if and diff: every decision that is not the same in another trace, or when the trace is planned again with other
/// settings. Alike ones are folded, as `replay --set` folds them: the details have all of a row. In two columns. Above, what the
/// plans come to.
class WhatIfView final : public View {
public:
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        const auto& result = session.comparison().result();
        table_.update(result ? &*result : nullptr);
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
            if (const std::optional<std::string> why = session.why_no_what_if()) {
                return *why + "." + diff;
            }
            return "w asks what would change. Settings are those of `replay --set`, with spaces between:\n"
                   "  ngl=20 refuse=vulkan0:SOFT_MAX device-order=vulkan0,cpu fa=off\n"
                   "  stages=4 op-offload=off offload-min-batch=1\n"
                   "  ot=ffn_.*_exps=cpu ts=3,1 nkvo=on fusion=off\n"
                   "None of them: the trace is planned again as recorded." +
                   diff;
        }
        const Comparison& c = *run.result();
        const auto differs = [](const Comparison::Figure& figure) { return figure.differs() && !figure.verdict; };
        const bool differ = std::any_of(c.plans.begin(), c.plans.end(), [&](const Comparison::ComparedPlan& plan) {
            return std::any_of(plan.figures.begin(), plan.figures.end(), differs);
        });
        std::string text = (differ ? "no decision changes: all " : "nothing changes: all ") + counted(c.n_compared, "decision") +
                           " come out the same";
        for (const std::string& why : c.nothing) {
            text += ". " + why;
        }
        return text;
    }
    std::string title(const InspectorSession& session) const override {
        const auto& result = session.comparison().result();
        if (!result) {
            return "what if";
        }
        const int64_t told =
            std::accumulate(result->rows.begin(), result->rows.end(), int64_t{0}, [](int64_t n, const Comparison::Row& row) {
                return n + std::max<int64_t>(row.n, std::ssize(row.members));
            });
        const bool folded = result->n_differences > n_of(result->rows) && !result->rows.empty();
        const std::string where =
            folded ? (told < result->n_differences ? "; " : " in ") + counted(result->rows.size(), "row") : "";
        return joined({counted(result->n_differences, "difference"), where, ": ",
                       result->title}); // settings may be long, and are cut where they are
    }
    Drawing* drawing() override { return &sums_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto& result = session.comparison().result();
        if (!result || id == no_tensor) {
            return -1;
        }
        const auto found = std::find_if(result->rows.begin(), result->rows.end(), [&](const Comparison::Row& r) {
            return std::any_of(r.members.begin(), r.members.end(), [&](const Comparison::Member& member) {
                return member.tensor == id && member.evaluation == session.state().planned_in;
            });
        });
        return found == result->rows.end() ? -1 : int_of(found - result->rows.begin());
    }
    TensorId tensor_of(const InspectorSession& session, int row) const override { return session.member_here(at(session, row)); }
    TensorId own_tensor(const InspectorSession& session, int row) const override {
        return at(session, row).n == 1 ? tensor_of(session, row) : no_tensor;
    }
    bool changed(const InspectorSession&, int) const override { return false; }

    std::string detail_title(InspectorSession& session, int row) const override { return at(session, row).name; }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Comparison& c = *session.comparison().result();
        const Comparison::Row& r = at(session, row);
        std::vector<Line> lines;
        const int label = std::min(std::max(text_width(c.left), text_width(c.right)) + 1, 14);
        add_wrapped(lines, width, "what", label,
                    (r.n > 1 ? several(r.n, r.what) : r.what) + (!r.evaluations.empty() ? " in " + r.evaluations
                                                                 : r.evaluation < 0
                                                                     ? std::string()
                                                                     : " in evaluation " + std::to_string(r.evaluation)),
                    {}, r.evaluation < 0 ? Target{} : Target::evaluation(r.evaluation));
        add_wrapped(lines, width, c.left, label, r.left.empty() ? not_there_text : r.left);
        add_wrapped(lines, width, c.right, label, r.right.empty() ? not_there_text : r.right, bold);
        if (!r.note.empty()) {
            add_wrapped(lines, width, "", label, r.note);
        }
        const auto add_figures = [&](const std::string& title, const std::vector<Comparison::Figure>& figures, Target target) {
            if (!figures.empty()) {
                add_heading(lines, title);
            }
            for (const Comparison::Figure& figure : figures) {
                add_wrapped(lines, width, figure.name, std::min(24, width / 2),
                            figure.differs()
                                ? (figure.left.empty() ? "-" : figure.left) + " → " + (figure.right.empty() ? "-" : figure.right)
                                : figure.left,
                            figure.differs() ? bold : dim, target);
            }
        };
        const auto add_plans = [&](bool of_row) {
            for (const Comparison::ComparedPlan& plan : c.plans) {
                if ((plan.evaluation == r.evaluation) == of_row) {
                    add_figures(plan.title, plan.figures, Target::evaluation(plan.evaluation));
                }
            }
        };
        add_figures("settings", c.settings, {});
        add_plans(true);
        add_members(session, lines, r, width);
        add_plans(false);
        add_figures("settings that only one of them knows", c.one_sided, {});
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

private:
    /// "12 nodes", "3 passes", "22 assignments", "2 pinned".
    static std::string several(int64_t n, const std::string& kind) {
        const bool as_it_is = kind.ends_with("ed") || (kind.ends_with('s') && !kind.ends_with("ss"));
        return as_it_is               ? words::count(n) + " " + kind
               : kind.ends_with("ss") ? words::count(n) + " " + kind + "es"
                                      : counted(n, kind);
    }
    /// The tensors that a row tells together, each to be opened.
    static void add_members(InspectorSession& session, std::vector<Line>& lines, const Comparison::Row& row, int width) {
        if (row.n < 2) {
            return;
        }
        add_heading(lines, "tensors");
        History& history = session.history();
        const EvaluationId here = session.state().planned_in;
        const bool is_here = std::any_of(row.members.begin(), row.members.end(),
                                         [&](const Comparison::Member& member) { return member.evaluation == here; });
        const EvaluationId shown = is_here ? here : row.evaluation;
        for (const Comparison::Member& member : row.members) {
            if (!row.evaluations.empty() && member.evaluation != shown) { // it has the same there
                continue;
            }
            const Target there = member.evaluation < 0       ? Target{}
                                 : member.evaluation == here ? Target::tensor(member.tensor)
                                                             : Target::evaluation(member.evaluation);
            if (!member.said.empty()) {
                add_wrapped(lines, width, "", 0, member.said, {}, there);
            } else if (member.tensor != no_tensor) {
                const Step planned = history.evaluation(member.evaluation).end - 1;
                add_wrapped(lines, width, "", 0, history.tensor_name_at(planned, member.tensor), {}, there);
            }
        }
    }

    static const Comparison::Row& at(const InspectorSession& session, int row) {
        return session.comparison().result()->rows[row];
    }

    DecisionsTable table_;
    ComparisonSums sums_;
};

} // namespace

std::unique_ptr<View> make_what_if_view(InspectorSession& /*session*/) { return std::make_unique<WhatIfView>(); }

} // namespace schedscope::tui
