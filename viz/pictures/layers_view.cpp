#include "runtime/numbers.h"
#include "runtime/ops/catalogue.h"
#include "runtime/system/joined.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"
#include "viz/pictures/blocks.h"
#include "viz/pictures/dot_text.h"
#include "viz/pictures/heading.h"
#include "viz/pictures/markup.h"
#include "viz/pictures/shared_attributes.h"
#include "viz/pictures/subject.h"
#include "viz/pictures/views.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace schedscope {

namespace {

constexpr size_t max_reading_groups = 4; ///< what more groups than this read is named in them instead of drawn as edges

constexpr double bar_width = 120; ///< points, of the bar that shows how a group's nodes are shared

struct Group {
    NodeBlock block;
    int32_t last = block.number; ///< of blocks that are drawn as one
    SizeSum passed = {};         ///< from each of those to the next
    std::vector<TensorId> nodes = {};
    std::vector<int64_t> on = {}; ///< [n_backends + 1] nodes, the last entry: unassigned
    std::set<int32_t> splits = {};
    std::set<TensorId> weights = {};
    std::set<TensorId> reads_widely = {};             ///< originals of what many groups read
    std::vector<const record::CopyMade*> copies = {}; ///< made for its nodes, each counted in the first group that reads it
    int64_t ns = 0;                                   ///< of the kernels that were timed, and of whole splits inside
    std::set<BackendId> timed = {};                   ///< whose time that is, in part or all of it
    std::set<BackendId> untimed = {};                 ///< that ran nodes of it in other splits whose kernels were not timed

    int32_t n_blocks() const noexcept { return last - block.number + 1; }
    std::string title() const {
        return n_blocks() == 1 ? block.title() : "layers " + std::to_string(block.number) + "–" + std::to_string(last);
    }
};

struct GroupFlow {
    std::set<TensorId> tensors;
    SizeSum size;
    bool copied = false;
};

class LayersView {
public:
    explicit LayersView(const Subject& subject);
    std::string draw() const;

private:
    using Flows = std::map<std::pair<size_t, size_t>, std::map<bool, GroupFlow>>;

    bool same_nodes(const Group& a, const Group& b) const;
    bool is_mixed(const Group& group) const;
    SizeSum size_of_copies(const Group& group) const;
    bool is_alike(const Group& a, const Group& b) const;
    std::vector<size_t> ends_of_runs() const;
    void fold();
    void draw_group(DotText& dot, const Group& group) const;
    template <typename Tensors> std::string names(const Tensors& tensors, size_t most) const;
    std::vector<TensorId> most_read_first(const std::set<TensorId>& tensors) const;

    SizeSum size_of(const std::set<TensorId>& tensors) const;

    const Subject& subject_;
    std::vector<Group> groups_;
    size_t n_groups_ = 0;
    Flows flows_;                          ///< by source and target group, then stays or is copied
    std::map<TensorId, size_t> n_readers_; ///< groups, of what is read by another group or has no group
};

LayersView::LayersView(const Subject& subject) : subject_(subject) {
    const PlanState& state = subject.state;
    std::vector<int32_t> group_of(subject.n_ids(), -1);
    const std::vector<NodeBlock> blocks = blocks_of(subject);
    std::map<std::pair<NodeBlock::Kind, int32_t>, size_t> group_of_block;
    std::map<int32_t, std::set<size_t>> groups_of_untimed; // by split whose kernels were not timed
    for (size_t i = 0; i < state.order.size(); ++i) {
        const TensorId node = state.order[i];
        const auto [known, is_new] = group_of_block.try_emplace({blocks[i].kind, blocks[i].number}, groups_.size());
        if (is_new) {
            groups_.push_back({.block = blocks[i], .on = std::vector<int64_t>(subject.session.backends.size() + 1, 0)});
        }
        Group* group = &groups_[known->second];
        group_of[node] = int_of(known->second);
        group->nodes.push_back(node);
        const BackendId backend = subject.backend_of(node);
        ++(backend >= 0 && static_cast<size_t>(backend) + 1 < group->on.size() ? group->on[backend] : group->on.back());
        if (const int32_t split = subject.split_of(node); split >= 0) {
            group->splits.insert(split);
            const std::optional<Op> op = subject.info(node).op;
            if (state.splits[split].kernels != 0 && (!op || is_computed(*op))) { // a view lies in whatever split is around it
                groups_of_untimed[split].insert(known->second);
            }
        }
    }
    for (const auto& [split, groups] : groups_of_untimed) { // its time as a whole is a block's if all of it lies there
        const SplitState& whole = state.splits[split];
        if (const std::optional<int64_t> ns = whole.time_ns(); ns && groups.size() == 1) {
            groups_[*groups.begin()].ns += *ns;
            groups_[*groups.begin()].timed.insert(whole.backend());
            continue;
        }
        for (const size_t group : groups) {
            groups_[group].untimed.insert(whole.backend());
        }
    }
    for (const record::Execute& kernel : state.executed) {
        if (kernel.last >= 0 && kernel.last < subject.n_ids() && group_of[kernel.last] >= 0) {
            groups_[group_of[kernel.last]].ns += kernel.end_ns - kernel.start_ns;
            groups_[group_of[kernel.last]].timed.insert(kernel.backend);
        }
    }

    // Who reads what: by original tensor, per reading group, as a copy or not.
    std::map<TensorId, std::map<int32_t, bool>> reading;
    std::set<TensorId> counted_copies;
    std::map<TensorId, SizeSum> copied_sizes; // by original: a log says no other
    const accounts::RecordedSizes sizes(subject.session, &subject.graph);
    for (const record::CopyMade& made : state.copies) {
        copied_sizes.emplace(made.of, sizes.of(made.of, made.bytes));
    }
    for (const TensorId node : state.order) {
        const int32_t target = group_of[node];
        for (const TensorId source : subject.sources(node)) {
            const record::CopyMade* made = subject.made_by(source);
            const TensorId original = made != nullptr ? made->of : source;
            if (made != nullptr && counted_copies.insert(source).second) {
                groups_[target].copies.push_back(made);
            }
            if (subject.is_weight(original)) {
                groups_[target].weights.insert(original);
            }
            if (group_of[original] != target || made != nullptr) {
                bool& copied = reading[original][target];
                copied = copied || made != nullptr;
            }
        }
    }
    for (const auto& [original, readers] : reading) {
        const int32_t source = group_of[original]; // −1: a leaf
        const bool widely = source < 0 || readers.size() > max_reading_groups;
        n_readers_[original] = readers.size();
        for (const auto& [target, copied] : readers) {
            if (widely) {
                if (!subject.is_weight(original)) {
                    groups_[target].reads_widely.insert(original);
                }
            } else if (source != target) {
                GroupFlow& flow = flows_[{source, target}][copied];
                flow.tensors.insert(original);
                const auto copy = copied_sizes.find(original);
                copy == copied_sizes.end() ? flow.size.add(subject.info(original).bytes()) : flow.size.add(copy->second);
                flow.copied = copied;
            }
        }
    }
    n_groups_ = groups_.size();
    if (!subject.frame.in_sequence && !subject.numbered && subject.changed_from == no_step) {
        fold();
    }
}

SizeSum LayersView::size_of(const std::set<TensorId>& tensors) const {
    SizeSum size;
    for (const TensorId tensor : tensors) {
        size.add(subject_.info(tensor).bytes());
    }
    return size;
}

/// The same operators on the same backends.
bool LayersView::same_nodes(const Group& a, const Group& b) const {
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), [&](TensorId x, TensorId y) {
        return subject_.info(x).op == subject_.info(y).op && subject_.backend_of(x) == subject_.backend_of(y);
    });
}

bool LayersView::is_mixed(const Group& group) const {
    return std::none_of(group.on.begin(), group.on.end(), [&](int64_t n) { return n == std::ssize(group.nodes); });
}

SizeSum LayersView::size_of_copies(const Group& group) const {
    const accounts::RecordedSizes sizes(subject_.session, &subject_.graph);
    SizeSum size;
    for (const record::CopyMade* made : group.copies) {
        size.add(sizes.of(made->of, made->bytes));
    }
    return size;
}

/// But for names and times: blocks whose nodes are placed alike, in one split or in as many, with as many copies.
bool LayersView::is_alike(const Group& a, const Group& b) const {
    const bool in_one_split = a.splits == b.splits && a.splits.size() <= 1;
    return a.block.kind == NodeBlock::Kind::block && b.block.kind == NodeBlock::Kind::block &&
           b.block.number == a.block.number + 1 && same_nodes(a, b) && a.on == b.on &&
           (in_one_split || (a.splits.size() > 1 && a.splits.size() == b.splits.size())) && a.copies.size() == b.copies.size() &&
           size_of_copies(a).known() == size_of_copies(b).known() && a.timed == b.timed && a.untimed == b.untimed &&
           a.weights.size() == b.weights.size() && size_of(a.weights).known() == size_of(b.weights).known();
}

/// By group: one past the last of those that may be drawn as one with it. Each hands on to the next alone, without a copy.
std::vector<size_t> LayersView::ends_of_runs() const {
    constexpr size_t least = 3; // fewer are as quick to read each by itself
    std::vector<size_t> n_in(groups_.size()), n_out(groups_.size()), ends(groups_.size());
    for (const auto& [way, kinds] : flows_) {
        n_out[way.first] += kinds.size();
        n_in[way.second] += kinds.size();
    }
    const auto hands_on = [&](size_t at) {
        const auto flow = flows_.find({at, at + 1});
        return flow != flows_.end() && !flow->second.contains(true) && n_out[at] == 1 && n_in[at + 1] == 1;
    };
    for (size_t first = 0; first < groups_.size();) {
        size_t end = first + 1;
        const auto passes_the_same = [&](size_t at) {
            return flows_.at({at, at + 1}).at(false).size.known() == flows_.at({first, first + 1}).at(false).size.known();
        };
        while (end < groups_.size() && is_alike(groups_[end - 1], groups_[end]) && hands_on(end - 1) &&
               passes_the_same(end - 1)) {
            ++end;
        }
        for (const size_t run_end = end - first >= least ? end : first + 1; first < run_end; ++first) {
            ends[first] = run_end;
        }
    }
    return ends;
}

/// Of eighty layers that are placed alike, one box says it.
void LayersView::fold() {
    const std::vector<size_t> ends = ends_of_runs();
    std::vector<Group> folded;
    std::vector<size_t> now(groups_.size());
    for (size_t i = 0; i < groups_.size(); ++i) {
        Group& group = groups_[i];
        if (i > 0 && ends[i - 1] == ends[i]) {
            Group& first = folded.back();
            const auto joins = [](auto& all, const auto& more) { all.insert(more.begin(), more.end()); };
            first.last = group.block.number;
            first.nodes.insert(first.nodes.end(), group.nodes.begin(), group.nodes.end());
            std::transform(first.on.begin(), first.on.end(), group.on.begin(), first.on.begin(), std::plus());
            joins(first.splits, group.splits);
            joins(first.weights, group.weights);
            joins(first.reads_widely, group.reads_widely);
            first.copies.insert(first.copies.end(), group.copies.begin(), group.copies.end());
            first.ns += group.ns;
            first.passed = flows_.at({i - 1, i}).at(false).size;
        } else {
            folded.push_back(std::move(group));
        }
        now[i] = folded.size() - 1;
    }
    groups_ = std::move(folded);
    Flows flows;
    for (auto& [way, kinds] : flows_) {
        if (now[way.first] != now[way.second]) {
            flows[{now[way.first], now[way.second]}] = std::move(kinds);
        }
    }
    flows_ = std::move(flows);
}

/// The inputs that all blocks read in front of a block's own cache, so that what each names first is the same; else in the
/// graph's order.
std::vector<TensorId> LayersView::most_read_first(const std::set<TensorId>& tensors) const {
    std::vector<TensorId> ordered(tensors.begin(), tensors.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [this](TensorId x, TensorId y) { return n_readers_.at(x) > n_readers_.at(y); });
    return ordered;
}

template <typename Tensors> std::string LayersView::names(const Tensors& tensors, size_t most) const {
    std::string text;
    size_t n = 0;
    for (const TensorId tensor : tensors) {
        if (n++ == most) {
            return text + " " + words::and_more(tensors.size() - most, "tensor");
        }
        text += (text.empty() ? "" : ", ") + clipped(subject_.name(tensor), 32);
    }
    return text;
}

void LayersView::draw_group(DotText& dot, const Group& group) const {
    const auto small = [](const std::string& markup) { return next_line(11) + sized(markup, 9); };
    std::string label = sized(bold(group.title(), gap), 13) + words::counted(group.nodes.size(), "node");
    const auto n_changed =
        std::count_if(group.nodes.begin(), group.nodes.end(), [&](TensorId node) { return !subject_.mark(node).empty(); });
    label += n_changed == 0 ? "" : ", ● " + words::count(n_changed) + " changed";
    std::string bar, shares;
    BackendId main_backend = no_backend;
    int64_t most = 0;
    const auto n = to_double(group.nodes.size());
    for (size_t b = 0; b < group.on.size(); ++b) {
        const auto backend = b + 1 < group.on.size() ? narrow<BackendId>(b) : no_backend;
        if (group.on[b] == 0) {
            continue;
        }
        const BackendStyle& style = subject_.palette[backend];
        shares += std::string(shares.empty() ? "" : "&#160;·&#160;") +
                  backend_markup(style, subject_.backend_name(backend) + " " + words::count(group.on[b]));
        const auto points = std::max<int64_t>(2, static_cast<int64_t>(to_double(group.on[b]) * bar_width / n));
        bar += joined({R"(<td height="5" fixedsize="true" width=")", std::to_string(points), R"(" bgcolor=")", style.fill,
                       R"(" border="1" color=")", style.line, R"("></td>)"});
        if (group.on[b] > most) {
            most = group.on[b];
            main_backend = backend;
        }
    }
    if (subject_.frame.is_widest) {
        shares.clear();
        for (size_t b = 0; b < group.on.size(); ++b) {
            const auto backend = b + 1 < group.on.size() ? narrow<BackendId>(b) : no_backend;
            shares += backend_markup(subject_.palette[backend],
                                     subject_.backend_name(backend) + " " + words::count(std::ssize(group.nodes))) +
                      "&#160;·&#160;";
        }
    }
    label += next_line(12) + shares;
    if (!group.splits.empty() && !subject_.frame.before_splits) {
        const int32_t first = *group.splits.begin(), last = *group.splits.rbegin();
        const bool gapless = last - first + 1 == n_of(group.splits);
        std::string text;
        if (gapless && last > first) {
            text = "splits " + std::to_string(first) + "–" + std::to_string(last);
        } else if (last == first) {
            text = "split " + std::to_string(first);
        } else {
            text =
                words::counted(group.splits.size(), "split") + " from " + std::to_string(first) + " to " + std::to_string(last);
        }
        label += small(text);
    }
    if (!group.copies.empty() && !subject_.frame.before_splits) {
        label += small(words::counted(group.copies.size(), "copy") + " for it, " + words::bytes(size_of_copies(group)));
    }
    if (!group.weights.empty()) {
        label += small(words::counted(group.weights.size(), "weight") + ", " + words::bytes(size_of(group.weights)));
    }
    if (!group.reads_widely.empty()) {
        label += small("reads " + html_label(names(most_read_first(group.reads_widely), 3)));
    }
    if (group.n_blocks() > 1) {
        const auto each = [&](int64_t n, std::string_view what) { return words::counted(n / group.n_blocks(), what); };
        label += small(each(std::ssize(group.nodes), "node") +
                       (group.copies.empty() ? "" : " and " + each(std::ssize(group.copies), "copy")) + " each, " +
                       words::bytes(group.passed) + " from one to the next");
    }
    if (group.ns > 0) {
        label += next_line(12) + bold((group.untimed.empty() ? "" : "at least ") + words::duration(group.ns));
    }
    if (!group.untimed.empty()) { // by itself, or all but that time is
        const auto name = [&](BackendId backend) {
            return subject_.backend_name(backend) + (group.timed.contains(backend) ? " in part" : "");
        };
        label += small((group.ns > 0 ? html_label(joined(group.untimed, ", ", name)) + " " : "") + not_timed_text);
    }
    const bool mixed = is_mixed(group);
    if (mixed) { // the shares stand below the text: it is not to run over where colours meet
        constexpr std::string_view table = R"(<table border="0" cellborder="0" cellspacing="0" cellpadding=")";
        const std::string width = std::to_string(static_cast<int>(bar_width) + 4); // else the cells spread over the box
        label = joined({table, R"(1"><tr><td>)", label, "</td></tr><tr><td>", table, R"(0" fixedsize="true" height="7" width=")",
                        width, R"("><tr>)", bar, "</tr></table></td></tr></table>"});
    }
    Attributes attributes;
    attributes.html("label", label);
    add_outline(attributes, subject_.palette[main_backend].line,
                std::any_of(group.nodes.begin(), group.nodes.end(), [&](TensorId node) { return subject_.is_changed(node); }));
    const BackendStyle& main = subject_.palette[main_backend];
    attributes.raw("fillcolor", mixed ? main.pale : main.fill);
    if (!mixed && main_backend == no_backend) {
        attributes.raw("style", "filled,rounded,dashed");
    }
    attributes.number("n_nodes", group.nodes.size());
    dot.node(group.title(), numbered(subject_, attributes, mixed ? no_backend : main_backend));
}

std::string LayersView::draw() const {
    std::string totals = words::counted(subject_.state.order.size(), "node") + " in " + words::counted(n_groups_, "group") +
                         (n_groups_ > groups_.size() ? " (" + words::count(groups_.size()) + " boxes: alike ones in one)" : "");
    std::vector<LegendSign> signs{{"—▶", "tensors that stay where they are"}};
    if (subject_.frame.before_splits) {
        signs.push_back({" ", "splits and copies are made in pass 5"}); // the heading stays as high as those that follow
    } else if (subject_.has_splits()) {
        totals += ", " + words::counted(subject_.state.splits.size(), "split") + ", " + copies_in_words(subject_);
        signs.push_back({"- -▶", "tensors copied to another backend"});
    }
    const bool any_mixed = std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) { return is_mixed(group); });
    if (any_mixed || subject_.frame.in_sequence) { // of a sequence each has the same lines
        signs.push_back({"▬", "the share of its nodes that each backend has"});
    }
    if (subject_.changed_from != no_step) {
        signs.push_back(changed_sign);
    }
    DotText dot("layers");
    dot.graph(picture_attributes(heading_markup(subject_, totals, node_shares(subject_), signs))
                  .raw("rankdir", "TB")
                  .decimal("nodesep", 0.4)
                  .decimal("ranksep", 0.4));
    dot.node_defaults(box_attributes("0.15,0.06"));
    dot.edge_defaults(edge_attributes());
    for (const Group& group : groups_) {
        draw_group(dot, group);
    }
    for (const auto& [way, kinds] : flows_) {
        for (const auto& [copied, flow] : kinds) {
            const std::string what =
                flow.tensors.size() == 1 ? names(flow.tensors, 1) : words::counted(flow.tensors.size(), "tensor");
            Attributes attributes;
            attributes.html("label", edge_markup(what, words::bytes(flow.size)));
            if (flow.size.complete) {
                attributes.number("bytes", flow.size.bytes);
            }
            attributes.number("tensors", flow.tensors.size()).text("tooltip", names(flow.tensors, 30));
            if (copied && !subject_.frame.before_splits) {
                attributes.raw("style", "dashed").raw("penwidth", "1.6");
            }
            dot.edge(groups_[way.first].title(), groups_[way.second].title(), attributes);
        }
    }
    return dot.finish();
}

} // namespace

std::string draw_layers(const Subject& subject) { return LayersView(subject).draw(); }

} // namespace schedscope
