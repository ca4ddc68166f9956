#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/copies.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Copies: what pass 5 made to hold a tensor on another backend, which split needs it, when it was moved in this evaluation and
/// how often in the recorded runs of its plan.
class CopiesView final : public View {
public:
    explicit CopiesView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override { table_.update(session.state()); }

    /// A pipeline has copies for each of its stages, and an evaluation fills those of one.
    std::string title(const InspectorSession& session) const override {
        const accounts::RecordedSizes sizes(session.history(), session.state());
        const SizeSum sum = sizes.of_copies(session.state()), moved = sizes.of_inputs(session.state());
        const bool differ = session.state().planned && moved.bytes != sum.bytes;
        return table_.rows().empty() ? "copies"
                                     : joined({"copies ", words::count(n_rows()), ", ", words::bytes(sum),
                                               differ ? ", " + words::bytes(moved) + " to move" : ""});
    }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto of = [&](auto holds) {
            const auto found = std::find_if(table_.rows().begin(), table_.rows().end(), holds);
            return found == table_.rows().end() ? -1 : int_of(found - table_.rows().begin());
        };
        if (const int row = of([&](const Row& r) { return r.id == id; }); row >= 0) {
            return row;
        }
        if (const int row = of([&](const Row& r) { return r.of == id; }); row >= 0) {
            return row;
        }
        for (const record::Rewired& w : session.state().rewires) { // a node that reads one
            if (w.node == id) {
                return of([&](const Row& r) { return r.id == w.copy; });
            }
        }
        const auto& tensors = session.state().tensors; // the first one of its split
        const int32_t split = is_index(id, tensors) ? tensors[id].split : -1;
        return split < 0 ? -1 : of([&](const Row& r) { return r.split == split; });
    }
    bool changed(const InspectorSession& session, int row) const override {
        if (const auto* t = std::get_if<record::Transfer>(&session.record().fact)) {
            return t->copy == at(row).id;
        }
        return session.changed_now(at(row).id);
    }

    std::string detail_title(InspectorSession& session, int row) const override { return session.name(at(row).id); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        if (r.split) {
            add_wrapped(lines, width, "for", 8, "split " + std::to_string(*r.split), {}, Target::split(*r.split));
        } else {
            add_wrapped(lines, width, "for", 8, "an input of the graph, kept once per stage");
        }
        if (const tables::TransferCount::Sum sum = table_.moved(r.id); sum.times > 0) {
            add_wrapped(lines, width, "moved", 8,
                        counted(sum.times, "time") + " in recorded runs of its plan, " + words::bytes(sum.bytes) +
                            in_time(sum.time_ns));
        } else if (session.knows(Topic::runs) || session.shows_unknown()) {
            add_wrapped(lines, width, "moved", 8,
                        session.knows(Topic::runs) ? nothing_ran(session.history().session(), "not yet")
                                                   : "whether it was is not known");
        }
        const auto& rewires = session.state().rewires;
        const auto readers =
            std::count_if(rewires.begin(), rewires.end(), [&](const record::Rewired& w) { return w.copy == r.id; });
        const bool knows_readers = readers > 0 || session.knows(Topic::passes);
        if (knows_readers || session.shows_unknown()) {
            add_heading(lines, knows_readers ? "read instead of the original by " + counted(readers, "source")
                                             : std::string("who reads it is not known"));
        }
        for (const record::Rewired& w : rewires) {
            if (w.copy == r.id) {
                add_wrapped(lines, width, "src " + std::to_string(w.source), 8, tensor_label(session, w.node), {},
                            Target::tensor(w.node));
            }
        }
        bool first = true;
        for (const record::Transfer& t : session.state().transfers) {
            if (t.copy != r.id) {
                continue;
            }
            if (first) {
                add_heading(lines, "moved in this evaluation");
            }
            first = false;
            std::string text = words::bytes(t.bytes) + in_time(accounts::moving_time(t)) + ", " +
                               time_text(t.start_ns - table_.begin_ns()) + " after the evaluation began" +
                               (t.async ? ", asynchronously" : ", waited for");
            if (t.experts >= 0) {
                text += ", " + std::to_string(t.experts) + " of " + std::to_string(t.experts_total) + " experts";
            }
            add_wrapped(lines, width, "", 0, text);
        }
        if (!lines.empty()) {
            lines.push_back({});
        }
        add_tensor_detail(lines, session, r.id, width);
        return lines;
    }

    Target open(InspectorSession& session, int row) const override {
        return at(row).split ? Target::split(*at(row).split) : Target::tensor(tensor_of(session, row));
    }

private:
    using Row = accounts::CopyRow;
    const Row& at(int row) const { return table_.rows()[row]; }
    /// " in 12.4 µs"
    static std::string in_time(const std::optional<int64_t>& ns) {
        return ns ? " in " + time_text(*ns) : std::string(", ") + not_timed_text;
    }

    tables::CopiesTable table_;
};

} // namespace

std::unique_ptr<View> make_copies_view(InspectorSession& session) { return std::make_unique<CopiesView>(session); }

} // namespace schedscope::tui
