#include "inspector/tui/views/values.h"

namespace schedscope::tui {
namespace {

/// Values: a trace of a verification shows how far two backends are apart, any other one what the watched tensors held. One of
/// the two at a time; which one is the trace's, so that it stays the same at every step.
class ValuesView final : public View {
public:
    explicit ValuesView(InspectorSession& session)
        : watched_(make_watched_values(session)), compared_(make_compared_values(session)) {}
    const tables::Table& table() const override { return face_->table(); }
    void update(InspectorSession& session) override {
        const Step last = session.last_step();
        if (face_ == watched_.get() && last > searched_) {
            if (session.history().source().next_of(searched_, fact_bit<record::Difference>()) != no_step) {
                face_ = compared_.get();
            }
            searched_ = last;
        }
        face_->update(session);
    }
    std::string empty_text(const InspectorSession& session) const override { return face_->empty_text(session); }
    std::string title(const InspectorSession& session) const override { return face_->title(session); }
    int row_of(const InspectorSession& session, TensorId id) const override { return face_->row_of(session, id); }
    TensorId tensor_of(const InspectorSession& session, int row) const override { return face_->tensor_of(session, row); }
    TensorId own_tensor(const InspectorSession& session, int row) const override { return face_->own_tensor(session, row); }
    bool changed(const InspectorSession& session, int row) const override { return face_->changed(session, row); }
    Drawing* drawing() override { return face_->drawing(); }
    std::string detail_title(InspectorSession& session, int row) const override { return face_->detail_title(session, row); }
    std::vector<Line> detail(InspectorSession& session, int row, int width) const override {
        return face_->detail(session, row, width);
    }
    Target open(InspectorSession& session, int row) const override { return face_->open(session, row); }

private:
    std::unique_ptr<View> watched_, compared_;
    View* face_ = watched_.get();
    Step searched_ = no_step; ///< no difference is recorded up to here
};

} // namespace

std::unique_ptr<View> make_values_view(InspectorSession& session) { return std::make_unique<ValuesView>(session); }

} // namespace schedscope::tui
