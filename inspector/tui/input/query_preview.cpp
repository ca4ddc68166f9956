#include "inspector/tui/input/query_preview.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"

#include <functional>
#include <utility>

namespace schedscope::tui {
namespace {

/// A query whose last word is still being typed, as far as it is one: the beginning of a field's name is not yet a name to look
/// for, and that of a value is what the value begins with.
std::string as_far_as_typed(const std::string& text) {
    const size_t space = text.rfind(' ');
    const size_t begin = space == std::string::npos ? 0 : space + 1;
    const std::string_view word = std::string_view(text).substr(begin);
    const size_t sign = word.find_first_of("=~<>!");
    if (text.find('"') != std::string::npos || word.empty()) {
        return text;
    }
    if (sign != std::string_view::npos) {
        const bool equals = word[sign] == '=';
        return sign + 1 == word.size() ? text.substr(0, begin)
               : equals                ? text.substr(0, begin + sign) + '~' + text.substr(begin + sign + 1)
                                       : text;
    }
    const auto begins = [&](const query::FieldEntry& field) { return field.name.starts_with(word); };
    return std::any_of(query::fields.begin(), query::fields.end(), begins) ? text.substr(0, begin) : text;
}

/// What a query comes to. `shows`: some line.
struct PreviewOutcome {
    bool shows = false;
    std::string note;
};

/// Of the whole text, if that shows something; else as far as it is typed, if that does. A text that is no query yet leaves what
/// is shown, with what is missing beside it.
std::string outcome_of(const InspectorSession& session, const std::string& text,
                       const std::function<PreviewOutcome(Query, bool whole)>& show) {
    const auto outcome = [&](const std::string& typed) -> PreviewOutcome {
        try {
            return show(session.query(typed), typed == text);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::usage) {
                throw;
            }
            return {false, error.what()};
        }
    };
    const PreviewOutcome whole = outcome(text);
    const std::string typed = as_far_as_typed(text);
    if (whole.shows || typed == text) {
        return whole.note;
    }
    const PreviewOutcome so_far = outcome(typed);
    return so_far.shows ? so_far.note : outcome(text).note;
}

} // namespace

std::string QueryPreview::filter(const std::string& text) {
    return outcome_of(session_, text, [&](Query query, bool whole) {
        list_.set_filter(std::move(query));
        list_.update();
        return PreviewOutcome{list_.n_lines() > 0, words::count(list_.n_lines()) + " of " + counted(list_.n_rows(), "line") +
                                                       (whole ? "" : " so far")};
    });
}

std::string QueryPreview::search(const std::string& text) {
    list_.update();
    list_.stand_at(before_->lines);
    const std::string note = outcome_of(session_, text, [&](Query query, bool whole) {
        list_.set_search(std::move(query));
        const int line = list_.search().empty() ? list_.lines().selected() : list_.find(list_.lines().selected(), true);
        if (line >= 0) {
            list_.stand_at(line);
        }
        return PreviewOutcome{line >= 0, line < 0 ? "no line matches" : whole ? "" : "so far"};
    });
    if (list_.search().empty()) {
        list_.set_search(before_->search);
    }
    return note;
}

void QueryPreview::end() {
    if (before_) {
        list_.restore(*std::exchange(before_, std::nullopt));
    }
}

} // namespace schedscope::tui
