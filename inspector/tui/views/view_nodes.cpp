#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/drawings/pass_table.h"
#include "inspector/tui/views/tensor_detail.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "viz/tables/nodes.h"

#include <algorithm>
#include <climits>

namespace schedscope::tui {
namespace {

/// Nodes & passes: every tensor with its backend and the rule that put it there; on the right, its story; above, where there is
/// room, what the passes did.
class NodesView final : public View {
public:
    explicit NodesView(InspectorSession& session) : table_(session.history()) {}
    const tables::Table& table() const override { return table_; }
    void update(InspectorSession& session) override {
        table_.update(session.state(), session.tensors(), session.changed());
        passes_.update(session);
    }

    std::string empty_text(const InspectorSession& session) const override {
        return session.last_step() < 0
                   ? "nothing is recorded yet"
                   : "nothing is planned at this step: N goes on to the end of a pass, ] to the next evaluation";
    }
    std::string title(const InspectorSession& session) const override {
        const int n = session.n_changed();
        return n > 1 ? joined({"nodes, ", std::to_string(n), " changed"}) : "nodes";
    }
    Drawing* drawing() override { return &passes_; }

    int row_of(const InspectorSession& session, TensorId id) const override { return session.row_of(id); }
    TensorId tensor_of(const InspectorSession& session, int row) const override { return session.tensors()[row]; }
    bool changed(const InspectorSession& session, int row) const override { return session.changed_now(tensor_of(session, row)); }

    std::string detail_title(InspectorSession& session, int row) const override {
        return row < n_rows() ? session.name(tensor_of(session, row)) : "tensor";
    }
    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        return tensor_detail(session, tensor_of(session, row), width);
    }
    Target open(InspectorSession& session, int row) const override {
        const size_t at = tensor_of(session, row);
        return at < session.state().tensors.size() ? Target::split(session.state().tensors[at].split) : Target{};
    }

private:
    tables::NodesTable table_;
    PassTable passes_;
};

} // namespace

std::unique_ptr<View> make_nodes_view(InspectorSession& session) { return std::make_unique<NodesView>(session); }

} // namespace schedscope::tui
