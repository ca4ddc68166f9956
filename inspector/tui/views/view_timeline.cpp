#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/timeline_lanes.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <climits>
#include <map>

namespace schedscope::tui {
namespace {

/// Timeline: above, a lane for each backend; below, kernels, transfers and waits of the evaluation in order of time, each with its bar; on the right, where the
/// time went.
class TimelineView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        const PlanState& state = session.state();
        rows_.clear();
        for (const record::Execute& e : state.executed) {
            rows_.push_back({TimelineItem::Kind::kernel, e.backend, e.last, e.kernel, e.split, e.count, e.device_time, e.bytes,
                             e.flops, e.start_ns, e.end_ns});
        }
        for (const record::Transfer& t : state.transfers) {
            rows_.push_back({TimelineItem::Kind::transfer, t.to, t.copy, 0, t.split, 1, false, t.bytes, 0, t.start_ns, t.end_ns});
        }
        for (const record::Wait& w : state.waits) {
            rows_.push_back({TimelineItem::Kind::wait, w.backend, no_tensor, 0, w.split, 0, false, -1, 0, w.start_ns, w.end_ns});
        }
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const TimelineItem& a, const TimelineItem& b) { return a.start < b.start; });
        lanes_.set(session, rows_);
        columns_ = {{"at", 8, true, 0},
                    {"took", 8, true, 0, Field::time},
                    {"backend", backend_width(session), false, 0},
                    {"kernel", 14, false, 0, Field::count, 34},
                    {"name", 0, false, 56},
                    {"split", 5, true, 84, Field::split},
                    {"bytes", 9, true, 92, Field::bytes},
                    {"share", 6, true, 100, Field::time}};
    }

    int n_rows() const override { return n_of(rows_); }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const TimelineItem& r = at(index);
        const int64_t tenths = (r.end - r.start) * 1000 / std::max<int64_t>(lanes_.end() - lanes_.begin(), 1);
        return {{time_text(r.start - lanes_.begin()), dim},
                {time_text(r.end - r.start)},
                backend_text(session, r.backend),
                {what(session, r)},
                {r.tensor == no_tensor ? "" : session.name(r.tensor)},
                {r.split < 0 ? "" : std::to_string(r.split), dim},
                {r.bytes > 0 ? words::bytes(r.bytes) : "", dim},
                {std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%", dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        if (columns_[column].title == "at") {
            return at(row).start - lanes_.begin();
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.imported() ? "times are unknown: this trace was imported from a log"
                                  : "nothing of this evaluation has run up to this step";
    }
    std::string title(const InspectorSession&) const override {
        return rows_.empty() ? "timeline" : "timeline " + time_text(lanes_.end() - lanes_.begin());
    }
    Drawing* drawing() override { return &lanes_; }

    int row_of(const InspectorSession& session, TensorId id) const override {
        const auto itself = std::find_if(rows_.begin(), rows_.end(), [&](const TimelineItem& r) { return r.tensor == id; });
        if (itself != rows_.end()) {
            return int_of(itself - rows_.begin());
        }
        // A node that ran in a group with those behind it; a view, which no kernel runs for: the next kernel of its split.
        const int place = session.row_of(id);
        if (place < 0 || session.is_copy(id) || session.info(id).op == Op::NONE) {
            return -1;
        }
        int best = -1, nearest = INT_MAX;
        for (size_t i = 0; i < rows_.size(); ++i) {
            const int other = rows_[i].kind == TimelineItem::Kind::kernel ? session.row_of(rows_[i].tensor) : -1;
            if (other > place && other < nearest) {
                nearest = other;
                best = int_of(i);
            }
        }
        return best;
    }
    TensorId own_tensor(const InspectorSession&, int row) const override { return at(row).tensor; }
    bool changed(const InspectorSession& session, int row) const override {
        const Fact& fact = session.record().fact;
        const TimelineItem& r = at(row);
        if (const auto* e = std::get_if<record::Execute>(&fact)) {
            return r.kind == TimelineItem::Kind::kernel && e->start_ns == r.start && e->last == r.tensor;
        }
        if (const auto* w = std::get_if<record::Wait>(&fact)) {
            return r.kind == TimelineItem::Kind::wait && w->start_ns == r.start && w->backend == r.backend;
        }
        const auto* t = std::get_if<record::Transfer>(&fact);
        return t && r.kind == TimelineItem::Kind::transfer && t->start_ns == r.start && t->copy == r.tensor;
    }

    std::string detail_title(InspectorSession& session, int row) const override { return what(session, at(row)); }

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
        if (r.bytes > 0) {
            add_wrapped(lines, width, "bytes", 8,
                        words::bytes(r.bytes) + (took > 0 ? ", " + words::bytes(a_second(r.bytes, 1e9)) + "/s" : ""));
        }
        if (r.flops > 0) {
            add_wrapped(lines, width, "flops", 8,
                        words::count(r.flops) + (took > 0 ? ", " + words::count(a_second(r.flops, 1e3)) + " Mflop/s" : ""));
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

    void facts(InspectorSession& session, int row, Facts& facts) const override {
        const TimelineItem& r = at(row);
        if (r.tensor != no_tensor) {
            session.describer().tensor(session.state(), r.tensor, facts);
        } else {
            facts.clear();
        }
        facts.kept[0] = r.tensor == no_tensor ? "" : session.name(r.tensor);
        facts.kept[3] = what(session, r);
        facts.kept[1] = session.backend_name(r.backend);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::kernel, facts.kept[3]);
        facts.set(Field::backend, facts.kept[1]);
        facts.set(Field::cause, std::string_view());
        facts.set(Field::kind, r.kind == TimelineItem::Kind::kernel     ? "execute"
                               : r.kind == TimelineItem::Kind::transfer ? "transfer"
                                                                        : "wait");
        facts.set_known(Field::bytes, r.bytes);
        facts.set_known(Field::time, r.end - r.start);
        facts.set_known(Field::split, r.split);
    }

private:
    const TimelineItem& at(int row) const { return rows_[row]; }

    static std::string what(InspectorSession& session, const TimelineItem& r) {
        if (r.kind == TimelineItem::Kind::transfer) {
            return "copy";
        }
        return r.kind == TimelineItem::Kind::wait ? (r.backend == no_backend ? "wait for trace" : "wait")
                                                  : std::string(session.history().source().text(r.kernel));
    }
    /// How long its backend had done nothing when it began.
    int64_t gap_before(int row) const {
        int64_t reached = lanes_.begin();
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
            const LaneSum sum = lane_sum(rows_, b, lanes_.begin(), lanes_.end());
            std::string text = "busy " + time_text(sum.busy);
            if (sum.moving > 0) {
                text += ", copies to it " + time_text(sum.moving);
            }
            if (sum.waiting > 0) {
                text += ", waited for " + time_text(sum.waiting);
            }
            text += ", idle " + time_text(sum.idle);
            if (sum.longest_gap > 0) {
                text += " (longest " + time_text(sum.longest_gap) + " from " + time_text(sum.gap_start - lanes_.begin()) + ")";
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
        for (const TimelineItem& other : rows_) {
            Sum& sum = sums[session.backend_name(other.backend) + " " + what(session, other)];
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

    std::vector<TimelineItem> rows_;
    TimelineLanes lanes_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_timeline_view() { return std::make_unique<TimelineView>(); }

} // namespace schedscope::tui
