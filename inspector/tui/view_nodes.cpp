#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"
#include "inspector/tui/view.h"
#include "traces/unknown.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// Nodes & passes: every tensor with its backend and the rule that put it there; on the right, its story.
class NodesView final : public View {
public:
    std::span<const Column> columns() const override { return columns_; }

    void update(Session& session) override {
        n_rows_ = static_cast<int>(session.tensors().size());
        const int digits = std::max(static_cast<int>(std::to_string(n_rows_).size()), 2);
        columns_ = {{"#", digits, true, 0},
                    {"op", 9, false, 0},
                    {"name", 0, false, 0},
                    {"type", 5, false, 70},
                    {"shape", 18, false, 88},
                    {"split", 5, true, 58},
                    {"backend", backend_width(session), false, 0},
                    {"by", 6, false, 0}};
    }

    int n_rows() const override { return n_rows_; }

    std::vector<Text> row(Session& session, int index, int) const override {
        const TensorId id = session.tensors()[static_cast<size_t>(index)];
        const TensorInfo& info = session.history().tensor(session.state(), id);
        const auto at = static_cast<size_t>(id);
        const TensorState now = at < session.state().tensors.size() ? session.state().tensors[at] : TensorState{};
        const bool node = !session.is_copy(id) && (info.op != Op::NONE || left_out_by_log(info));
        return {{node ? std::to_string(index) : "-", dim},
                {op_text(session, id), node ? Style{} : dim},
                {left_out_by_log(info) ? "(not in the log)" : session.name(id)},
                {type_text(info), dim},
                {shape_text(info), dim},
                {now.split >= 0 ? std::to_string(now.split) : "", dim},
                backend_text(session, now.backend),
                {cause_name(now.cause, now.source)}};
    }

    std::string empty_text(const Session& session) const override {
        return session.last_step() < 0 ? "nothing is recorded yet" : "nothing is planned at this step";
    }
    std::string title(const Session&) const override { return "nodes"; }

    int row_of(const Session& session, TensorId id) const override { return session.row_of(id); }
    TensorId tensor_of(const Session& session, int row) const override { return session.tensors()[static_cast<size_t>(row)]; }
    bool changed(const Session& session, int row) const override { return session.changed_now(tensor_of(session, row)); }

    std::string detail_title(Session& session, int row) const override {
        return row < n_rows_ ? session.name(tensor_of(session, row)) : "tensor";
    }
    std::vector<Line> detail(Session& session, int row, int width) const override {
        return tensor_detail(session, tensor_of(session, row), width);
    }
    Target open(Session& session, int row) const override {
        const auto at = static_cast<size_t>(tensor_of(session, row));
        return at < session.state().tensors.size() ? Target::split(session.state().tensors[at].split) : Target{};
    }
    void facts(Session& session, int row, Facts& facts) const override {
        session.describer().tensor(session.state(), tensor_of(session, row), facts);
    }

private:
    int n_rows_ = 0;
    std::vector<Column> columns_;
};

} // namespace

std::unique_ptr<View> make_nodes_view() { return std::make_unique<NodesView>(); }

} // namespace schedscope::tui
