#include "runtime/numbers.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/heading.h"
#include "viz/pictures/markup.h"
#include "viz/pictures/reasons.h"
#include "viz/pictures/shared_attributes.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/views.h"

#include <algorithm>
#include <map>

namespace schedscope {

namespace {

/// Copies that go the same way: drawn as one edge.
struct SplitFlow {
    std::vector<TensorId> tensors;
    SizeSum size;
    BackendId from = no_backend; ///< none: where they lie is not known
};

/// What no split computes lies on a backend, or its place is unknown: a source of its own, below those of splits.
int32_t lies_on(BackendId backend) { return -2 - backend; }

std::string split_id(int32_t index) { return "split " + std::to_string(index); }

std::string names_of(const Subject& subject, const std::vector<TensorId>& tensors, size_t most) {
    std::string text;
    for (size_t i = 0; i < tensors.size() && i < most; ++i) {
        text += (i == 0 ? "" : ", ") + clipped(subject.name(tensors[i]), 40);
    }
    if (tensors.size() > most) {
        text += " " + words::and_more(tensors.size() - most, "tensor");
    }
    return text;
}

std::string flow_label(const Subject& subject, const SplitFlow& flow) {
    const std::string what =
        flow.tensors.size() == 1 ? clipped(subject.name(flow.tensors[0]), 40) : words::counted(flow.tensors.size(), "copy");
    return edge_markup(what, words::bytes(flow.size));
}

void draw_split(DotText& dot, const Subject& subject, const SplitState& split, const SizeSum& input_size) {
    const BackendStyle& style = subject.palette[split.backend()];
    const int32_t first = split.first_node(), end = subject.end_node(split);
    std::string label = sized(bold(split_id(split.begin.index), gap), 14) +
                        backend_markup(style, subject.backend_name(split.backend())) + next_line(13);
    label += end <= first ? "nodes not known"
             : end - first == 1
                 ? "node " + words::count(first)
                 : "nodes " + words::count(first) + "–" + words::count(end - 1) + " (" + words::count(end - first) + ")";
    label += split.end_node < 0 ? ", not ended yet" : "";
    label += next_line(12) + sized(html_label(why_split_starts(subject, split)), 10);
    if (!split.n_inputs()) {
        label += next_line(12) + sized("inputs not known", 10);
    } else if (!split.inputs.empty()) {
        label += next_line(12) + sized(words::counted(split.inputs.size(), "input") + ", " + words::bytes(input_size), 10);
    }
    if (const std::optional<int64_t> time = split.time_ns()) {
        label += next_line(13) + bold(words::duration(*time));
    }
    Attributes attributes;
    attributes.html("label", label).raw("fillcolor", style.fill).raw("color", style.line);
    attributes.text("backend", subject.backend_name(split.backend()));
    if (end > first) {
        attributes.number("first_node", first).number("last_node", end - 1);
    }
    attributes.raw("why", split.begin.why ? split_reason_name(*split.begin.why) : "unknown");
    dot.node(split_id(split.begin.index), numbered(subject, attributes, split.backend()));
}

} // namespace

std::string draw_splits(const Subject& subject) {
    const PlanState& state = subject.state;
    // By target, then by source split; for what no split computes (inputs, caches and weights) by where it lies.
    std::map<std::pair<int32_t, int32_t>, SplitFlow> flows;
    std::vector<SizeSum> into(state.splits.size());
    const accounts::RecordedSizes sizes(subject.session, &subject.graph);
    std::vector<int64_t> splits_on(subject.session.backends.size(), 0);
    for (size_t s = 0; s < state.splits.size(); ++s) {
        const SplitState& split = state.splits[s];
        if (is_index(split.backend(), splits_on)) {
            ++splits_on[split.backend()];
        }
        for (const record::SplitInput& input : split.inputs) {
            const int32_t made_in = subject.split_of(subject.producer(input.tensor));
            SplitFlow& flow = flows[{split.begin.index, made_in >= 0 ? made_in : lies_on(or_none(input.from))}];
            flow.tensors.push_back(input.tensor);
            const SizeSum size = sizes.of(input.tensor, input.bytes);
            flow.size.add(size);
            flow.from = or_none(input.from);
            into[s].add(size);
        }
    }

    std::vector<std::string> shares;
    const auto nodes = nodes_per_backend(subject);
    for (size_t b = 0; b < splits_on.size(); ++b) {
        shares.push_back(words::counted(splits_on[b], "split") +
                         (state.order.empty() ? "" : ", " + words::counted(nodes[b], "node")));
    }
    if (nodes.back() > 0) {
        shares.push_back(words::counted(nodes.back(), "node"));
    }
    const std::string totals = words::counted(state.splits.size(), "split") + ", " + copies_in_words(subject) +
                               (state.order.empty() ? "" : ", " + words::counted(state.order.size(), "node"));

    DotText dot("splits");
    Attributes graph = picture_attributes(heading_markup(subject, totals, shares,
                                                         {{"—▶", "copy from the split that computes it"},
                                                          {"- -▶", "copy of inputs, caches or weights, from where they lie"},
                                                          {"···▶", "runs next"}}));
    dot.graph(graph.raw("rankdir", "TB").decimal("nodesep", 0.6).decimal("ranksep", 0.45));
    dot.node_defaults(Attributes()
                          .raw("shape", "box")
                          .raw("style", "filled,rounded")
                          .raw("margin", "0.2,0.06")
                          .raw("fontname", "Helvetica,Arial,sans-serif")
                          .raw("fontsize", "11"));
    dot.edge_defaults(edge_attributes());
    for (size_t s = 0; s < state.splits.size(); ++s) {
        draw_split(dot, subject, state.splits[s], into[s]);
    }
    // Splits stand one below the other in the order they run: without that, splits of one device, which need no copies between
    // them, would lie side by side in a line too long to read.
    for (size_t s = 1; s < state.splits.size(); ++s) {
        dot.edge(split_id(state.splits[s - 1].begin.index), split_id(state.splits[s].begin.index),
                 Attributes()
                     .raw("class", "next")
                     .raw("style", "dotted")
                     .raw("color", "#9a9a9a")
                     .raw("arrowhead", "vee")
                     .number("weight", 20));
    }
    for (const auto& [way, flow] : flows) {
        const auto& [target, source] = way;
        Attributes attributes;
        if (flow.size.complete) {
            attributes.number("bytes", flow.size.bytes);
        }
        attributes.number("copies", flow.tensors.size());
        attributes.text("tooltip", names_of(subject, flow.tensors, 30));
        if (source >= 0) {
            dot.edge(split_id(source), split_id(target), attributes.html("label", flow_label(subject, flow)));
            continue;
        }
        const BackendStyle& style = subject.palette[flow.from];
        const std::string id = split_id(target) + " reads from " + id_of_name(subject.backend_name(flow.from));
        // The amount stands in the box: of several boxes beside a split all but one have an edge that must go around the others,
        // through its own label.
        const std::string count = flow.tensors.size() == 1 ? "" : words::counted(flow.tensors.size(), "copy") + ", ";
        const std::string label = backend_markup(style, subject.backend_name(flow.from)) + next_line(11) +
                                  html_label(names_of(subject, flow.tensors, 3)) + next_line(11) + count +
                                  bold(words::bytes(flow.size));
        dot.node(id, numbered(subject,
                              Attributes()
                                  .html("label", label)
                                  .raw("style", "filled,dashed")
                                  .raw("fillcolor", style.pale)
                                  .raw("color", style.line)
                                  .raw("fontsize", "9"),
                              flow.from));
        dot.edge(id, split_id(target), attributes.raw("style", "dashed"));
        dot.same_rank(id, split_id(target));
    }
    return dot.finish();
}

} // namespace schedscope
