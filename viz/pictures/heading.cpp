#include "viz/pictures/heading.h"

#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/words/verdict_words.h"
#include "traces/history/words/words.h"
#include "viz/pictures/markup.h"
#include "viz/pictures/subject.h"

#include <algorithm>

namespace schedscope {

namespace {

std::string row(const std::string& left, const std::string& right) {
    return "<tr>" + left + "<td align=\"left\">" + right + "</td></tr>";
}

std::string chip(const BackendStyle& style, bool dashed) {
    return "<td width=\"34\" border=\"1\" color=\"" + std::string(style.line) + "\" bgcolor=\"" + std::string(style.fill) + "\"" +
           (dashed ? " style=\"dashed\"" : "") + ">" + bold(style.letter) + "</td>";
}

/// The kind of a backend, where its name does not say it already.
std::string kind_beside_name(const BackendInfo& backend) {
    return backend.kind && !same_ignoring_case(*backend.kind, backend.name) ? *backend.kind : "";
}

} // namespace

std::string copies_in_words(const Subject& subject) {
    const PlanState& state = subject.state;
    int64_t n = 0;
    for (const SplitState& split : state.splits) {
        n += n_of(split.inputs);
    }
    const SizeSum size = accounts::RecordedSizes(subject.session, &subject.graph).of_inputs(state);
    const std::optional<int64_t> moved = accounts::moved_bytes(state);
    return words::counted_of(n, "copy", size) +
           (moved && size.is_exact() && *moved != size.bytes ? ", of which " + words::bytes(*moved) + " were moved" : "");
}

std::vector<int64_t> nodes_per_backend(const Subject& subject) {
    std::vector<int64_t> n(subject.session.backends.size() + 1, 0);
    for (const TensorId node : subject.state.order) {
        const BackendId backend = subject.backend_of(node);
        ++n[backend >= 0 && static_cast<size_t>(backend) + 1 < n.size() ? backend : n.size() - 1];
    }
    return n;
}

std::vector<std::string> node_shares(const Subject& subject) {
    std::vector<std::string> shares;
    for (const int64_t n : nodes_per_backend(subject)) {
        shares.push_back(words::counted(n, "node"));
    }
    return shares;
}

std::string heading_markup(const Subject& subject, const std::string& totals, const std::vector<std::string>& shares,
                           const std::vector<LegendSign>& signs) {
    if (!subject.heading) {
        return "";
    }
    const auto line = [](const std::string& markup) { return row("<td></td>", markup); };
    std::string table = "<table border=\"0\" cellborder=\"0\" cellspacing=\"3\" cellpadding=\"2\">";
    const std::string title = subject.title();
    if (!title.empty()) {
        table += line(sized(bold(clipped(title, 100)), 15));
    }
    table += line(html_label(totals));
    table += line(sized(html_label(subject.moment), 10, LabelInk::grey));
    if (!subject.state.error.empty()) {
        table += line("<font color=\"#a00000\">" + bold("no plan: " + clipped(subject.state.error, 160)) + "</font>");
    }
    if (!subject.state.verdicts.empty()) {
        const record::Verdict& verdict = subject.state.verdicts.back();
        const std::string text = clipped(verdict_line(verdict, subject.text(verdict.first)), 160);
        table += line(sized(html_label(text), 10, LabelInk::grey));
    }
    const auto& backends = subject.session.backends;
    for (size_t b = 0; b < backends.size(); ++b) {
        const BackendInfo& backend = backends[b];
        std::string what = !backend.description.empty() ? backend.description : kind_beside_name(backend);
        if (backend.memory_bytes) {
            what += (what.empty() ? "" : ", ") + words::bytes(*backend.memory_bytes);
        }
        std::string text = bold(backend.name, gap);
        if (b < shares.size()) {
            text += html_label(shares[b]) + gap;
        }
        if (!what.empty()) {
            text += sized(html_label("(" + clipped(what, 80) + ")"), 10, LabelInk::grey);
        }
        table += row(chip(subject.palette[narrow<BackendId>(b)], false), text);
    }
    const bool has_share = shares.size() > backends.size();
    const bool may_be_unknown = !subject.all_assigned_known();
    if (may_be_unknown || (has_share && (subject.frame.has_unassigned || nodes_per_backend(subject).back() > 0))) {
        table += row(chip(subject.palette[no_backend], true),
                     bold(subject.backend_name(no_backend), gap) + (has_share ? html_label(shares.back()) + gap : "") +
                         (may_be_unknown ? sized("(not in this trace)", 10, LabelInk::grey) : ""));
    }
    for (const LegendSign& sign : signs) {
        table += row("<td>" + html_label(sign.sign) + "</td>", sized(html_label(sign.meaning), 10, LabelInk::grey));
    }
    if (subject.frame.heading_width > 0) { // an empty row as wide as wanted
        table += "<tr><td></td><td width=\"" + std::to_string(subject.frame.heading_width) + "\"></td></tr>";
    }
    return table + "</table>";
}

} // namespace schedscope
