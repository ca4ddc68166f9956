#include "inspector/tui/input/completion.h"

#include "inspector/manual/manual.h"
#include "inspector/tui/actions/commands.h"
#include "inspector/tui/state/settings.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/ops/params.h"
#include "runtime/system/files.h"
#include "traces/history/words/unknown.h"
#include "traces/replay/what_if.h"
#include "viz/pictures/picture.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace schedscope::tui {
namespace {

constexpr size_t most_candidates = 2000;

bool begins_with(std::string_view text, std::string_view typed) noexcept {
    return same_ignoring_case(text.substr(0, typed.size()), typed);
}

/// Those that begin with what is typed; when none does, those that contain it. In their order, each once.
std::vector<std::string> fitting(const std::vector<std::string>& all, std::string_view typed) {
    std::vector<std::string> some;
    std::set<std::string_view> seen;
    for (const auto& fits : {begins_with, has_ignoring_case}) {
        for (const std::string& candidate : all) {
            if (some.size() < most_candidates && fits(candidate, typed) && seen.insert(candidate).second) {
                some.push_back(candidate);
            }
        }
        if (!some.empty()) {
            break;
        }
    }
    return some;
}

/// As a query takes it: with quotes where need be.
std::string quoted(const std::string& value) {
    return value.find_first_of(" =~<>!|") == std::string::npos ? value : '"' + value + '"';
}

template <class Name> std::vector<std::string> named(size_t from, size_t count, Name&& name) {
    std::vector<std::string> names;
    for (size_t i = from; i < count; ++i) {
        names.emplace_back(name(i));
    }
    return names;
}

/// Files and folders; a folder ends in '/'. What can't be read offers nothing.
Completion files(std::string_view before, size_t begin) {
    namespace fs = std::filesystem;
    const std::string typed(before.substr(begin));
    const size_t slash = typed.rfind('/');
    const std::string folder = slash == std::string::npos ? std::string() : typed.substr(0, slash + 1);
    const std::string start = typed.substr(folder.size());
    Completion completion{begin + folder.size(), {}};
    for (std::string& name : names_in(folder.empty() ? "." : folder)) {
        if (!name.starts_with(start) || (start.empty() && name.starts_with('.')) ||
            completion.candidates.size() == most_candidates) {
            continue;
        }
        std::error_code unknown;
        if (fs::is_directory(folder + name, unknown)) {
            name += '/';
        }
        completion.candidates.push_back(std::move(name));
    }
    std::sort(completion.candidates.begin(), completion.candidates.end());
    return completion;
}

} // namespace

std::vector<std::string> Completions::backends() const {
    return named(0, session_.n_backends(), [&](size_t i) { return session_.backend_name(narrow<BackendId>(i)); });
}

std::vector<std::string> Completions::operators() const {
    std::set<std::string_view> names;
    if (const OwnedGraph* const graph = session_.graph()) {
        for (const TensorId id : graph->nodes) {
            names.insert(operator_name(graph->tensors[id]));
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> Completions::tensors() const {
    std::vector<std::string> names;
    names.reserve(session_.tensors().size());
    for (const TensorId id : session_.tensors()) {
        names.push_back(session_.name(id));
    }
    return names;
}

std::vector<std::string> Completions::unique_tensors() const {
    std::vector<std::string> names;
    names.reserve(session_.tensors().size());
    for (const TensorId id : session_.tensors()) {
        names.push_back(session_.history().unique_name(session_.state(), id));
    }
    return names;
}

std::vector<std::string> Completions::values(Field field) {
    switch (field) {
    case Field::name: return tensors();
    case Field::by: {
        std::vector<std::string> names = values(Field::cause);
        const std::vector<std::string> others = tensors();
        names.insert(names.end(), others.begin(), others.end());
        return names;
    }
    case Field::op: return operators();
    case Field::backend:
    case Field::from: return backends();
    case Field::pass:
    case Field::cause:
    case Field::kind: {
        const query::KnownWords words = session_.known_words();
        const auto known = words.of(field);
        return {known.begin(), known.end()};
    }
    case Field::type: {
        std::set<std::string_view> names;
        if (const OwnedGraph* const graph = session_.graph()) {
            for (const TensorInfo& info : graph->tensors) {
                if (info.type) {
                    names.insert(type_name(info));
                }
            }
        }
        return {names.begin(), names.end()};
    }
    case Field::why: {
        std::vector<std::string> names = named(0, static_cast<size_t>(SplitReason::full) + 1,
                                               [](size_t i) { return split_reason_name(static_cast<SplitReason>(i)); });
        names.emplace_back("yes");
        const auto refusals = named(static_cast<size_t>(Refusal::none) + 1, static_cast<size_t>(Refusal::feature) + 1,
                                    [](size_t i) { return refusal_name(static_cast<Refusal>(i)); });
        names.insert(names.end(), refusals.begin(), refusals.end());
        names.insert(names.end(), {"beyond", "within", "equal", "skipped"}); // of differences
        return names;
    }
    case Field::kernel: {
        std::set<std::string_view> names;
        for (const record::Execute& run : session_.state().executed) {
            names.insert(session_.history().source().text(run.kernel));
        }
        for (const record::Execute& run : session_.history().untimed_kernels(session_.state())) {
            names.insert(session_.history().source().text(run.kernel));
        }
        for (const record::Fusion& fusion : session_.state().fusions) {
            names.insert(session_.history().source().text(fusion.kernel));
        }
        return {names.begin(), names.end()};
    }
    default: return {}; // numbers
    }
}

Completion Completions::query(std::string_view before) {
    // The word that the cursor stands behind: spaces between quotes belong to it.
    size_t begin = 0;
    bool quote = false;
    for (size_t i = 0; i < before.size(); ++i) {
        quote = quote != (before[i] == '"');
        if (before[i] == ' ' && !quote) {
            begin = i + 1;
        }
    }
    const std::string_view word = before.substr(begin);
    const size_t sign = word.find_first_of("=~<>!");
    Completion completion{begin, {}};
    if (sign == std::string_view::npos || word.starts_with('"')) {
        const bool quote_begins = word.starts_with('"');
        const std::string_view bare = word.substr(quote_begins ? 1 : 0);
        std::vector<std::string> all; // what there is to ask about
        for (size_t i = 0; i < query::n_fields; ++i) {
            const auto field = static_cast<Field>(i);
            all.push_back(std::string(field_name(field)) + (is_text(field) ? "=" : ">"));
        }
        completion.candidates = bare.empty() ? all : fitting(quote_begins ? std::vector<std::string>() : all, bare);
        if (!bare.empty()) {
            for (const std::string& name : fitting(tensors(), bare)) {
                completion.candidates.push_back(quoted(name));
            }
        }
        return completion;
    }
    const size_t value = word.find_first_not_of("=~<>!", sign);
    const size_t bar = word.rfind('|');
    size_t from = value == std::string_view::npos ? word.size() : value;
    from = bar == std::string_view::npos || bar < from ? from : bar + 1;
    completion.begin = begin + from;
    std::string_view typed = word.substr(from);
    typed.remove_prefix(typed.starts_with('"') ? 1 : 0);
    if (const Field field = query::field_named(lower(word.substr(0, sign))); field != Field::count) {
        for (const std::string& candidate : fitting(values(field), typed)) {
            completion.candidates.push_back(quoted(candidate));
        }
    }
    return completion;
}

Completion Completions::what_if(std::string_view before) {
    const size_t space = before.rfind(' ');
    const size_t begin = space == std::string_view::npos ? 0 : space + 1;
    const std::string_view word = before.substr(begin);
    std::vector<std::string> all = what_if_beginnings();
    size_t from = 0;
    if (word.starts_with("refuse=") && word.find(':') != std::string_view::npos) {
        from = word.find(':') + 1;
        all = operators();
    } else if (word.starts_with("refuse=")) {
        from = word.find('=') + 1;
        all.clear();
        for (const std::string& backend : backends()) {
            all.push_back(backend + ":");
        }
    } else if (const size_t device = word.find('=', 3); word.starts_with("ot=") && device != std::string_view::npos) {
        from = word.rfind('=') + 1;
        all = backends();
    } else if (word.starts_with("ot=")) {
        return {begin, {}}; // a pattern
    } else if (word.starts_with("device-order=")) {
        const size_t comma = word.rfind(',');
        from = comma == std::string_view::npos ? word.find('=') + 1 : comma + 1;
        all = backends();
    }
    return {begin + from, fitting(all, word.substr(from))};
}

Completion Completions::command(std::string_view before) {
    const size_t begin = std::min(before.find_first_not_of(' '), before.size());
    const size_t end = before.find(' ', begin);
    if (end == std::string_view::npos) {
        std::vector<std::string> all;
        for (const ColonCommand& command : commands()) {
            all.emplace_back(command.name);
        }
        for (const Binding& binding : default_bindings()) {
            all.emplace_back(binding.name);
        }
        return {begin, fitting(all, before.substr(begin))};
    }
    const ColonCommand* const command = command_named(split_command(before).name);
    if (!command || !command->complete) {
        return {};
    }
    const size_t argument = std::min(before.find_first_not_of(' ', end), before.size());
    Completion completion = (this->*command->complete)(before.substr(argument));
    completion.begin += argument;
    return completion;
}

Completion Completions::tensor(std::string_view typed) { return {0, fitting(unique_tensors(), typed)}; }

Completion Completions::pass(std::string_view typed) { return {0, fitting(values(Field::pass), typed)}; }

Completion Completions::view(std::string_view typed) {
    return {0, fitting(named(0, views().size(), [](size_t i) { return views()[i].name; }), typed)};
}

Completion Completions::column(std::string_view typed) {
    return {0, fitting(named(0, columns_.size(), [&](size_t i) { return columns_[i].title; }), typed)};
}

Completion Completions::file(std::string_view typed) { return files(typed, 0); }

Completion Completions::picture(std::string_view typed) {
    if (const size_t space = typed.find(' '); space != std::string_view::npos) {
        return files(typed, space + 1);
    }
    Completion completion = files(typed, 0);
    if (completion.begin == 0) {
        std::vector<std::string> names;
        for (const std::string_view name : picture_view_names()) {
            names.emplace_back(std::string(name) + " ");
        }
        for (std::string& view : fitting(names, typed)) {
            completion.candidates.push_back(std::move(view));
        }
    }
    return completion;
}

Completion Completions::topic(std::string_view typed) {
    std::vector<std::string> names;
    for (const manual::TopicText& topic : manual::topic_texts()) {
        names.emplace_back(topic.name);
    }
    return {0, fitting(names, typed)};
}

Completion Completions::setting(std::string_view typed) {
    const size_t space = typed.find(' ');
    if (space == std::string_view::npos) {
        std::vector<std::string> names;
        for (const SettingEntry& setting : all_settings()) {
            names.emplace_back(std::string(setting.name) + " ");
        }
        return {0, fitting(names, typed)};
    }
    size_t from = space + 1;
    if (const size_t second = typed.find(' ', from); second != std::string_view::npos) { // "key K ACTION"
        from = second + 1;
    } else if (typed.substr(0, space) == "key") {
        return {};
    }
    return {from, fitting(setting_values(typed.substr(0, space)), typed.substr(from))};
}

} // namespace schedscope::tui
