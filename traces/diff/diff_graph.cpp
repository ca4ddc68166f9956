// What differs between two graphs: tensors that only one has, and what became of those that both have.

#include "runtime/numbers.h"
#include "runtime/ops/params.h"
#include "runtime/system/joined.h"
#include "traces/diff/diff_parts.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope::diff {

namespace {

std::string op_text(const TensorInfo& t) { return t.op ? std::string(op_name(t)) : unknown_text; }

std::string describe_tensor(const TensorInfo& t) {
    return (t.is_leaf() ? "leaf" : op_text(t)) + (t.type ? " " + type_text(t) : "") + (t.ne ? " " + shape_text(t) : "");
}

std::string layout_text(const TensorInfo& t) {
    std::string text = "strides";
    for (const size_t stride : t.nb.value_or(Strides{})) {
        text += " " + std::to_string(stride);
    }
    return t.is_view() ? text + " at " + std::to_string(t.view_offset) : text;
}

std::string raw_text(const Params& params) {
    size_t n = params.size();
    while (n > 0 && params[n - 1] == 0) {
        --n;
    }
    return n == 0 ? "none" : joined(std::span(params).first(n), " ", [](int32_t p) { return std::to_string(p); });
}

template <typename T> T read_at(const Params& params, size_t offset) {
    T value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(params.data()) + offset, sizeof value);
    return value;
}

/// The parameters that differ, by their names: "eps 1e-06". Of an operator whose parameters have no names: all, as they are kept.
std::pair<std::string, std::string> parameters_text(std::optional<Op> op, const Params& a, const Params& b) {
    std::pair<std::string, std::string> text;
    Params rest_a = a, rest_b = b; // without those that have a name
    size_t offset = 0;
    const std::string_view fields = op ? fields_of_params(*op) : "()";
    for (size_t at = 1, end = 0; (end = fields.find(';', at)) != std::string_view::npos; at = end + 1) {
        std::string_view field = fields.substr(at, end - at); // "float eps", " int32_t n_past = 0"
        field = field.substr(std::min(field.find_first_not_of(' '), field.size()));
        field = field.substr(0, field.find(" = "));
        const size_t space = std::min(field.find(' '), field.size() - 1);
        const std::string_view type = field.substr(0, space), name = field.substr(space + 1);
        const auto value = [&](const Params& p) {
            return type == "float"      ? words::number(read_at<float>(p, offset))
                   : type == "uint64_t" ? std::to_string(read_at<uint64_t>(p, offset))
                                        : std::to_string(read_at<int32_t>(p, offset));
        };
        const size_t size = type == "uint64_t" ? sizeof(uint64_t) : sizeof(int32_t);
        if (const std::string of_a = value(a), of_b = value(b); of_a != of_b) {
            text.first += (text.first.empty() ? "" : ", ") + std::string(name) + ' ' + of_a;
            text.second += (text.second.empty() ? "" : ", ") + std::string(name) + ' ' + of_b;
        }
        for (Params* const p : {&rest_a, &rest_b}) {
            std::fill_n(p->begin() + narrow<int32_t>(offset / sizeof(int32_t)), size / sizeof(int32_t), 0);
        }
        offset += size;
    }
    return text.first.empty() || rest_a != rest_b ? std::pair(raw_text(a), raw_text(b)) : text;
}

std::string flags_text(const TensorInfo& t) {
    std::string text = joined(words::flag_names(t.flags), " ");
    if (t.usage == BufferUsage::weights) {
        text += text.empty() ? "weights" : " weights";
    }
    return text.empty() ? "none" : text;
}

class GraphComparison {
public:
    GraphComparison(const PlanPair& plans, Found& found) : plans_(plans), found_(found) {}

    void run() {
        only_in_one();
        for (const auto& [x, y] : plans_.common()) {
            compare(x, y);
        }
    }

private:
    /// A log lists what is computed: neither views nor leafs, and what else nodes read may be either.
    static bool is_listed(const TensorInfo& t) { return t.op && *t.op != Op::NONE && !is_view_op(*t.op); }

    void only_in_one() {
        const auto add = [&](const OwnedGraph& graph, bool of_a) {
            for (TensorId id = 0; id < n_of(graph.tensors); ++id) {
                if ((of_a ? plans_.in_b(id) : plans_.in_a(id)) == no_tensor) {
                    const TensorInfo& t = graph.tensors[id];
                    if (is_left_out(t) || (listed_otherwise_ && !is_listed(t))) {
                        continue;
                    }
                    const DiffValue here = describe_tensor(t), none;
                    TraceDifference& d = plans_.add(found_, What::node, of_a ? id : no_tensor, of_a ? no_tensor : id,
                                                    of_a ? here : none, of_a ? none : here);
                    d.more = {{"op", t.op ? DiffValue{std::string(op_name(t))} : DiffValue{}}};
                }
            }
        };
        add(plans_.a.graph, true);
        add(plans_.b.graph, false);
    }

    void compare(TensorId x, TensorId y) {
        const TensorInfo &a = plans_.a.graph.tensors[x], &b = plans_.b.graph.tensors[y];
        const auto differ = [&](What what, std::string of_a, std::string of_b) -> TraceDifference& {
            return plans_.add(found_, what, x, y, std::move(of_a), std::move(of_b));
        };
        if (a.type && b.type && !same_type(a, b)) {
            differ(What::type, type_text(a), type_text(b));
        }
        if (differ_as_known(a.ne, b.ne) && (plans_.sizes_tell() || a.bytes() == b.bytes())) {
            differ(What::shape, shape_text(a), shape_text(b));
        }
        if (plans_.both_know(Topic::shapes) && same_type(a, b) && a.ne == b.ne) {
            if (differ_as_known(a.nb, b.nb) || a.view_offset != b.view_offset) {
                if (plans_.sizes_tell() || !a.is_view()) { // a view of the last token begins where the number of tokens says
                    differ(What::layout, layout_text(a), layout_text(b));
                }
            } else if (a.params && b.params && with_precision_as_now(a.op, *a.params) != with_precision_as_now(b.op, *b.params)) {
                const auto [of_a, of_b] =
                    parameters_text(a.op, with_precision_as_now(a.op, *a.params), with_precision_as_now(b.op, *b.params));
                differ(What::parameters, of_a, of_b);
            }
        }
        if (plans_.both_know(Topic::buffers) &&
            (a.flags != b.flags || (a.usage == BufferUsage::weights) != (b.usage == BufferUsage::weights))) {
            differ(What::flags, flags_text(a), flags_text(b));
        }
        compare_sources(x, a, y, b);
        if (plans_.both_know(Topic::buffers)) {
            compare_homes(x, a, y, b);
        }
    }

    void compare_sources(TensorId x, const TensorInfo& a, TensorId y, const TensorInfo& b) {
        if (listed_otherwise_) {
            compare_listed_sources(x, a, y, b);
            return;
        }
        for (size_t slot = 0; slot < a.src.size(); ++slot) {
            if (!plans_.same(a.src[slot], b.src[slot])) {
                TraceDifference& d =
                    plans_.add(found_, What::source, x, y, source(plans_.a, a.src[slot]), source(plans_.b, b.src[slot]));
                d.note = "source " + std::to_string(slot);
                d.more = {{"source", static_cast<int64_t>(slot)}};
            }
        }
    }

    /// Of those that are there, in order, where both are something that a log lists.
    void compare_listed_sources(TensorId x, const TensorInfo& a, TensorId y, const TensorInfo& b) {
        if (!is_listed(a) || !is_listed(b)) {
            return;
        }
        const auto there = [](const TensorInfo& t) {
            std::vector<TensorId> sources;
            std::copy_if(t.src.begin(), t.src.end(), std::back_inserter(sources), [](TensorId id) { return id != no_tensor; });
            return sources;
        };
        const std::vector<TensorId> of_a = there(a), of_b = there(b);
        for (size_t slot = 0; slot < std::min(of_a.size(), of_b.size()); ++slot) {
            const bool are_listed =
                is_listed(plans_.a.graph.tensors[of_a[slot]]) && is_listed(plans_.b.graph.tensors[of_b[slot]]);
            if (are_listed && !plans_.same(of_a[slot], of_b[slot])) {
                TraceDifference& d =
                    plans_.add(found_, What::source, x, y, source(plans_.a, of_a[slot]), source(plans_.b, of_b[slot]));
                d.note = "source " + std::to_string(slot);
                d.more = {{"source", static_cast<int64_t>(slot)}};
            }
        }
    }

    void compare_homes(TensorId x, const TensorInfo& a, TensorId y, const TensorInfo& b) {
        const std::string home_a = plans_.a.buffer_type(a.buffer_type), home_b = plans_.b.buffer_type(b.buffer_type);
        if (home_a != home_b &&
            plans_.a.backend(plans_.a.assigned(x).backend) == plans_.b.backend(plans_.b.assigned(y).backend)) {
            plans_.add(found_, What::memory_home, x, y, home_a, home_b);
        }
        const std::string pinned_a = plans_.a.backend(a.user_backend), pinned_b = plans_.b.backend(b.user_backend);
        if (pinned_a != pinned_b) {
            plans_.add(found_, What::pinned, x, y, pinned(a, pinned_a), pinned(b, pinned_b));
        }
    }

    static DiffValue source(const PlanSide& side, TensorId id) {
        return id == no_tensor ? DiffValue{} : DiffValue{side.name(id)};
    }
    static DiffValue pinned(const TensorInfo& t, const std::string& backend) {
        return t.user_backend == no_backend ? DiffValue{} : DiffValue{backend};
    }

    const PlanPair& plans_;
    Found& found_;
    /// They are not listed alike: one is a log's list, or both are and one alone has causes.
    const bool listed_otherwise_ =
        plans_.a.is_list_of_log() != plans_.b.is_list_of_log() ||
        (plans_.a.is_list_of_log() && plans_.b.is_list_of_log() && plans_.a.has_causes() != plans_.b.has_causes());
};

} // namespace

void compare_graphs(const PlanPair& plans, Found& found) { GraphComparison(plans, found).run(); }

} // namespace schedscope::diff
