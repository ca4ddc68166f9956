#include "traces/history/words/words.h"

#include "runtime/planner/rules.h"
#include "runtime/system/joined.h"
#include "traces/format/schedscope_stream.h"
#include "traces/history/words/unknown.h"

namespace schedscope::words {

std::string pass(Pass pass) {
    const std::string name(pass_name(pass)), title(pass_title(pass));
    return name == title ? name : "pass " + name + " (" + title + ")";
}

std::string pass_and_title(Pass pass) {
    const std::string name(pass_name(pass)), title(pass_title(pass));
    return name == title ? name : name + " " + title;
}

std::string evaluations(EvaluationId n) { return "0…" + count(n - 1); }

std::string evaluation_of(EvaluationId id, EvaluationId n) { return count(id) + " (" + evaluations(n) + ")"; }

std::string model_of(const SessionInfo& session) {
    const std::string file = session_fact(session, "model");
    return file.empty() ? session_fact(session, "name") : file;
}

std::string fact(const std::pair<std::string, std::string>& named) {
    const std::optional<BuildSpan> builds = named.first == SSCP_FACT_BUILDS ? read_builds(named.second) : std::nullopt;
    if (named.first.starts_with(SSCP_FACT_OLDER_BUFFERS)) {
        return "made before the recording began: they may be larger than is recorded";
    }
    return builds ? text_of(*builds) : named.second;
}

std::string value(const record::Value& v) {
    std::string text;
    if (v.n_elements == v.n_nan + v.n_inf) {
        text = v.n_elements == 0 ? "no elements" : "no finite element";
    } else {
        text = "from " + number(v.min) + " to " + number(v.max) + ", mean " + number(v.mean) + ", norm " + number(v.norm);
    }
    if (v.n_nan != 0 || v.n_inf != 0) {
        text += ", " + count(v.n_nan) + " NaN and " + count(v.n_inf) + " infinite";
    }
    return v.n_elements == 0 ? text : text + " of " + counted(v.n_elements, "element");
}

std::string graph(const record::EvaluationBegin& begin, int64_t n_nodes, int64_t n_splits) {
    const int64_t n_tokens = begin.n_tokens.value_or(0);
    const std::string size = n_tokens > 0   ? counted(n_tokens, "token")
                             : n_nodes > 0  ? counted(n_nodes, "node")
                             : n_splits > 0 ? counted(n_splits, "split")
                                            : "";
    const std::string kind = begin.kind ? std::string(kind_text(begin.kind)) : "graph";
    return size.empty() ? kind : kind + (begin.kind ? ", " : " of ") + size;
}

std::string reserved_for(int32_t n_tokens) {
    return std::string(graph_kind_name(n_tokens > 1 ? GraphKind::prefill : GraphKind::decode)) + " of " +
           counted(n_tokens, "token");
}

std::string bytes(const SizeSum& sum) {
    const bool is_about = sum.complete && sum.rounding > 0;
    return is_about                         ? "about " + rounded(sum.bytes, sum.rounding)
           : sum.complete && sum.slack == 0 ? bytes(sum.bytes)
           : sum.bytes > 0                  ? "at least " + bytes(sum.bytes)
                                            : unknown_text;
}

std::string nodes_from_to(int64_t first, int64_t last) {
    return first == last ? "node " + std::to_string(first) : "nodes " + std::to_string(first) + " to " + std::to_string(last);
}

std::string not_in_log(int64_t n_left_out) {
    return n_left_out > 0 ? " (" + count(n_left_out) + " of them not in the log)" : std::string();
}

std::string counted_of(int64_t n, std::string_view noun, const SizeSum& sum) {
    if (n == 0) {
        return "no " + counted(0, noun).substr(2); // the plural
    }
    const bool none_known = !sum.complete && sum.bytes <= 0;
    return counted(n, noun) + " of " + (none_known ? "unknown size" : bytes(sum));
}

std::string refusal(Refusal reason, std::string_view detail, std::string_view between) {
    std::string text(refusal_name(reason));
    text += text.empty() || detail.empty() ? std::string_view() : between;
    return text += detail;
}

bool lacks_option(std::string_view options) noexcept { return options.starts_with("no -"); }

std::string with_options(std::string_view options) {
    return lacks_option(options) ? joined({"without ", options.substr(3)}) : joined({"with ", options});
}

std::vector<std::string_view> flag_names(uint8_t flags) {
    std::vector<std::string_view> names;
    for (const auto& [flag, name] :
         {std::pair{flag_input, "input"}, {flag_output, "output"}, {flag_param, "param"}, {flag_loss, "loss"}}) {
        if ((flags & flag) != 0) {
            names.emplace_back(name);
        }
    }
    return names;
}

std::string asked(Question question, std::string_view memory, bool yes, std::string_view why) {
    std::string text;
    switch (question) {
    case Question::op: text = "runs this operator?"; break;
    case Question::buffer_type: text = "can use " + std::string(memory) + " memory?"; break;
    case Question::offload: text = "wants to take it over?"; break;
    }
    text += yes ? " yes" : " no";
    const bool says_no_more = question == Question::buffer_type && why.starts_with(refusal_name(Refusal::memory));
    return why.empty() || says_no_more ? text : text + ": " + std::string(why);
}

std::string split_begins(const record::SplitBegin& begin, std::string_view node, std::string_view by) {
    if (!begin.backend || !begin.why) {
        return begin.backend ? "why it begins is not known" : "where it runs is not known";
    }
    const std::string where(node.empty() ? "it" : node);
    switch (*begin.why) {
    case SplitReason::first: return "first split";
    case SplitReason::backend: return node.empty() ? "backend changes" : "backend changes at " + where;
    case SplitReason::weight: return where + " needs weight " + std::string(by) + " of another backend";
    case SplitReason::full: return "inputs are full: " + where + " needs " + std::string(by) + " too";
    }
    return "";
}

} // namespace schedscope::words
