#include "viz/pictures/picture.h"

#include "runtime/error.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/system/output_file.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/layout/layout_process.h"
#include "viz/pictures/reasons.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/views.h"

#include <algorithm>
#include <array>

namespace schedscope {

namespace {

constexpr std::array<std::string_view, 4> view_names{"splits", "layers", "nodes", "memory"};

EvaluationId evaluation_wanted(History& history, EvaluationId eval) {
    const EvaluationId id = eval < 0 ? history.opening() : eval;
    if (id < 0) {
        throw Error(ErrorKind::usage, "picture: nothing is planned in this trace");
    }
    if (id >= history.n_evaluations()) {
        throw Error(ErrorKind::usage, "evaluation " + std::to_string(id) + ": the trace has evaluations " +
                                          words::evaluations(history.n_evaluations()));
    }
    return id;
}

std::string no_passes() { return "this trace has no " + std::string(topic_words(Topic::passes)) + "; leave out --pass"; }

Step end_of_pass(History& history, EvaluationId id, Pass pass) {
    const Step step = accounts::end_of_pass(history, id, pass);
    if (step == no_step) {
        throw Error(ErrorKind::usage,
                    "pass " + std::string(pass_name(pass)) + ": " +
                        (history.knows(Topic::passes) ? "not recorded in evaluation " + std::to_string(id) : no_passes()));
    }
    return step;
}

const PlanState& state_wanted(History& history, const PictureOptions& options) {
    if (options.step) {
        if (*options.step < 0 || *options.step >= history.n_steps()) {
            throw Error(ErrorKind::usage, "step " + std::to_string(*options.step) + ": there are " +
                                              words::counted(history.n_steps(), "step") + ", counted from 0");
        }
        return history.state_at(*options.step);
    }
    const EvaluationId id = evaluation_wanted(history, options.eval);
    return options.pass ? history.state_at(end_of_pass(history, id, *options.pass)) : history.plan(id);
}

std::string moment_of(History& history, const PlanState& state, const PictureOptions& options) {
    const EvaluationSpan span = history.evaluation(state.evaluation);
    std::string text =
        "evaluation " + words::count(state.evaluation) + " (" + words::graph(span.begin, state.order.size(), state.splits.size());
    text += span.begin.reused ? ", plan of evaluation " + words::count(state.planned_in) + " used again)" : ")";
    if (options.step) {
        text += ", after step " + words::count(*options.step) + " (0…" + words::count(history.n_steps() - 1) + ")";
    }
    const Pass pass = options.step ? state.pass : options.pass.value_or(Pass::none);
    if (pass != Pass::none) {
        const bool over = options.pass || is_moment(History::Unit::sweep, history.record(*options.step));
        text += (over ? ", after " : ", in ") + words::pass(pass);
    }
    return text;
}

void check_something_to_show(const Subject& subject, PictureView view) {
    const std::string name(picture_view_name(view));
    const std::string failed = subject.state.error.empty() ? "" : " (the plan failed: " + subject.state.error + ")";
    if (view == PictureView::splits && !subject.has_splits()) {
        throw Error(ErrorKind::usage, "view " + name + ": splits are made in pass 5, and there are none at this point" + failed +
                                          "; use --view nodes");
    }
    const auto& order = subject.state.order;
    const bool none_known =
        subject.has_splits() && std::all_of(order.begin(), order.end(), [&](TensorId node) { return subject.is_left_out(node); });
    if ((view == PictureView::nodes || view == PictureView::layers) && none_known) {
        throw Error(ErrorKind::usage, "view " + name + ": this trace has no nodes; use --view splits");
    }
    if (view == PictureView::memory && !subject.session.knows.has(Topic::memory)) {
        throw Error(ErrorKind::usage,
                    "view " + name + ": " + unknown_for_lack_of(Topic::memory, "where tensors lie") + "; use --view splits");
    }
    if (view == PictureView::memory && subject.state.placements.empty()) {
        throw Error(ErrorKind::usage, "view " + name + ": no placement of tensors is recorded at this point" + failed +
                                          "; use --view splits or nodes");
    }
}

/// The name of the picture of one pass: "plan.svg" → "plan-2a.svg".
std::string path_of_pass(const std::string& path, Pass pass) {
    const size_t dot = path.find_last_of('.');
    return path.substr(0, dot) + "-" + std::string(pass_name(pass)) + path.substr(dot);
}

/// What was decided by the end of a pass, at the places of the whole plan: its order, splits and copies with the assignments of
/// then.
PlanState in_the_frame(const PlanState& then, const PlanState& whole, Pass pass) {
    PlanState state = whole;
    for (size_t id = 0; id < then.tensors.size() && id < state.tensors.size(); ++id) {
        state.tensors[id] = then.tensors[id];
    }
    state.step = then.step;
    state.pass = then.pass;
    state.fusions = then.fusions;
    state.placements = then.placements;
    if (pass != Pass::execute) {
        state.executed.clear();
        for (SplitState& split : state.splits) {
            split.forget_run();
        }
    }
    return state;
}

constexpr std::string_view renderer_of(PictureFormat format) {
    constexpr std::array<std::string_view, 4> renderers{"dot", "svg", "png", "pdf"};
    return renderers[ordinal(format)];
}

} // namespace

std::string_view picture_view_name(PictureView view) noexcept { return view_names[ordinal(view)]; }

std::span<const std::string_view> picture_view_names() noexcept { return view_names; }

std::optional<PictureView> picture_view_from_name(std::string_view name) noexcept {
    const auto found = std::find(view_names.begin(), view_names.end(), name);
    return found == view_names.end() ? std::nullopt : std::optional(static_cast<PictureView>(found - view_names.begin()));
}

std::optional<PictureFormat> picture_format_of(std::string_view path) noexcept {
    constexpr std::array<std::pair<std::string_view, PictureFormat>, 5> suffixes{{{".dot", PictureFormat::dot},
                                                                                  {".gv", PictureFormat::dot},
                                                                                  {".svg", PictureFormat::svg},
                                                                                  {".png", PictureFormat::png},
                                                                                  {".pdf", PictureFormat::pdf}}};
    for (const auto& [suffix, format] : suffixes) {
        const bool same = path.size() >= suffix.size() && same_ignoring_case(path.substr(path.size() - suffix.size()), suffix);
        if (same) {
            return format;
        }
    }
    return std::nullopt;
}

PictureView default_view(History& history, EvaluationId eval) {
    const PlanState& state = history.plan(evaluation_wanted(history, eval));
    return state.order.size() > max_nodes_view ? PictureView::layers : PictureView::nodes;
}

namespace {

std::string draw(History& history, const Subject& subject, PictureView view) {
    switch (view) {
    case PictureView::splits: return draw_splits(subject);
    case PictureView::layers: return draw_layers(subject);
    case PictureView::nodes: return draw_nodes(subject);
    case PictureView::memory:
        return draw_memory(subject, accounts::scheduler_of(history, subject.state.planned_in),
                           accounts::compute_buffers(history, subject.state));
    }
    return "";
}

} // namespace

std::string make_dot(History& history, const PictureOptions& options) {
    const PlanState& state = state_wanted(history, options);
    const OwnedGraph* graph = history.graph_of(state);
    if (graph == nullptr) {
        throw Error(ErrorKind::usage, "picture: nothing is planned at this point");
    }
    Subject subject = subject_of(history, state, *graph, moment_of(history, state, options));
    subject.heading = options.heading;
    if (options.heading) { // plans that look alike share a picture without one
        accounts::PassWork work = accounts::work_of_pass(history, state.step);
        subject.changed_from = work.first;
        subject.changed = std::move(work.changed);
    }
    subject.numbered = options.numbered;
    check_something_to_show(subject, options.view);
    return draw(history, subject, options.view);
}

void write_picture(History& history, const PictureOptions& options, PictureFormat format, const std::string& path) {
    const std::string dot = make_dot(history, options);
    write_output_file(path,
                      format == PictureFormat::dot ? dot : run_layout(dot, std::string(renderer_of(format)), options, path));
}

std::vector<std::string> write_pictures_of_passes(History& history, const PictureOptions& options, PictureFormat format,
                                                  const std::string& path) {
    const EvaluationId id = evaluation_wanted(history, options.eval);
    const PlanState whole = history.plan(id);
    const OwnedGraph* graph = history.graph_of(whole);
    if (graph == nullptr) {
        throw Error(ErrorKind::usage, "picture: nothing is planned at this point");
    }
    const bool planned = whole.planned && !whole.splits.empty();
    constexpr int heading_of_a_sequence = 620; // numbers in it change, and must not move the picture
    struct Shot {
        Pass pass;
        PlanState state;
        std::string moment;
        accounts::PassWork work;
    };
    std::vector<Shot> shots;
    const bool needs_splits = options.view == PictureView::splits, needs_memory = options.view == PictureView::memory;
    for (auto p = static_cast<uint8_t>(needs_memory   ? Pass::allocate
                                       : needs_splits ? Pass::split
                                                      : Pass::place);
         p < ordinal(Pass::count); ++p) {
        PictureOptions at = options;
        at.pass = static_cast<Pass>(p);
        const Step end = accounts::end_of_pass(history, id, *at.pass);
        if (end != no_step) {
            const PlanState& then = history.state_at(end);
            shots.push_back({*at.pass, in_the_frame(then, whole, *at.pass), moment_of(history, whole, at),
                             accounts::work_of_pass(history, end)});
        }
    }
    if (shots.empty() && !history.knows(Topic::passes)) {
        throw Error(ErrorKind::usage, "--pass all: " + no_passes());
    }
    if (shots.empty()) {
        throw Error(ErrorKind::usage, "--pass all: no pass of evaluation " + std::to_string(id) +
                                          " has anything to show in view " + std::string(picture_view_name(options.view)));
    }

    const auto subject_at = [&](const Shot& shot) {
        Subject subject = subject_of(history, shot.state, *graph, shot.moment);
        subject.changed_from = shot.work.first;
        subject.changed = shot.work.changed;
        subject.frame.in_sequence = true;
        subject.frame.heading_width = heading_of_a_sequence;
        subject.frame.before_splits = planned && shot.pass < Pass::split;
        subject.frame.has_unassigned = !needs_splits && !needs_memory;
        subject.frame.has_fusions = !whole.fusions.empty();
        return subject;
    };
    // The frame: the whole plan, each tensor with the longest text that it has in any picture, so that none grows into its
    // neighbour.
    PlanState widest = shots.back().state;
    accounts::ChangedTensors widest_changed;
    {
        std::vector<size_t> length(widest.tensors.size(), 0);
        for (const Shot& shot : shots) {
            const Subject subject = subject_at(shot);
            for (size_t tensor = 0; tensor < graph->tensors.size(); ++tensor) {
                const size_t n = cause_text(subject, int_of(tensor)).size();
                if (n > length[tensor]) {
                    length[tensor] = n;
                    widest.tensors[tensor] = shot.state.tensors[tensor];
                    if (const std::optional<BackendId> was = shot.work.changed.before(int_of(tensor))) {
                        widest_changed.add(int_of(tensor), *was);
                    }
                }
            }
        }
    }
    std::string frame;
    if (!needs_memory) { // which has places of its own
        Subject subject = subject_of(history, widest, *graph, shots.front().moment);
        subject.frame.has_unassigned = !needs_splits;
        subject.frame.has_fusions = !whole.fusions.empty();
        subject.frame.is_widest = true;
        subject.changed_from = shots.front().work.first;
        subject.changed = widest_changed;
        subject.frame.in_sequence = true;
        subject.frame.heading_width = heading_of_a_sequence;
        frame = run_layout(draw(history, subject, options.view), "dot", options, path);
        frame += '\0';
    }
    std::vector<std::pair<std::string, std::string>> pictures;
    for (const Shot& shot : shots) {
        const std::string name = path_of_pass(path, shot.pass);
        const Subject subject = subject_at(shot);
        check_something_to_show(subject, options.view);
        pictures.emplace_back(
            name, run_layout(frame + draw(history, subject, options.view), std::string(renderer_of(format)), options, name));
    }
    std::vector<std::string> names;
    for (const auto& [name, bytes] : pictures) {
        write_output_file(name, bytes);
        names.push_back(name);
    }
    return names;
}

} // namespace schedscope
