#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/timeline_lanes.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/words/unknown.h"
#include "viz/tables/timeline.h"

#include <algorithm>
#include <climits>

namespace schedscope::tui {
namespace {

using accounts::Activity;

/// Timeline: above, a lane for each backend; below, kernels, transfers and waits of the evaluation in order of time, each with
/// its bar; on the right, where the time went.
class TimelineView final : public View {
public:
    explicit TimelineView(InspectorSession& session)
        : table_(session.history()), time_(session.history(), accounts::TimeBy::kernel) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        table_.update(session.state());
        time_.update(session.state());
        lanes_.set(session, table_.rows(), time_.account());
    }

    std::string title(const InspectorSession&) const override {
        return n_rows() == 0 ? "timeline" : "timeline " + time_text(extent().time_ns());
    }
    Drawing* drawing() override { return &lanes_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const std::vector<TensorState>& tensors = session.state().tensors;
        const int32_t split = is_index(id, tensors) ? tensors[id].split : -1;
        const auto itself = std::find_if(table_.rows().begin(), table_.rows().end(),
                                         [&](const TimelineItem& r) { return r.is_split() ? r.split == split : r.tensor == id; });
        if (itself != table_.rows().end()) {
            return int_of(itself - table_.rows().begin());
        }
        // A node that ran in a group with those behind it; a view, which no kernel runs for: the next kernel of its split.
        const int place = session.row_of(id);
        if (place < 0 || session.is_copy(id) || session.info(id).op == Op::NONE) {
            return -1;
        }
        int best = -1, nearest = INT_MAX;
        for (size_t i = 0; i < table_.rows().size(); ++i) {
            const int other = table_.rows()[i].kind == TimelineItem::Kind::kernel ? session.row_of(table_.rows()[i].tensor) : -1;
            if (other > place && other < nearest) {
                nearest = other;
                best = int_of(i);
            }
        }
        return best;
    }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const TimelineItem& r = at(row);
        if (const auto* e = std::get_if<record::Execute>(&fact)) {
            return r.kind == TimelineItem::Kind::kernel && e->start_ns == r.start && e->last == r.tensor;
        }
        if (const auto* w = std::get_if<record::Wait>(&fact)) {
            return r.kind == TimelineItem::Kind::wait && w->start_ns == r.start && w->backend == r.backend;
        }
        if (const auto* s = std::get_if<record::SplitRun>(&fact)) {
            return s->split == r.split && r.is_split();
        }
        const auto* t = std::get_if<record::Transfer>(&fact);
        return t && r.kind == TimelineItem::Kind::transfer && t->start_ns == r.start && t->copy == r.tensor;
    }

    std::string detail_title(InspectorSession&, int row) const override { return table_.what(at(row)); }

    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        const TimelineItem& r = at(row);
        std::vector<Line> lines;
        const int64_t took = r.took().value_or(0);
        add_wrapped(lines, width, "took", 8,
                    (r.took() ? time_text(took) : not_timed_text) + (r.device_time ? " by the device's clock" : ""));
        if (r.tensor != no_tensor) {
            add_wrapped(lines, width, "for", 8,
                        tensor_label(session, r.tensor) +
                            (r.count > 1 ? " and " + counted(r.count - 1, "node") + " before it" : ""),
                        {}, Target::tensor(r.tensor));
        }
        if (r.split >= 0) {
            add_wrapped(lines, width, "split", 8, std::to_string(r.split), {}, Target::split(r.split));
        }
        const auto a_second = [&](int64_t amount, double unit) {
            return static_cast<int64_t>(to_double(amount) * unit / to_double(took));
        };
        if (r.bytes.value_or(0) > 0) {
            add_wrapped(lines, width, "bytes", 8,
                        words::bytes(*r.bytes) + (took > 0 ? ", " + words::bytes(a_second(*r.bytes, 1e9)) + "/s" : ""));
        }
        if (r.flops.value_or(0) > 0) {
            add_wrapped(lines, width, "flops", 8,
                        words::count(*r.flops) + (took > 0 ? ", " + words::count(a_second(*r.flops, 1e3)) + " Mflop/s" : ""));
        }
        if (const int64_t gap = gap_before(row); gap > 0) {
            add_wrapped(lines, width, "before", 8, session.backend_name(r.backend) + " had nothing to do for " + time_text(gap));
        }
        add_devices(session, lines, width);
        add_sums(session, lines);
        return lines;
    }

    Target open(InspectorSession&, int row) const override {
        return at(row).tensor != no_tensor ? Target::tensor(at(row).tensor) : Target::split(at(row).split);
    }

private:
    const TimelineItem& at(int row) const { return table_.rows()[row]; }

    /// How long its backend had done nothing when it began.
    int64_t gap_before(int row) const {
        int64_t reached = extent().begin_ns;
        for (int i = 0; i < row; ++i) {
            if (at(i).backend == at(row).backend) {
                reached = std::max(reached, at(i).end);
            }
        }
        return at(row).start - reached;
    }
    const accounts::TimeExtent& extent() const { return table_.extent(); }
    void add_devices(InspectorSession& session, std::vector<Line>& lines, int width) const {
        add_heading(lines, "backends, of " + time_text(extent().time_ns()));
        for (const accounts::DeviceTime& device : time_.account().devices) {
            std::string text;
            for (const Activity activity : {Activity::computing, Activity::copying, Activity::waiting, Activity::idle}) {
                if (const int64_t ns = device.of(activity); ns > 0 || activity == Activity::computing) {
                    text += (text.empty() ? "" : ", ") + std::string(accounts::activity_name(activity)) +
                            (activity == Activity::idle && device.untimed ? " or not timed " : " ") +
                            (activity != Activity::computing || !device.untimed ? time_text(ns)
                             : ns > 0                                           ? "at least " + time_text(ns)
                                                                                : not_timed_text);
                }
            }
            if (device.longest_gap_ns > 0) {
                text += " (longest gap " + time_text(device.longest_gap_ns) + ", from " +
                        time_text(device.gap_start_ns - extent().begin_ns) + ")";
            }
            add_wrapped(lines, width, session.backend_name(device.backend), backend_width(session) + 1, text);
        }
        if (const std::string untimed = accounts::untimed_splits(session.history(), session.state()); !untimed.empty()) {
            add_wrapped(lines, width, "", 0, untimed);
        }
    }
    void add_sums(InspectorSession& session, std::vector<Line>& lines) const {
        std::vector<accounts::TimeRow> rows = time_.rows();
        std::stable_sort(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.ns.value_or(0) > b.ns.value_or(0); });
        const auto right = [](const std::string& text, int cells) {
            return std::string(std::max(cells - text_width(text), 0), ' ') + text;
        };
        add_heading(lines, "where the time went, of " + time_text(extent().time_ns()));
        for (const accounts::TimeRow& row : rows) {
            Line l;
            l.hang = 15;
            l.parts.push_back({right(row.ns ? whole_percent(extent().percent(*row.ns)) : "", 4) +
                               right(row.ns ? time_text(*row.ns) : not_timed_text, 9) + "  "});
            l.parts.push_back(
                {session.backend_name(row.backend) + " " + words_of(row), backend_style(row.backend, session.n_backends())});
            if (row.n) {
                l.parts.push_back({" ×" + words::count(*row.n), dim});
            }
            lines.push_back(std::move(l));
        }
    }
    /// "mul_mat_f32", "copies to it", "waiting for Vulkan0", "idle: planning", "idle or not timed".
    static std::string words_of(const accounts::TimeRow& row) {
        switch (row.activity) {
        case Activity::computing: return row.what;
        case Activity::copying: return "copies to it";
        case Activity::waiting: return "waiting " + row.what;
        case Activity::idle: break;
        }
        return row.what.empty() ? "idle" : (row.what.starts_with("or ") ? "idle " : "idle: ") + row.what;
    }

    tables::TimelineTable table_;
    tables::TimeTable time_;
    TimelineLanes lanes_;
};

} // namespace

std::unique_ptr<View> make_timeline_view(InspectorSession& session) { return std::make_unique<TimelineView>(session); }

} // namespace schedscope::tui
