#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/transfer_count.h"
#include "inspector/tui/view.h"
#include "traces/unknown.h"

#include <algorithm>
#include <unordered_map>

namespace schedscope::tui {
namespace {

/// Copies: what pass 5 made to hold a tensor on another backend, which split needs it, when it was moved in this evaluation and how often since it was planned.
class CopiesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
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
        std::unordered_map<TensorId, Row> moved; // by copy
        for (const record::Transfer& t : state.transfers) {
            Row& row = moved[t.copy];
            row.at = row.at < 0 ? t.start_ns : std::min(row.at, t.start_ns);
            row.time = std::max<int64_t>(row.time, 0) + t.end_ns - t.start_ns;
        }
        rows_.clear();
        for (const record::CopyMade& made : state.copies) {
            Row row{made, no_backend, no_tensor, -1, -1, -1};
            for (const SplitState& split : state.splits) {
                if (split.begin.backend != made.backend) {
                    continue;
                }
                const auto input = std::find_if(split.inputs.begin(), split.inputs.end(),
                                                [&](const record::SplitInput& i) { return i.tensor == made.of; });
                if (input != split.inputs.end()) {
                    row.split = split.begin.index;
                    row.from = input->from;
                    row.reader = input->node;
                    break;
                }
            }
            if (const auto found = moved.find(made.copy); found != moved.end()) {
                row.time = found->second.time;
                row.at = found->second.at;
            }
            if (row.from == no_backend && static_cast<size_t>(made.of) < state.tensors.size()) {
                row.from = state.tensors[static_cast<size_t>(made.of)].backend;
            }
            rows_.push_back(row);
        }
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int) const override {
        const Row& r = at(index);
        const TransferCount::Sum sum = count_.of(session, r.made.copy);
        const std::string none = session.imported() ? unknown_text : "-";
        return {{session.name(r.made.of)},
                backend_text(session, r.from),
                backend_text(session, r.made.backend),
                {r.split < 0 ? none : std::to_string(r.split), dim},
                {r.made.stage < 0 ? none : std::to_string(r.made.stage), dim},
                {bytes_or_unknown(r.made.bytes)},
                {r.at < 0 ? none : time_text(r.at - begin_ns_), dim},
                {r.time < 0 ? none : time_text(r.time)},
                {sum.times == 0 ? none : grouped(sum.times)},
                {sum.times == 0 ? none : bytes_text(sum.bytes), dim},
                {r.reader != no_tensor ? session.name(r.reader)
                 : session.imported()  ? unknown_text
                                       : "",
                 dim}};
    }

    std::string empty_text(const Session& session) const override {
        return session.state().planned ? "no copies: every split can use what it reads where it lies"
                                       : "no copy yet: pass 5 makes them";
    }
    std::string title(const Session&) const override {
        int64_t bytes = 0;
        bool known = true;
        for (const Row& r : rows_) {
            bytes += std::max<int64_t>(r.made.bytes, 0);
            known = known && r.made.bytes >= 0;
        }
        return rows_.empty() ? "copies"
                             : joined({"copies ", std::to_string(rows_.size()), known ? ", " : ", ≥ ", bytes_text(bytes)});
    }

    int row_of(const Session& session, TensorId id) const override {
        const auto of = [&](auto holds) {
            const auto found = std::find_if(rows_.begin(), rows_.end(), holds);
            return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
        };
        if (const int row = of([&](const Row& r) { return r.made.copy == id; }); row >= 0) {
            return row;
        }
        if (const int row = of([&](const Row& r) { return r.made.of == id; }); row >= 0) {
            return row;
        }
        for (const record::Rewired& w : session.state().rewires) { // a node that reads one
            if (w.node == id) {
                return of([&](const Row& r) { return r.made.copy == w.copy; });
            }
        }
        const auto& tensors = session.state().tensors; // the first one of its split
        const int32_t split = id >= 0 && static_cast<size_t>(id) < tensors.size() ? tensors[static_cast<size_t>(id)].split : -1;
        return split < 0 ? -1 : of([&](const Row& r) { return r.split == split; });
    }
    TensorId tensor_of(const Session& session, int row) const override {
        return row_of(session, session.selected()) == row ? session.selected() : at(row).made.copy;
    }
    bool changed(const Session& session, int row) const override {
        if (const auto* t = std::get_if<record::Transfer>(&session.record().fact)) {
            return t->copy == at(row).made.copy;
        }
        return session.changed_now(at(row).made.copy);
    }

    std::string detail_title(Session& session, int row) const override { return session.name(at(row).made.copy); }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        if (r.split >= 0) {
            add_wrapped(lines, width, "for", 8, "split " + std::to_string(r.split), {}, Target::split(r.split));
        } else {
            add_wrapped(lines, width, "for", 8, "an input of the graph, kept once per stage");
        }
        if (const TransferCount::Sum sum = count_.of(session, r.made.copy); sum.times > 0) {
            add_wrapped(lines, width, "moved", 8,
                        counted(sum.times, "time") + " since it was planned, " + bytes_text(sum.bytes) + " in " +
                            time_text(sum.time));
        } else {
            add_wrapped(lines, width, "moved", 8,
                        session.imported() ? "the log does not tell whether" : "not yet since it was planned");
        }
        const auto& rewires = session.state().rewires;
        const auto readers =
            std::count_if(rewires.begin(), rewires.end(), [&](const record::Rewired& w) { return w.copy == r.made.copy; });
        add_heading(lines, readers == 0 && session.imported() ? std::string("who reads it is not in the log")
                                                              : "read instead of the original by " + counted(readers, "source"));
        for (const record::Rewired& w : rewires) {
            if (w.copy == r.made.copy) {
                add_wrapped(lines, width, "src " + std::to_string(w.source), 8, tensor_label(session, w.node), {},
                            Target::tensor(w.node));
            }
        }
        bool first = true;
        for (const record::Transfer& t : session.state().transfers) {
            if (t.copy != r.made.copy) {
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
        const std::vector<Line> all = tensor_detail(session, r.made.copy, width);
        lines.insert(lines.end(), all.begin(), all.end());
        return lines;
    }

    Target open(Session& session, int row) const override {
        return at(row).split >= 0 ? Target::split(at(row).split) : Target::tensor(tensor_of(session, row));
    }

    void facts(Session& session, int row, Facts& facts) const override {
        const Row& r = at(row);
        facts.clear();
        facts.kept[0] = session.name(r.made.of);
        facts.kept[1] = session.backend_name(r.made.backend);
        facts.kept[2] = session.backend_name(r.from);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::backend, facts.kept[1]);
        facts.set(Field::from, facts.kept[2]);
        facts.set(Field::kind, "copy");
        if (r.made.bytes >= 0) {
            facts.set(Field::bytes, r.made.bytes);
        }
        if (r.split >= 0) {
            facts.set(Field::split, r.split);
        }
        if (r.time >= 0) {
            facts.set(Field::time, r.time);
        }
    }

private:
    struct Row {
        record::CopyMade made;
        BackendId from = no_backend;
        TensorId reader = no_tensor; ///< the first node that needs it
        int32_t split = -1;
        int64_t time = -1; ///< of its transfers in the evaluation, −1: none ran
        int64_t at = -1;   ///< when the first of them began
    };
    const Row& at(int row) const { return rows_[static_cast<size_t>(row)]; }

    std::vector<Row> rows_;
    TransferCount count_;
    int64_t begin_ns_ = 0; ///< of the first work in the evaluation
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_copies_view() { return std::make_unique<CopiesView>(); }

} // namespace schedscope::tui
