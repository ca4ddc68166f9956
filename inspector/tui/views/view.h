#pragma once

#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/terminal/style.h"
#include "inspector/tui/views/drawings/drawing.h"
#include "inspector/tui/views/views.h"

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
    enum class Kind : uint8_t { none, tensor, step, split, evaluation, mark };
    Kind kind = Kind::none;
    int64_t id = 0;

    static Target tensor(TensorId id) { return {id == no_tensor ? Kind::none : Kind::tensor, id}; }
    static Target step(Step step) { return {Kind::step, step}; }
    static Target split(int32_t index) { return {index < 0 ? Kind::none : Kind::split, index}; }
    static Target evaluation(EvaluationId id) { return {Kind::evaluation, id}; }
    static Target mark(char letter) { return {Kind::mark, letter}; }
};

/// A line of the pane of details.
struct Line {
    std::vector<Text> parts;
    Target target = {};
    bool now = false; ///< about the present step: marked
    int hang = 2;     ///< where there is too little room for it, it goes on behind so many cells (line_wrap.h)
};
/// Lines with a fixed label in front; text that is too long goes on behind it in further lines with the same target. A label that is too long is not cut: the
/// text begins later.
void add_wrapped(std::vector<Line>& lines, int width, std::string_view label, int label_width, std::string_view text,
                 Style style = {}, Target target = {}, bool now = false);
/// A line of one text.
Line line(std::string text, Style style = {}, Target target = {});
/// A heading, after an empty line unless it is the first one.
void add_heading(std::vector<Line>& lines, std::string text);

/// "4.0 KiB"; "?" for a negative number: it exists, and was not recorded.
std::string bytes_or_unknown(int64_t bytes);
/// A backend's name in its ink.
Text backend_text(const InspectorSession& session, BackendId id);
/// Cells that the longest backend name needs (within reason).
int backend_width(const InspectorSession& session);

/// A column of the list. Widths are in cells; a width of 0 takes what the others leave.
struct Column {
    std::string_view title;
    int width = 0;
    bool right = false;         ///< numbers
    int from_width = 0;         ///< shown only in panes at least this wide
    Field field = Field::count; ///< of the row's facts, the number that its cells stand for; count: none, see View::sort_key
    int most = 0;               ///< cells that it takes where there is plenty of room; 0: `width`
};

/// One of the views: a list on the left, and the details of its selected line on the right. A view is a file with one of these and a line in the
/// table of views.cpp. It holds what it computed from the session's state; the frame around it (panes, scrolling, searching, filtering, keys) is the App's.
class View {
public:
    virtual ~View() = default;

    /// Heads of the list's columns.
    virtual std::span<const Column> columns() const = 0;
    /// The state changed: rows are computed again. Only for the view that is shown.
    virtual void update(InspectorSession& session) = 0;
    virtual int n_rows() const = 0;
    /// The cells of a row, one per column. Asked for rows on the screen only. `width`: of the growing column.
    virtual std::vector<Text> row(InspectorSession& session, int index, int width) const = 0;
    /// The number that a cell stands for, which the list is ordered by; nothing: a text, or it is not known. By default, of the column's field.
    virtual std::optional<double> sort_key(InspectorSession& session, int row, size_t column) const;
    /// What is shown when there are no rows: why. May be several lines.
    virtual std::string empty_text(const InspectorSession& session) const = 0;
    virtual std::string title(const InspectorSession& session) const = 0;

    /// The row of a tensor, −1: it has none here.
    virtual int row_of(const InspectorSession& session, TensorId id) const = 0;
    /// The tensor that selecting a row selects; none: the selection stays. By default the row's own, unless the selected one has this row as well, as one of a group.
    virtual TensorId tensor_of(const InspectorSession& session, int row) const;
    /// The one tensor that a row is the line of; none: it stands for several (a split, a group), or for something else.
    virtual TensorId own_tensor(const InspectorSession&, int) const { return no_tensor; }
    /// Is the row what the present step is about?
    virtual bool changed(const InspectorSession& session, int row) const = 0;
    /// What is drawn above the list; null: nothing.
    virtual Drawing* drawing() { return nullptr; }

    virtual std::string detail_title(InspectorSession& session, int row) const = 0;
    virtual std::vector<Line> detail(InspectorSession& session, int row, int width) const = 0;
    /// What Enter on a row opens.
    virtual Target open(InspectorSession& session, int row) const = 0;
    /// For searches and filters.
    virtual void facts(InspectorSession& session, int row, Facts& facts) const = 0;
};

std::unique_ptr<View> make_nodes_view();
std::unique_ptr<View> make_splits_view();
std::unique_ptr<View> make_copies_view();
std::unique_ptr<View> make_fusion_view();
std::unique_ptr<View> make_memory_view();
std::unique_ptr<View> make_timeline_view();
std::unique_ptr<View> make_tokens_view();
std::unique_ptr<View> make_what_if_view();
std::unique_ptr<View> make_queries_view();
std::unique_ptr<View> make_values_view();

} // namespace schedscope::tui
