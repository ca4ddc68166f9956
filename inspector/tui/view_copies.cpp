#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Copies: what pass 5 made to hold a tensor on another backend, which split needs it, and how long moving it took in this evaluation.
class CopiesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        const PlanState& state = session.state();
        const int backend = backend_width(session);
        columns_ = {{"tensor", 0, false, 0},
                    {"from", backend, false, 0},
                    {"to", backend, false, 0},
                    {"split", 5, true, 0},
                    {"stage", 5, true, 58},
                    {"bytes", 9, true, 0, Field::bytes},
                    {"time", 8, true, 56, Field::time}};
        rows_.clear();
        for (const record::CopyMade& made : state.copies) {
            Row row{made, no_backend, -1, -1};
            for (const SplitState& split : state.splits)
                for (const record::SplitInput& input : split.inputs)
                    if (input.tensor == made.of && split.begin.backend == made.backend && row.split < 0) {
                        row.split = split.begin.index;
                        row.from = input.from;
                    }
            for (const record::Transfer& t : state.transfers)
                if (t.copy == made.copy)
                    row.time = std::max<int64_t>(row.time, 0) + t.end_ns - t.start_ns;
            if (row.from == no_backend && static_cast<size_t>(made.of) < state.tensors.size())
                row.from = state.tensors[static_cast<size_t>(made.of)].backend;
            rows_.push_back(row);
        }
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int) const override {
        const Row& r = at(index);
        return {{session.name(r.made.of)},
                backend_text(session, r.from),
                backend_text(session, r.made.backend),
                {r.split < 0 ? "-" : std::to_string(r.split), dim},
                {r.made.stage < 0 ? "-" : std::to_string(r.made.stage), dim},
                {bytes_text(r.made.bytes)},
                {time_text(r.time)}};
    }

    std::string empty_text(const Session& session) const override {
        return session.state().planned ? "no copies: every split can use what it reads where it lies"
                                       : "no copy yet: pass 5 makes them";
    }
    std::string title(const Session&) const override {
        return rows_.empty() ? "copies" : joined({"copies ", std::to_string(rows_.size())});
    }

    int row_of(const Session&, TensorId id) const override {
        const auto of = [&](auto member) {
            const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.made.*member == id; });
            return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
        };
        const int as_copy = of(&record::CopyMade::copy);
        return as_copy >= 0 ? as_copy : of(&record::CopyMade::of);
    }
    TensorId tensor_of(const Session&, int row) const override { return at(row).made.copy; }
    bool changed(const Session& session, int row) const override {
        if (const auto* t = std::get_if<record::Transfer>(&session.record().fact))
            return t->copy == at(row).made.copy;
        return session.changed_now(at(row).made.copy);
    }

    std::string detail_title(Session& session, int row) const override { return session.name(at(row).made.copy); }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        if (r.split >= 0)
            add_wrapped(lines, width, "for", 8, "split " + std::to_string(r.split), {}, Target::split(r.split));
        const auto& rewires = session.state().rewires;
        const auto readers =
            std::count_if(rewires.begin(), rewires.end(), [&](const record::Rewired& w) { return w.copy == r.made.copy; });
        add_heading(lines, "read instead of the original by " + counted(readers, "source"));
        for (const record::Rewired& w : rewires)
            if (w.copy == r.made.copy)
                add_wrapped(lines, width, "src " + std::to_string(w.source), 8, tensor_label(session, w.node), {},
                            Target::tensor(w.node));
        bool first = true;
        for (const record::Transfer& t : session.state().transfers) {
            if (t.copy != r.made.copy)
                continue;
            if (first)
                add_heading(lines, "moved in this evaluation");
            first = false;
            std::string text =
                bytes_text(t.bytes) + " in " + time_text(t.end_ns - t.start_ns) + (t.async ? ", asynchronously" : ", waited for");
            if (t.experts >= 0)
                text += ", " + std::to_string(t.experts) + " of " + std::to_string(t.experts_total) + " experts";
            add_wrapped(lines, width, "", 0, text);
        }
        if (!lines.empty())
            lines.push_back({});
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
        facts.set(Field::bytes, r.made.bytes);
        if (r.split >= 0)
            facts.set(Field::split, r.split);
        if (r.time >= 0)
            facts.set(Field::time, r.time);
    }

private:
    struct Row {
        record::CopyMade made;
        BackendId from;
        int32_t split;
        int64_t time; ///< of its transfers in the evaluation, −1: none ran
    };
    const Row& at(int row) const { return rows_[static_cast<size_t>(row)]; }

    std::vector<Row> rows_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_copies_view() { return std::make_unique<CopiesView>(); }

} // namespace schedscope::tui
