#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/timeline_lanes.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "viz/tables/timeline.h"

#include <algorithm>
#include <climits>
#include <map>

namespace schedscope::tui {
namespace {

/// Timeline: above, a lane for each backend; below, kernels, transfers and waits of the evaluation in order of time, each with
/// its bar; on the right, where the time went.
class TimelineView final : public View {
public:
    explicit TimelineView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        table_.update(session.state());
        lanes_.set(session, table_.rows());
    }

    std::string title(const InspectorSession&) const override {
        return n_rows() == 0 ? "timeline" : "timeline " + time_text(table_.end() - table_.begin());
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
        const int64_t took = r.end - r.start;
        add_wrapped(lines, width, "took", 8, time_text(took) + (r.device_time ? " by the device's clock" : ""));
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
        add_lanes(session, lines, width);
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
        int64_t reached = table_.begin();
        for (int i = 0; i < row; ++i) {
            if (at(i).backend == at(row).backend) {
                reached = std::max(reached, at(i).end);
            }
        }
        return at(row).start - reached;
    }
    void add_lanes(InspectorSession& session, std::vector<Line>& lines, int width) const {
        add_heading(lines, "backends");
        for (BackendId b = 0; b < session.n_backends(); ++b) {
            const LaneSum sum = lane_sum(table_.rows(), b, table_.begin(), table_.end());
            std::string text = "busy " + time_text(sum.busy);
            if (sum.moving > 0) {
                text += ", copies to it " + time_text(sum.moving);
            }
            if (sum.waiting > 0) {
                text += ", waited for " + time_text(sum.waiting);
            }
            text += ", idle " + time_text(sum.idle);
            if (sum.longest_gap > 0) {
                text += " (longest " + time_text(sum.longest_gap) + " from " + time_text(sum.gap_start - table_.begin()) + ")";
            }
            add_wrapped(lines, width, session.backend_name(b), backend_width(session) + 1, text);
        }
    }
    void add_sums(InspectorSession& session, std::vector<Line>& lines) const {
        struct Sum {
            int64_t time = 0, n = 0;
            BackendId backend = no_backend;
        };
        std::map<std::string, Sum> sums;
        int64_t all = 0;
        for (const TimelineItem& other : table_.rows()) {
            Sum& sum = sums[session.backend_name(other.backend) + " " + table_.what(other)];
            sum.time += other.end - other.start;
            sum.backend = other.backend;
            ++sum.n;
            all += other.end - other.start;
        }
        std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
        const auto right = [](const std::string& text, int cells) {
            return std::string(std::max(cells - text_width(text), 0), ' ') + text;
        };
        add_heading(lines, "where the time went");
        for (const auto& [name, sum] : order) {
            Line l;
            l.hang = 15;
            l.parts.push_back(
                {right(std::to_string(all > 0 ? sum.time * 100 / all : 0) + "%", 4) + right(time_text(sum.time), 9) + "  "});
            l.parts.push_back({name, backend_style(sum.backend, session.n_backends())});
            l.parts.push_back({" ×" + std::to_string(sum.n), dim});
            lines.push_back(std::move(l));
        }
    }

    tables::TimelineTable table_;
    TimelineLanes lanes_;
};

} // namespace

std::unique_ptr<View> make_timeline_view(InspectorSession& session) { return std::make_unique<TimelineView>(session); }

} // namespace schedscope::tui
