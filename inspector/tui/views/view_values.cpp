#include "inspector/tui/views/values.h"

namespace schedscope::tui {
namespace {

/// Values: a trace of a verification shows how far two backends are apart, any other one what the watched tensors held. One of the two at a time; which
/// one is the trace's, so that it stays the same at every step.
class ValuesView final : public View {
public:
    std::span<const Column> columns() const override { return face_->columns(); }
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
    std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const override {
        return face_->sort_key(session, row, column);
    }
    int n_rows() const override { return face_->n_rows(); }
    std::vector<Text> row(InspectorSession& session, int index, int width) const override {
        return face_->row(session, index, width);
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
    void facts(InspectorSession& session, int row, Facts& facts) const override { face_->facts(session, row, facts); }

private:
    std::unique_ptr<View> watched_ = make_watched_values(), compared_ = make_compared_values();
    View* face_ = watched_.get();
    Step searched_ = no_step; ///< no difference is recorded up to here
};

} // namespace

std::unique_ptr<View> make_values_view() { return std::make_unique<ValuesView>(); }

} // namespace schedscope::tui
