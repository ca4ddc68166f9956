#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/pass_table.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

#include <algorithm>
#include <climits>

namespace schedscope::tui {
namespace {

/// Nodes & passes: every tensor with its backend and the rule that put it there; on the right, its story; above, where there is room, what the passes did.
class NodesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(InspectorSession& session) override {
        n_rows_ = n_of(session.tensors());
        const int digits = std::max(n_of(std::to_string(n_rows_)), 2);
        columns_ = {{"#", digits, true, 0},
                    {"op", 9, false, 0, Field::count, 15},
                    {"name", 0, false, 0},
                    {"type", 5, false, 66},
                    {"shape", 16, false, 84, Field::count, 20},
                    {"bytes", 9, true, 112, Field::bytes},
                    {"split", 5, true, 54, Field::split},
                    {"time", 8, true, 120},
                    {"was", backend_width(session), false, session.n_changed() > 0 ? 62 : INT_MAX},
                    {"backend", backend_width(session), false, 0},
                    {"by", 6, false, 0},
                    {"because of", 14, false, 100, Field::count, 26}};
        times_.assign(session.state().executed.empty() ? 0 : session.state().tensors.size(), -1);
        for (const record::Execute& e : session.state().executed) {
            if (is_index(e.last, times_)) {
                times_[e.last] = e.end_ns - e.start_ns;
            }
        }
        passes_.update(session);
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(InspectorSession& session, int index, int) const override {
        const TensorId id = session.tensors()[index];
        const TensorInfo& info = session.history().tensor(session.state(), id);
        const size_t at = id;
        const TensorState now = at < session.state().tensors.size() ? session.state().tensors[at] : TensorState{};
        const bool node = is_node(session, id);
        const int64_t time = time_of(id);
        const BackendId was = session.was(id);
        return {{node ? std::to_string(index) : "-", dim},
                {op_text(session, id), node ? Style{} : dim},
                {session.name(id)},
                {type_text(info), dim},
                {shape_text(info), dim},
                {told_by_log(info) ? unknown_text : words::bytes(n_bytes(info.type, info.ne, info.nb)), dim},
                {now.split >= 0       ? std::to_string(now.split)
                 : session.imported() ? unknown_text
                                      : "",
                 dim},
                {time >= 0            ? time_text(time)
                 : session.imported() ? unknown_text
                                      : "",
                 dim},
                was == now.backend ? Text{} : backend_text(session, was),
                backend_text(session, now.backend),
                {now.cause == Cause::none && (now.backend != no_backend || session.imported())
                     ? unknown_text
                     : cause_name(now.cause, now.source)},
                {now.by == no_tensor ? "" : session.name(now.by), dim}};
    }

    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        const std::string_view title = columns_[column].title;
        const TensorId id = tensor_of(session, row);
        if (title == "#") {
            return is_node(session, id) ? std::optional<double>(row) : std::nullopt;
        }
        if (title == "time") {
            return time_of(id) >= 0 ? std::optional<double>(time_of(id)) : std::nullopt;
        }
        return View::sort_key(session, row, column);
    }
    std::string empty_text(const InspectorSession& session) const override {
        return session.last_step() < 0 ? "nothing is recorded yet"
                                       : "nothing is planned at this step: N goes on to the next pass, ] to the next evaluation";
    }
    std::string title(const InspectorSession& session) const override {
        const int n = session.n_changed();
        return n > 1 ? joined({"nodes, ", std::to_string(n), " changed"}) : "nodes";
    }
    Drawing* drawing() override { return &passes_; }

    int row_of(const InspectorSession& session, TensorId id) const override { return session.row_of(id); }
    TensorId tensor_of(const InspectorSession& session, int row) const override { return session.tensors()[row]; }
    TensorId own_tensor(const InspectorSession& session, int row) const override { return tensor_of(session, row); }
    bool changed(const InspectorSession& session, int row) const override { return session.changed_now(tensor_of(session, row)); }

    std::string detail_title(InspectorSession& session, int row) const override {
        return row < n_rows_ ? session.name(tensor_of(session, row)) : "tensor";
    }
    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        return tensor_detail(session, tensor_of(session, row), width);
    }
    Target open(InspectorSession& session, int row) const override {
        const size_t at = tensor_of(session, row);
        return at < session.state().tensors.size() ? Target::split(session.state().tensors[at].split) : Target{};
    }
    void facts(InspectorSession& session, int row, Facts& facts) const override {
        session.describer().tensor(session.state(), tensor_of(session, row), facts);
    }

private:
    static bool is_node(const InspectorSession& session, TensorId id) {
        const TensorInfo& info = session.info(id);
        return !session.is_copy(id) && (info.op != Op::NONE || left_out_by_log(info));
    }

    int64_t time_of(TensorId id) const { return is_index(id, times_) ? times_[id] : -1; }

    int n_rows_ = 0;
    std::vector<int64_t> times_; ///< [tensors] ns of the kernel that wrote it; −1: none did. Empty: nothing has run
    PassTable passes_;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_nodes_view() { return std::make_unique<NodesView>(); }

} // namespace schedscope::tui
