#include "inspector/tui/state/transfer_count.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/tables/tables.h"
#include "traces/history/words/unknown.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Copies: what pass 5 made to hold a tensor on another backend, which split needs it, when it was moved in this evaluation and how often since it was planned.
class CopiesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        const PlanState& state = session.state();
        const int backend = backend_width(session);
        columns_ = {{"tensor", 0, false, 0},
                    {"from", backend, false, 0},
                    {"to", backend, false, 0},
                    {"in", 2, true, 0, Field::split, 5},
                    {"stage", 5, true, 58},
                    {"bytes", 8, true, 0, Field::bytes},
                    {"at", 8, true, 76},
                    {"time", 8, true, 54, Field::time},
                    {"times", 6, true, 66},
                    {"in all", 9, true, 88},
                    {"first read by", 14, false, 104, Field::count, 30}};
        count_.update(session);
        begin_ns_ = INT64_MAX;
        for (const record::Transfer& t : state.transfers) {
            begin_ns_ = std::min(begin_ns_, t.start_ns);
        }
        for (const record::Execute& e : state.executed) {
            begin_ns_ = std::min(begin_ns_, e.start_ns);
        }
        rows_.clear();
        if (session.graph() == nullptr) {
            return;
        }
        for (tables::CopyRow& copy : tables::copies(session.history(), state)) {
            const TensorId reader = reader_of(state, copy);
            rows_.push_back({std::move(copy), reader});
        }
    }

    int n_rows() const override { return n_of(rows_); }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const Row& r = at(index);
        const TransferCount::Sum sum = count_.of(session, r.copy.id);
        const std::string none = session.imported() ? unknown_text : "-";
        const auto number = [&](const std::optional<int32_t>& n) { return n ? std::to_string(*n) : none; };
        return {{r.copy.tensor},
                backend_text(session, r.copy.from),
                backend_text(session, r.copy.to),
                {number(r.copy.split), dim},
                {number(r.copy.stage), dim},
                {bytes_or_unknown(r.copy.bytes.value_or(-1))},
                {r.copy.start_ns < 0 ? none : time_text(r.copy.start_ns - begin_ns_), dim},
                {r.copy.time_ns ? time_text(*r.copy.time_ns) : none},
                {sum.times == 0 ? none : words::count(sum.times)},
                {sum.times == 0 ? none : words::bytes(sum.bytes), dim},
                {r.reader != no_tensor ? session.name(r.reader)
                 : session.imported()  ? unknown_text
                                       : "",
                 dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const Row& r = at(row);
        const std::string_view title = columns_[column].title;
        const TransferCount::Sum sum = count_.of(session, r.copy.id);
        if (title == "stage" && r.copy.stage) {
            return *r.copy.stage;
        }
        if (title == "at" && r.copy.start_ns >= 0) {
            return r.copy.start_ns - begin_ns_;
        }
        if ((title == "times" || title == "in all") && sum.times > 0) {
            return to_double(title == "times" ? sum.times : sum.bytes);
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.state().planned ? "no copies: every split can use what it reads where it lies"
                                       : "no copy yet: pass 5 makes them";
    }
    std::string title(const InspectorSession&) const override {
        tables::SizeSum sum;
        for (const Row& r : rows_) {
            sum.add(r.copy.bytes.value_or(-1));
        }
        return rows_.empty() ? "copies" : joined({"copies ", std::to_string(rows_.size()), ", ", size_text(sum)});
    }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto of = [&](auto holds) {
            const auto found = std::find_if(rows_.begin(), rows_.end(), holds);
            return found == rows_.end() ? -1 : int_of(found - rows_.begin());
        };
        if (const int row = of([&](const Row& r) { return r.copy.id == id; }); row >= 0) {
            return row;
        }
        if (const int row = of([&](const Row& r) { return r.copy.of == id; }); row >= 0) {
            return row;
        }
        for (const record::Rewired& w : session.state().rewires) { // a node that reads one
            if (w.node == id) {
                return of([&](const Row& r) { return r.copy.id == w.copy; });
            }
        }
        const auto& tensors = session.state().tensors; // the first one of its split
        const int32_t split = is_index(id, tensors) ? tensors[id].split : -1;
        return split < 0 ? -1 : of([&](const Row& r) { return r.copy.split == split; });
    }
    TensorId own_tensor(const InspectorSession&, int row) const override { return at(row).copy.id; }
    bool changed(const InspectorSession& session, int row) const override {
        if (const auto* t = std::get_if<record::Transfer>(&session.record().fact)) {
            return t->copy == at(row).copy.id;
        }
        return session.changed_now(at(row).copy.id);
    }

    std::string detail_title(InspectorSession& session, int row) const override { return session.name(at(row).copy.id); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        if (r.copy.split) {
            add_wrapped(lines, width, "for", 8, "split " + std::to_string(*r.copy.split), {}, Target::split(*r.copy.split));
        } else {
            add_wrapped(lines, width, "for", 8, "an input of the graph, kept once per stage");
        }
        if (const TransferCount::Sum sum = count_.of(session, r.copy.id); sum.times > 0) {
            add_wrapped(lines, width, "moved", 8,
                        counted(sum.times, "time") + " since it was planned, " + words::bytes(sum.bytes) + " in " +
                            time_text(sum.time));
        } else {
            add_wrapped(lines, width, "moved", 8,
                        session.imported() ? "the log does not tell whether" : "not yet since it was planned");
        }
        const auto& rewires = session.state().rewires;
        const auto readers =
            std::count_if(rewires.begin(), rewires.end(), [&](const record::Rewired& w) { return w.copy == r.copy.id; });
        add_heading(lines, readers == 0 && session.imported() ? std::string("who reads it is not in the log")
                                                              : "read instead of the original by " + counted(readers, "source"));
        for (const record::Rewired& w : rewires) {
            if (w.copy == r.copy.id) {
                add_wrapped(lines, width, "src " + std::to_string(w.source), 8, tensor_label(session, w.node), {},
                            Target::tensor(w.node));
            }
        }
        bool first = true;
        for (const record::Transfer& t : session.state().transfers) {
            if (t.copy != r.copy.id) {
                continue;
            }
            if (first) {
                add_heading(lines, "moved in this evaluation");
            }
            first = false;
            std::string text = bytes_or_unknown(t.bytes) + " in " + time_text(t.end_ns - t.start_ns) + ", " +
                               time_text(t.start_ns - begin_ns_) + " after the first work" +
                               (t.async ? ", asynchronously" : ", waited for");
            if (t.experts >= 0) {
                text += ", " + std::to_string(t.experts) + " of " + std::to_string(t.experts_total) + " experts";
            }
            add_wrapped(lines, width, "", 0, text);
        }
        if (!lines.empty()) {
            lines.push_back({});
        }
        add_tensor_detail(lines, session, r.copy.id, width);
        return lines;
    }

    Target open(InspectorSession& session, int row) const override {
        return at(row).copy.split ? Target::split(*at(row).copy.split) : Target::tensor(tensor_of(session, row));
    }

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const Row& r = at(row);
        facts.clear();
        facts.kept[0] = r.copy.tensor;
        facts.kept[1] = session.backend_name(r.copy.to);
        facts.kept[2] = session.backend_name(r.copy.from);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::backend, facts.kept[1]);
        facts.set(Field::from, facts.kept[2]);
        facts.set(Field::kind, "copy");
        facts.set_known(Field::bytes, r.copy.bytes.value_or(-1));
        facts.set_known(Field::split, r.copy.split.value_or(-1));
        facts.set_known(Field::time, r.copy.time_ns.value_or(-1));
    }

private:
    struct Row {
        tables::CopyRow copy;
        TensorId reader = no_tensor; ///< the first node that needs it
    };
    static TensorId reader_of(const PlanState& state, const tables::CopyRow& copy) {
        if (!copy.split || !is_index(*copy.split, state.splits)) {
            return no_tensor;
        }
        const auto& inputs = state.splits[*copy.split].inputs;
        const auto input =
            std::find_if(inputs.begin(), inputs.end(), [&](const record::SplitInput& i) { return i.tensor == copy.of; });
        return input == inputs.end() ? no_tensor : input->node;
    }
    /// A log may not tell how large all of them are.
    static std::string size_text(const tables::SizeSum& sum) { return sum.complete || sum.bytes > 0 ? words::bytes(sum) : "? B"; }
    const Row& at(int row) const { return rows_[row]; }

    std::vector<Row> rows_;
    TransferCount count_;
    int64_t begin_ns_ = 0; ///< of the first work in the evaluation
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_copies_view() { return std::make_unique<CopiesView>(); }

} // namespace schedscope::tui
