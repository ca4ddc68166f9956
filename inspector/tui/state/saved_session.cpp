#include "inspector/tui/state/saved_session.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace schedscope::tui {
namespace {

constexpr std::string_view heading = "schedscope-session 1";
constexpr std::array<std::string_view, 4> typed_names{"typed-filter", "typed-search", "typed-break", "typed-command"};
constexpr size_t longest_history = 50;

template <class Number> bool take(std::string_view& text, Number& number) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(result.ptr - text.data());
    return result.ec == std::errc() && (text.empty() || text.front() == ' ');
}

bool take_place(std::string_view text, Step n_steps, TrailPlace& place) {
    TrailPlace read;
    int number = 0;
    if (!take(text, read.step) || !take(text, read.tensor) || !take(text, number) || !text.empty() || read.step < 0 ||
        read.step >= n_steps || read.tensor < no_tensor) {
        return false;
    }
    const ViewEntry* const view = view_numbered(number);
    if (!view) {
        return false;
    }
    read.view = view->id;
    place = read;
    return true;
}

std::string place_text(const TrailPlace& place) {
    return std::to_string(place.step) + " " + std::to_string(place.tensor) + " " + std::to_string(entry_of(place.view).number());
}

/// An item is a line: what would break it is left out.
void add(std::string& out, std::string_view name, const std::string& value) {
    if (!value.empty() && value.find('\n') == std::string::npos) {
        out.append(name).append(" ").append(value).append("\n");
    }
}

} // namespace

std::string SavedSession::text() const {
    std::string out(heading);
    out += "\n";
    add(out, "trace", trace);
    add(out, "steps", std::to_string(n_steps));
    if (place.step >= 0) {
        add(out, "place", place_text(place));
    }
    add(out, "filter", filter);
    add(out, "search", search);
    for (const SavedBreakpoint& b : breakpoints) {
        add(out, b.enabled ? "break" : "break-off", b.query);
    }
    for (const auto& [letter, at] : marks) {
        add(out, "mark", std::string(1, letter) + " " + place_text(at));
    }
    for (size_t i = 0; i < typed.size(); ++i) {
        const auto& lines = typed[i];
        for (size_t j = lines.size() - std::min(lines.size(), longest_history); j < lines.size(); ++j) {
            add(out, typed_names[i], lines[j]);
        }
    }
    return out;
}

bool SavedSession::parse(std::string_view text, std::string_view trace, Step n_steps, SavedSession& session, std::string& note) {
    if (!text.starts_with(heading) || text.substr(heading.size(), 1) != "\n") {
        note = "what was kept of this trace can't be read: it starts over";
        return false;
    }
    text.remove_prefix(heading.size() + 1);
    SavedSession read;
    int n_odd = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const size_t space = std::min(line.find(' '), line.size());
        const std::string_view name = line.substr(0, space);
        std::string_view value = line.substr(std::min(space + 1, line.size()));
        const auto typed = std::find(typed_names.begin(), typed_names.end(), name);
        bool understood = !value.empty();
        if (name == "trace") {
            read.trace = value;
        } else if (name == "steps") {
            understood = take(value, read.n_steps);
        } else if (name == "place") {
            understood = take_place(value, n_steps, read.place);
        } else if (name == "filter") {
            read.filter = value;
        } else if (name == "search") {
            read.search = value;
        } else if (name == "break" || name == "break-off") {
            read.breakpoints.push_back({std::string(value), name == "break"});
        } else if (name == "mark") {
            TrailPlace place;
            understood = value.size() > 2 && value[0] >= 'a' && value[0] <= 'z' && take_place(value.substr(1), n_steps, place);
            if (understood) {
                read.marks[value[0]] = place;
            }
        } else if (typed != typed_names.end()) {
            read.typed[typed - typed_names.begin()].emplace_back(value);
        } else {
            understood = false;
        }
        n_odd += understood ? 0 : 1;
    }
    if (read.trace != trace || read.n_steps != n_steps) {
        note = "the trace is another than the one that was looked at: it starts over";
        return false;
    }
    if (n_odd > 0) {
        note = "some of what was kept of this trace can't be read";
    }
    session = std::move(read);
    return true;
}

} // namespace schedscope::tui
