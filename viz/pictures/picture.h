#pragma once

#include "runtime/system/budget.h"
#include "runtime/system/process/program_role.h"
#include "traces/history/history.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Pictures of a plan: Graphviz text from a trace's read model, and that text laid out as SVG, PNG or PDF.
namespace schedscope {

/// splits: one box a split, edges are copies. layers: blocks (the -N of names) collapsed. nodes: every tensor, a cluster per
/// split. memory: tensors as rectangles, time by offset, per buffer.
enum class PictureView : uint8_t { splits, layers, nodes, memory };
enum class PictureFormat : uint8_t { dot, svg, png, pdf };

std::string_view picture_view_name(PictureView view) noexcept;   ///< "splits"
std::span<const std::string_view> picture_view_names() noexcept; ///< in their order
std::optional<PictureView> picture_view_from_name(std::string_view name) noexcept;
/// By suffix, any case: .dot (.gv), .svg, .png, .pdf. Nothing for any other.
std::optional<PictureFormat> picture_format_of(std::string_view path) noexcept;

constexpr const char* layout_role = "--layout-child"; ///< of this program, when it is the child that lays out

struct PictureOptions {
    PictureView view = PictureView::splits;
    EvaluationId eval = -1;   ///< −1: the last one that was planned
    std::optional<Pass> pass; ///< state at the end of this pass; nothing: at the end of the evaluation
    std::optional<Step> step; ///< state after this record; goes before eval and pass

    // For programs that read the picture:
    bool heading = true;   ///< false: nothing above it, so that plans that look alike have the same text
    bool numbered = false; ///< shapes carry `tensor` and `backend_id`, the numbers in the trace

    int64_t layout_seconds = budget::layout_seconds; ///< the child that lays out is ended after this long
    /// Asked whenever a signal arrived or a moment has passed while the child works; true ends it.
    std::function<bool()> cancelled;
    /// The child; the format's name is appended. It reads dot on stdin and writes the picture to stdout, as layout_child_main
    /// does.
    std::vector<std::string> layout_command = own_command(layout_role);
};

/// The view that suits the size: nodes, or layers above this many nodes.
constexpr int max_nodes_view = 2000;
PictureView default_view(History& history, EvaluationId eval = -1);

/// Graphviz text: one statement a line, ids made from names, order of evaluation; it does not depend on a layout. The same plan
/// gives the same text, run after run, up to the times in the labels of what was executed (none with `pass` before execute).
/// Throws Error(usage) when the evaluation, step or pass is not in the trace, or nothing that the view shows was recorded by
/// then.
std::string make_dot(History& history, const PictureOptions& options);

/// Lays `make_dot` out in a child process and writes it to `path` (PictureFormat::dot: the text itself). Throws Error(usage) as
/// make_dot, Error(device) when the file can't be written, or when the layout crashed, ran out of time or was cancelled; nothing
/// is written then.
void write_picture(History& history, const PictureOptions& options, PictureFormat format, const std::string& path);

/// One picture a pass, to be flipped through: `path` with the pass before its suffix ("plan.svg": plan-1.svg, plan-2a.svg, …), of
/// every pass that was recorded and has something to show. All have the places of the whole plan, laid out once: nothing moves
/// from picture to picture. Formats as write_picture, .dot with the places in it. Returns the files' names; throws as
/// write_picture, and then none was written.
std::vector<std::string> write_pictures_of_passes(History& history, const PictureOptions& options, PictureFormat format,
                                                  const std::string& path);

/// The child's work, for the program to do when its first argument is layout_role: argv is PROGRAM --layout-child
/// svg|png|pdf|json0|dot, dot comes on stdin, the picture goes to stdout; two texts with a NUL between: the second, at the places
/// that the first has. Returns the exit status when it fails; otherwise it ends the process.
int layout_child_main(int argc, char** argv);

} // namespace schedscope
