#pragma once

#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/terminal/style.h"
#include "inspector/tui/views/drawings/drawing.h"
#include "inspector/tui/views/views.h"
#include "viz/tables/table.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// Some text in one style.
struct Text {
    std::string text;
    Style style = {};
};

/// Where Enter on a line leads.
struct Target {
    enum class Kind : uint8_t { none, tensor, step, split, evaluation, mark, breakpoint };
    Kind kind = Kind::none;
    int64_t id = 0;

    static Target tensor(TensorId id) { return {id == no_tensor ? Kind::none : Kind::tensor, id}; }
    static Target step(Step step) { return {Kind::step, step}; }
    static Target split(int32_t index) { return {index < 0 ? Kind::none : Kind::split, index}; }
    static Target evaluation(EvaluationId id) { return {Kind::evaluation, id}; }
    static Target mark(char letter) { return {Kind::mark, letter}; }
    static Target breakpoint(int number) { return {Kind::breakpoint, number}; } ///< stays where it is, and turns it on or off
};

/// A line of the pane of details.
struct Line {
    std::vector<Text> parts;
    Target target = {};
    bool now = false; ///< about the present step: marked
    int hang = 2;     ///< where there is too little room for it, it goes on behind so many cells (line_wrap.h)
};
/// Lines with a fixed label in front; text that is too long goes on behind it in further lines with the same target. A label that
/// is too long is not cut: the text begins later.
void add_wrapped(std::vector<Line>& lines, int width, std::string_view label, int label_width, std::string_view text,
                 Style style = {}, Target target = {}, bool now = false);
/// A line of one text.
Line line(std::string text, Style style = {}, Target target = {});
/// A heading, after an empty line unless it is the first one.
void add_heading(std::vector<Line>& lines, std::string text);

/// Lines as text.
std::string lines_text(std::span<const Line> lines);

/// "4.0 KiB"; "?" for a negative number: it exists, and was not recorded.
/// A backend's name in its ink.
Text backend_text(const InspectorSession& session, BackendId id);
/// Cells that the longest backend name needs (within reason).
int backend_width(const InspectorSession& session);

/// One of the views: a list on the left, and the details of its selected line on the right. A view is a file with one of these
/// and a line in the table of views.cpp. It holds what it computed from the session's state; the frame around it (panes,
/// scrolling, searching, filtering, keys) is the App's.
class View {
public:
    virtual ~View() = default;

    /// What the list shows. The same object as long as the view.
    virtual const tables::Table& table() const = 0;
    /// The state changed: the table is computed again. Only for the view that is shown.
    virtual void update(InspectorSession& session) = 0;
    int n_rows() const { return table().n_rows(); }
    /// A cell as it is drawn.
    static Text text(const InspectorSession& session, const tables::Column& column, const tables::Cell& cell);
    /// What is shown when there are no rows: why. May be several lines.
    virtual std::string empty_text(const InspectorSession&) const { return table().when_empty(); }
    virtual std::string title(const InspectorSession& session) const = 0;

    /// The row of a tensor, −1: it has none here.
    virtual int row_of(const InspectorSession& session, TensorId id) const = 0;
    /// The tensor that selecting a row selects; none: the selection stays. By default the row's own, unless the selected one has
    /// this row as well, as one of a group.
    virtual TensorId tensor_of(const InspectorSession& session, int row) const;
    /// The one tensor that a row is the line of; none: it stands for several (a split, a group), or for something else.
    virtual TensorId own_tensor(const InspectorSession&, int row) const { return table().tensor(row); }
    /// Is the row what the present step is about?
    virtual bool changed(const InspectorSession& session, int row) const = 0;
    /// What is drawn above the list; null: nothing.
    virtual Drawing* drawing() { return nullptr; }

    virtual std::string detail_title(InspectorSession& session, int row) const = 0;
    virtual std::vector<Line> detail(InspectorSession& session, int row, int width) const = 0;
    /// What Enter on a row opens.
    virtual Target open(InspectorSession& session, int row) const = 0;
    /// For searches and filters: what is said of the row's tensor, and what its columns say.
    void facts(InspectorSession& session, int row, Facts& facts) const;
};

std::unique_ptr<View> make_nodes_view(InspectorSession& session);
std::unique_ptr<View> make_splits_view(InspectorSession& session);
std::unique_ptr<View> make_copies_view(InspectorSession& session);
std::unique_ptr<View> make_fusion_view(InspectorSession& session);
std::unique_ptr<View> make_memory_view(InspectorSession& session);
std::unique_ptr<View> make_timeline_view(InspectorSession& session);
std::unique_ptr<View> make_tokens_view(InspectorSession& session);
std::unique_ptr<View> make_what_if_view(InspectorSession& session);
std::unique_ptr<View> make_queries_view(InspectorSession& session);
std::unique_ptr<View> make_values_view(InspectorSession& session);

} // namespace schedscope::tui
