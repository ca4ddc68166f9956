#include "runtime/numbers.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/words.h"
#include "viz/pictures/heading.h"
#include "viz/pictures/markup.h"
#include "viz/pictures/reasons.h"
#include "viz/pictures/shared_attributes.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/uses.h"
#include "viz/pictures/views.h"

#include <algorithm>

namespace schedscope {

namespace {

std::string small(const std::string& markup, LabelInk ink = LabelInk::grey) { return sized(markup, 8, ink); }

std::string title_id(const SplitState& split) { return "split " + std::to_string(split.begin.index) + "@title"; }

class NodesPicture {
public:
    explicit NodesPicture(const Subject& subject);
    std::string draw();

private:
    void draw_leafs(int32_t place);
    void draw_leaf(TensorId leaf, int32_t place);
    void draw_split(const SplitState& split);
    void draw_copies(int32_t split);
    void draw_range(int32_t first, int32_t end);
    /// kernel: of the fused group that it is the first of; it stands in the node because edges may cross an area's title.
    void draw_node(TensorId node, const std::string& kernel = "");
    void draw_uses(TensorId node);
    void draw_edges();
    void stack_splits();
    std::string node_label(TensorId node) const;

    /// With the tensor's id, where it was asked for.
    const Subject& subject_;
    const PlanState& state_;
    DotText dot_;
    Uses uses_;
    size_t next_fusion_ = 0;
    std::vector<record::Fusion> fusions_;
};

NodesPicture::NodesPicture(const Subject& subject)
    : subject_(subject), state_(subject.state), dot_("nodes"), uses_(subject), fusions_(subject.state.fusions) {
    std::stable_sort(fusions_.begin(), fusions_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::string NodesPicture::node_label(TensorId node) const {
    std::string label = subject_.mark(node) + bold(clipped(subject_.name(node), 64)) + next_line(13) +
                        html_label(subject_.operation(node)) + next_line(10) +
                        small(html_label(cause_text(subject_, node)), LabelInk::black);
    for (const TensorId source : subject_.sources(node)) {
        const bool is_own_cause = state_.tensors[node].by == source;
        if (source < subject_.n_tensors() && subject_.is_weight(source)) {
            label += next_line(10) + small(html_label((is_own_cause ? "weight " : clipped(subject_.name(source), 48) + " ") +
                                                      subject_.operation(source)));
        }
    }
    if (uses_.is_hub(node)) {
        label += next_line(10) + small(html_label("read by " + words::count(uses_.readers(node)) + ", drawn at each"));
    }
    return label;
}

void NodesPicture::draw_node(TensorId node, const std::string& kernel) {
    const BackendStyle& style = subject_.palette[subject_.backend_of(node)];
    const bool unassigned = subject_.backend_of(node) == no_backend;
    const std::string fused = kernel.empty() ? "" : next_line(10) + small(bold("fused: " + kernel), LabelInk::black);
    Attributes attributes;
    if (subject_.is_view_op(node)) {
        const std::string label =
            small(html_label(subject_.mark(node) + clipped(subject_.name(node), 48) + "  " + subject_.operation(node)) +
                  next_line(9) + html_label(cause_text(subject_, node)));
        attributes.html("label", label + fused).raw("margin", "0.05,0.03").raw("height", "0.2");
        attributes.raw("style", unassigned ? "filled,dashed" : "filled").raw("fillcolor", style.pale);
        add_outline(attributes, style.line, subject_.is_changed(node), true);
    } else {
        attributes.html("label", node_label(node) + fused).raw("fillcolor", style.fill);
        add_outline(attributes, style.line, subject_.is_changed(node));
        if (unassigned) {
            attributes.raw("style", "filled,rounded,dashed");
        }
    }
    dot_.node(subject_.id(node), numbered(subject_, attributes, subject_.backend_of(node), node));
}

/// Stand-ins beside the reader for what too many nodes read.
void NodesPicture::draw_uses(TensorId reader) {
    const auto draw = [&](TensorId source) {
        if (uses_.stands_in(source, reader)) {
            const record::CopyMade* made = subject_.frame.before_splits ? subject_.made_by(source) : nullptr;
            const TensorId shown = made != nullptr ? made->of : source;
            const BackendId backend = subject_.backend_of(shown);
            const BackendStyle& style = subject_.palette[backend];
            dot_.node(uses_.source_id(source, reader),
                      numbered(subject_,
                               Attributes()
                                   .html("label", small(html_label(clipped(subject_.name(shown), 48))))
                                   .raw("shape", "cds")
                                   .raw("style", "filled")
                                   .raw("fillcolor", style.pale)
                                   .raw("color", style.line)
                                   .raw("penwidth", "0.5")
                                   .raw("margin", "0.06,0.01")
                                   .raw("height", "0.2"),
                               backend, source));
        }
    };
    if (const record::CopyMade* made = subject_.made_by(reader)) {
        if (uses_.draws_original(reader)) {
            draw(made->of);
        }
        return;
    }
    for (const TensorId source : uses_.reads(subject_.position(reader))) {
        draw(source);
    }
}

void NodesPicture::draw_range(int32_t first, int32_t end) {
    for (int32_t i = first; i < end; ++i) {
        while (next_fusion_ < fusions_.size() && fusions_[next_fusion_].first < i) {
            ++next_fusion_;
        }
        if (next_fusion_ < fusions_.size() && fusions_[next_fusion_].first == i && fusions_[next_fusion_].count > 1) {
            const record::Fusion& fusion = fusions_[next_fusion_++];
            const BackendStyle& style = subject_.palette[fusion.backend];
            dot_.open_cluster("fused " + std::to_string(fusion.first),
                              numbered(subject_,
                                       Attributes()
                                           .raw("label", "")
                                           .text("tooltip", "fused: " + subject_.text(fusion.kernel))
                                           .raw("style", "rounded,filled,bold")
                                           .raw("fillcolor", "#ffffff")
                                           .raw("color", style.line)
                                           .raw("penwidth", "2")
                                           .raw("margin", "6"),
                                       fusion.backend));
            const int32_t last = std::min(end, fusion.first + fusion.count);
            for (; i < last; ++i) {
                draw_node(state_.order[i], i == fusion.first ? subject_.text(fusion.kernel) : "");
            }
            dot_.close_cluster();
            for (int32_t member = fusion.first; member < last; ++member) {
                draw_uses(state_.order[member]);
            }
            --i;
            continue;
        }
        if (subject_.is_left_out(state_.order[i])) {
            continue; // nothing is known of it
        }
        draw_node(state_.order[i]);
        draw_uses(state_.order[i]);
    }
}

void NodesPicture::draw_copies(int32_t split) {
    for (const TensorId copy : split < 0 ? uses_.loose_copies() : uses_.copies()[split]) {
        const record::CopyMade& made = *subject_.made_by(copy);
        if (subject_.frame.before_splits) {
            dot_.node(subject_.id(copy), numbered(subject_,
                                                  Attributes()
                                                      .html("label", small(html_label(clipped(subject_.name(made.of), 48))))
                                                      .raw("style", "dotted")
                                                      .raw("color", "#8a8a8a"),
                                                  no_backend, copy));
            draw_uses(copy);
            continue;
        }
        const BackendStyle& style = subject_.palette[made.backend];
        SizeSum size;
        size.add(made.bytes);
        std::string label =
            subject_.mark(copy) + "copy of " + bold(clipped(subject_.name(made.of), 48)) + next_line(11) +
            small(html_label("from " + subject_.backend_name(subject_.backend_of(made.of)) + ", ") + bold(words::bytes(size)),
                  LabelInk::black);
        if (uses_.is_hub(copy)) {
            label += next_line(10) + small(html_label("read by " + words::count(uses_.readers(copy)) + ", drawn at each"));
        }
        Attributes attributes;
        attributes.html("label", label).raw("style", "filled,dashed").raw("fillcolor", style.pale).raw("color", style.line);
        if (made.bytes) {
            attributes.number("bytes", *made.bytes);
        }
        dot_.node(subject_.id(copy), numbered(subject_, attributes, made.backend, copy));
        draw_uses(copy);
    }
}

void NodesPicture::draw_split(const SplitState& split) {
    const BackendStyle& style = subject_.palette[split.backend()];
    const int32_t first = split.first_node(), end = subject_.end_node(split);
    const std::string id = "split " + std::to_string(split.begin.index);
    const std::string range = end <= first       ? "nodes unknown"
                              : end - first == 1 ? "node " + words::count(first)
                                                 : "nodes " + words::count(first) + "–" + words::count(end - 1);
    dot_.open_cluster(id,
                      numbered(subject_,
                               Attributes()
                                   .raw("label", "")
                                   .text("tooltip", id + " on " + subject_.backend_name(split.backend()))
                                   .raw("style", subject_.frame.before_splits ? "invis" : "rounded,filled") // its room is kept
                                   .raw("fillcolor", style.pale)
                                   .raw("color", style.line)
                                   .raw("margin", "12"),
                               split.backend()));
    const std::string title = sized(bold(id, gap), 12) +
                              sized(backend_markup(style, subject_.backend_name(split.backend())), 12) + "<br align=\"left\"/>" +
                              small(html_label(range + ", " + why_split_starts(subject_, split))) + "<br align=\"left\"/>";
    // A node and not the area's own title, which edges into the area would cross.
    dot_.node(title_id(split), Attributes()
                                   .html("label", title)
                                   .raw("shape", "plaintext")
                                   .raw("style", subject_.frame.before_splits ? "invis" : "")
                                   .raw("margin", "0.02,0.02"));
    draw_leafs(split.begin.index);
    draw_copies(int_of(&split - state_.splits.data()));
    draw_range(first, end);
    dot_.close_cluster();
}

void NodesPicture::draw_leaf(TensorId leaf, int32_t place) {
    const BackendId backend = subject_.backend_of(leaf);
    const BackendStyle& style = subject_.palette[backend];
    const bool is_input = (subject_.info(leaf).flags & flag_input) != 0;
    const std::string label = subject_.mark(leaf) + bold(clipped(subject_.name(leaf), 64)) + next_line(11) +
                              small(html_label(subject_.operation(leaf) + (is_input ? ", input" : "")) + next_line(10) +
                                        html_label(cause_text(subject_, leaf)),
                                    LabelInk::black);
    dot_.node(uses_.leaf_id(leaf, place), numbered(subject_,
                                                   Attributes()
                                                       .html("label", label)
                                                       .raw("shape", "ellipse")
                                                       .raw("style", backend == no_backend ? "filled,dashed" : "filled")
                                                       .raw("fillcolor", style.fill)
                                                       .raw("color", style.line)
                                                       .raw("margin", "0.02,0.02"),
                                                   backend, leaf));
}

void NodesPicture::draw_leafs(int32_t place) {
    for (const TensorId leaf : uses_.leafs_at(place)) {
        draw_leaf(leaf, place);
    }
}

/// Splits stand one below the other in the order they run, also where no tensor that is drawn leads from one to the next: an edge
/// that is not seen goes from the last node of each to what stands at the top of the next. So do the nodes within a split of a
/// log, which leaves out what many of them read.
void NodesPicture::stack_splits() {
    const auto stack = [&](const std::string& above, const std::string& below) {
        dot_.edge(above, below, Attributes().raw("class", "next").raw("style", "invis").number("weight", 2));
    };
    std::string last;
    for (size_t s = 0; s < state_.splits.size(); ++s) {
        const SplitState& split = state_.splits[s];
        if (!last.empty()) { // a title stands beside the copies; below one, the next would stand further to the side each time
            stack(last, uses_.copies()[s].empty() ? title_id(split) : subject_.id(uses_.copies()[s].front()));
        }
        last = title_id(split);
        bool first = true;
        for (int32_t i = split.first_node(); i < subject_.end_node(split); ++i) {
            const TensorId node = state_.order[i];
            if (subject_.is_left_out(node)) {
                continue;
            }
            const auto& reads = uses_.reads(i);
            if (!subject_.all_assigned_known() && !first && std::none_of(reads.begin(), reads.end(), [&](TensorId source) {
                    return subject_.is_node(source) && subject_.split_of(source) == split.begin.index;
                })) {
                stack(last, subject_.id(node));
            }
            last = subject_.id(node);
            first = false;
        }
    }
}

void NodesPicture::draw_edges() {
    for (size_t i = 0; i < state_.order.size(); ++i) {
        const TensorId node = state_.order[i];
        for (const TensorId source : uses_.reads(i)) {
            dot_.edge(uses_.source_id(source, node), subject_.id(node));
        }
    }
    const auto draw_copy_edge = [&](TensorId copy) {
        const record::CopyMade& made = *subject_.made_by(copy);
        if (uses_.draws_original(copy)) {
            Attributes attributes;
            if (!subject_.frame.before_splits) {
                attributes.raw("style", "dashed").raw("penwidth", "1.6");
                if (made.bytes) {
                    attributes.number("bytes", *made.bytes);
                }
            }
            dot_.edge(uses_.source_id(made.of, copy), subject_.id(copy), attributes);
        }
    };
    stack_splits();
    for (const auto& copies : uses_.copies()) {
        std::for_each(copies.begin(), copies.end(), draw_copy_edge);
    }
    std::for_each(uses_.loose_copies().begin(), uses_.loose_copies().end(), draw_copy_edge);
}

std::string NodesPicture::draw() {
    const int64_t n_copies = state_.copies.size(); // also of those that no node shown reads
    std::string totals = words::counted(state_.order.size(), "node");
    std::vector<LegendSign> signs;
    if (subject_.frame.before_splits) {
        signs.push_back({"· ·", "pass 5 will put a copy here"});
    } else if (subject_.has_splits()) {
        totals += ", " + words::counted(state_.splits.size(), "split") + ", " +
                  (n_copies > 0 ? words::counted(n_copies, "copy") : "no copies");
        const int32_t stages = accounts::n_stages(state_); // each has copies of its own, of which only those in use are drawn
        totals += stages > 1 ? " for " + words::counted(stages, "stage") : "";
        signs.push_back({"- -▶", "copy between backends"});
    }
    if (!fusions_.empty() || subject_.frame.has_fusions) {
        signs.push_back({"▢", "thick outline: nodes that run as one kernel"});
    }
    if (!fusions_.empty()) {
        totals += ", " + words::counted(fusions_.size(), "fused group");
    }
    if (subject_.changed_from != no_step) {
        signs.push_back(changed_sign);
    }
    if (uses_.any_stands_in()) {
        signs.push_back(
            {"▷", "stands for a tensor that is drawn elsewhere, or read by more than " + std::to_string(max_readers)});
    }
    dot_.graph(picture_attributes(heading_markup(subject_, totals, node_shares(subject_), signs))
                   .raw("rankdir", "TB")
                   .decimal("nodesep", 0.2)
                   .decimal("ranksep", 0.3));
    dot_.node_defaults(box_attributes("0.11,0.05"));
    dot_.edge_defaults(Attributes().raw("color", "#444444").raw("arrowsize", "0.6"));
    draw_leafs(-1);
    if (subject_.has_splits()) {
        int32_t reached = 0;
        for (const SplitState& split : state_.splits) {
            draw_range(reached, split.first_node());
            draw_split(split);
            reached = std::max(reached, subject_.end_node(split));
        }
        draw_range(reached, n_of(state_.order));
    } else {
        draw_range(0, n_of(state_.order));
    }
    draw_copies(-1);
    draw_edges();
    return dot_.finish();
}

} // namespace

std::string draw_nodes(const Subject& subject) { return NodesPicture(subject).draw(); }

} // namespace schedscope
