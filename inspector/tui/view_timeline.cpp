#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"

#include <algorithm>
#include <map>

namespace schedscope::tui {
namespace {

/// Timeline: kernels, transfers and waits of the evaluation in order of time, each with its bar; on the right, where the time went.
class TimelineView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        const PlanState& state = session.state();
        rows_.clear();
        for (const record::Execute& e : state.executed)
            rows_.push_back({Kind::kernel, e.backend, e.last, e.kernel, e.split, e.count, e.device_time, e.bytes, e.flops,
                             e.start_ns, e.end_ns});
        for (const record::Transfer& t : state.transfers)
            rows_.push_back({Kind::transfer, t.to, t.copy, 0, t.split, 1, false, t.bytes, 0, t.start_ns, t.end_ns});
        for (const record::Wait& w : state.waits)
            rows_.push_back({Kind::wait, w.backend, no_tensor, 0, w.split, 0, false, 0, 0, w.start_ns, w.end_ns});
        std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.start < b.start; });
        begin_ = rows_.empty() ? 0 : rows_.front().start;
        end_ = begin_ + 1;
        for (const Row& r : rows_)
            end_ = std::max(end_, r.end);
        columns_ = {{"at", 8, true, 0},       {"took", 8, true, 0, Field::time}, {"backend", backend_width(session), false, 0},
                    {"kernel", 14, false, 0}, {"name", 20, false, 76},           {"", 0, false, 0}};
    }

    int n_rows() const override { return static_cast<int>(rows_.size()); }

    std::vector<Text> row(Session& session, int index, int width) const override {
        const Row& r = at(index);
        return {{time_text(r.start - begin_), dim},
                {time_text(r.end - r.start)},
                backend_text(session, r.backend),
                {what(session, r)},
                {r.tensor == no_tensor ? "" : session.name(r.tensor)},
                {bar(r, width), backend_style(r.backend, session.n_backends())}};
    }

    std::string empty_text(const Session&) const override { return "nothing of this evaluation has run up to this step"; }
    std::string title(const Session&) const override {
        return rows_.empty() ? "timeline" : "timeline " + time_text(end_ - begin_);
    }

    int row_of(const Session&, TensorId id) const override {
        const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.tensor == id; });
        return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
    }
    TensorId tensor_of(const Session&, int row) const override { return at(row).tensor; }
    bool changed(const Session& session, int row) const override {
        const Fact& fact = session.record().fact;
        if (const auto* e = std::get_if<record::Execute>(&fact))
            return at(row).kind == Kind::kernel && e->start_ns == at(row).start && e->last == at(row).tensor;
        const auto* t = std::get_if<record::Transfer>(&fact);
        return t && at(row).kind == Kind::transfer && t->start_ns == at(row).start && t->copy == at(row).tensor;
    }

    std::string detail_title(Session& session, int row) const override { return what(session, at(row)); }

    std::vector<Line> detail(Session& session, int row, int width) const override {
        const Row& r = at(row);
        std::vector<Line> lines;
        const int64_t took = r.end - r.start;
        add_wrapped(lines, width, "took", 8, time_text(took) + (r.device_time ? " by the device's clock" : ""));
        if (r.tensor != no_tensor)
            add_wrapped(lines, width, "for", 8,
                        tensor_label(session, r.tensor) +
                            (r.count > 1 ? " and " + counted(r.count - 1, "node") + " before it" : ""),
                        {}, Target::tensor(r.tensor));
        if (r.split >= 0)
            add_wrapped(lines, width, "split", 8, std::to_string(r.split), {}, Target::split(r.split));
        if (r.bytes > 0)
            add_wrapped(lines, width, "bytes", 8,
                        bytes_text(r.bytes) + (took > 0 ? ", " +
                                                              bytes_text(static_cast<int64_t>(static_cast<double>(r.bytes) * 1e9 /
                                                                                              static_cast<double>(took))) +
                                                              "/s"
                                                        : ""));
        if (r.flops > 0)
            add_wrapped(lines, width, "flops", 8,
                        grouped(r.flops) + (took > 0 ? ", " +
                                                           grouped(static_cast<int64_t>(static_cast<double>(r.flops) * 1e3 /
                                                                                        static_cast<double>(took))) +
                                                           " Mflop/s"
                                                     : ""));

        struct Sum {
            int64_t time = 0, n = 0;
            BackendId backend = no_backend;
        };
        std::map<std::string, Sum> sums;
        int64_t all = 0;
        for (const Row& other : rows_) {
            Sum& sum = sums[session.backend_name(other.backend) + " " + what(session, other)];
            sum.time += other.end - other.start;
            sum.backend = other.backend;
            ++sum.n;
            all += other.end - other.start;
        }
        std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
        add_heading(lines, "where the time of this evaluation went");
        for (const auto& [name, sum] : order) {
            Line l;
            std::string share = std::to_string(all > 0 ? sum.time * 100 / all : 0) + "%";
            share.insert(0, 4 - std::min<size_t>(share.size(), 4), ' ');
            std::string time = time_text(sum.time);
            time.insert(0, 9 - std::min<size_t>(time.size(), 9), ' ');
            l.parts.push_back({share + time + "  "});
            l.parts.push_back({name, backend_style(sum.backend, session.n_backends())});
            l.parts.push_back({" ×" + std::to_string(sum.n), dim});
            lines.push_back(std::move(l));
        }
        return lines;
    }

    Target open(Session&, int row) const override {
        return at(row).tensor != no_tensor ? Target::tensor(at(row).tensor) : Target::split(at(row).split);
    }

    void facts(Session& session, int row, Facts& facts) const override {
        const Row& r = at(row);
        if (r.tensor != no_tensor)
            session.describer().tensor(session.state(), r.tensor, facts);
        else
            facts.clear();
        facts.kept[0] = r.tensor == no_tensor ? "" : session.name(r.tensor);
        facts.kept[3] = what(session, r);
        facts.kept[1] = session.backend_name(r.backend);
        facts.set(Field::name, facts.kept[0]);
        facts.set(Field::kernel, facts.kept[3]);
        facts.set(Field::backend, facts.kept[1]);
        facts.set(Field::cause, std::string_view());
        facts.set(Field::kind, r.kind == Kind::kernel ? "execute" : r.kind == Kind::transfer ? "transfer" : "wait");
        facts.set(Field::bytes, r.bytes);
        facts.set(Field::time, r.end - r.start);
        facts.set(Field::split, r.split);
    }

private:
    enum class Kind : uint8_t { kernel, transfer, wait };
    struct Row {
        Kind kind;
        BackendId backend;
        TensorId tensor;
        StringId kernel;
        int32_t split;
        int count;
        bool device_time;
        int64_t bytes, flops, start, end;
    };
    const Row& at(int row) const { return rows_[static_cast<size_t>(row)]; }

    static std::string what(Session& session, const Row& r) {
        if (r.kind == Kind::transfer)
            return "copy";
        return r.kind == Kind::wait ? (r.backend == no_backend ? "wait for trace" : "wait")
                                    : std::string(session.history().source().text(r.kernel));
    }
    std::string bar(const Row& r, int width) const {
        if (width <= 0)
            return {};
        const auto place = [&](int64_t t) {
            return std::clamp(static_cast<int>(static_cast<double>(t - begin_) * width / static_cast<double>(end_ - begin_)), 0,
                              width - 1);
        };
        std::string text(static_cast<size_t>(place(r.start)), ' ');
        for (int i = place(r.start); i <= std::max(place(r.end - 1), place(r.start)); ++i)
            text += r.kind == Kind::kernel ? "█" : r.kind == Kind::transfer ? "░" : "·";
        return text;
    }

    std::vector<Row> rows_;
    int64_t begin_ = 0, end_ = 1;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_timeline_view() { return std::make_unique<TimelineView>(); }

} // namespace schedscope::tui
