// A search or a filter shows what it will do while it is typed; Esc leaves the list as it was.
#include "inspector/tui/app.h"

#include "inspector/tui/text.h"
#include "runtime/error.h"

namespace schedscope::tui {
namespace {

/// A query whose last word is still being typed, as far as it is one: the beginning of a field's name is not yet a name to look for, and that of a value is what
/// the value begins with.
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
    for (size_t field = 0; field < query::n_fields; ++field) {
        if (query::field_name(static_cast<Field>(field)).starts_with(word)) {
            return text.substr(0, begin);
        }
    }
    return text;
}

} // namespace

void App::ask_filter() {
    ask(
        "show only ", filter_.text(), filters_, [this](const std::string& text) { set_filter(text); }, query_completer());
    before_preview_ = BeforePreview{filter_, search_, list_};
    prompt_preview_ = [this](const std::string& text) { preview_filter(text); };
}

void App::ask_search() {
    ask(
        "/", "", searches_, [this](const std::string& text) { search_for(text); }, query_completer());
    before_preview_ = BeforePreview{filter_, search_, list_};
    prompt_preview_ = [this](const std::string& text) { preview_search(text); };
}

/// False: the text is no query yet. What is shown stays then, with what is missing beside it.
bool App::parse_preview(Query& query, const std::string& text) {
    try {
        query = Query::parse(text);
        return true;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) {
            throw;
        }
        prompt_note_ = error.what();
        return false;
    }
}

void App::preview_filter(const std::string& text) {
    const auto shows_lines = [&](const std::string& query) {
        if (!parse_preview(filter_, query)) {
            return false;
        }
        updated_ = 0;
        update();
        prompt_note_ = grouped(n_shown()) + " of " + counted(view_->n_rows(), "line") + (query == text ? "" : " so far");
        return n_shown() > 0;
    };
    const std::string typed = as_far_as_typed(text);
    if (!shows_lines(text) && (typed == text || !shows_lines(typed))) {
        shows_lines(text);
    }
}

/// The list goes to the first line that matches; the selection stays until the search is accepted.
void App::preview_search(const std::string& text) {
    update();
    list_ = before_preview_->list;
    list_.resize(n_shown(), layout_.list.height);
    const auto finds = [&](const std::string& query) {
        if (!parse_preview(search_, query)) {
            return false;
        }
        const int shown = search_.empty() ? list_.selected() : match_from(list_.selected(), true);
        prompt_note_ = shown < 0 ? "no line matches" : query == text ? "" : "so far";
        return shown >= 0 && (list_.select(shown), true);
    };
    if (const std::string typed = as_far_as_typed(text); !finds(text) && (typed == text || !finds(typed))) {
        finds(text);
    }
    if (search_.empty()) {
        search_ = before_preview_->search;
    }
}

void App::end_preview() {
    prompt_preview_ = {};
    if (!before_preview_) {
        return;
    }
    const BeforePreview before = *std::exchange(before_preview_, std::nullopt);
    filter_ = before.filter;
    search_ = before.search;
    updated_ = 0;
    update();
    list_ = before.list;
    list_.resize(n_shown(), layout_.list.height);
}

/// The first line of the list that the search finds, from one on and once around; −1: none.
int App::match_from(int shown, bool forward) {
    const int n = n_shown();
    Facts facts(search_);
    for (int i = 0; i < n; ++i) {
        const int at = (shown + (forward ? i : n - i)) % n;
        view_->facts(session_, narrowed_ ? shown_[static_cast<size_t>(at)] : at, facts);
        if (search_.matches(facts)) {
            return at;
        }
    }
    return -1;
}

} // namespace schedscope::tui
